package world

import (
	"fmt"
	"slices"
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
)

// Env is the environment of a core: unanswered requests, and the state of devices and of
// the user's voice. It knows the core only by its effects, and drops requests that the
// core has given up.
//
// It is a value: a copy shares nothing with the original.
type Env struct {
	Now  time.Duration
	Seq  uint64
	Next uint64 // the last id of an utterance, a text or a call

	Posts   Queue[csm.Kind] // the core's own events
	Owed    Queue[Item]     // in the order of the requests
	Parts   [numParts]Part
	Lost    csm.SuspendReason // the lost devices
	Playing bool              // playback was started
	Paused  bool              // the player is paused and does not report buffered audio
	Hearing bool              // the microphone delivers audio

	// The epoch of the connection that hears the user, 0 for none.
	Epoch     uint32
	Successor uint32 // the epoch of the successor connection, once it is ready
	Open      uint64 // the open utterance
	Silent    bool   // the voice is pausing
	Pending   Queue[uint64]

	Asking uint64 // the tool call that the user is asked about
	Said   uint8  // number of pieces of the live request's answer
}

// Queue is a short list with value semantics.
type Queue[T comparable] struct {
	N  uint8
	At [maxQueue]T
}

const maxQueue = 10

// All returns the elements, as a slice of q.
func (q *Queue[T]) All() []T { return q.At[:q.N] }

// ErrFull is that more happens at once than an environment has room for.
var ErrFull = fmt.Errorf("more than %d at once; the limits of the world are too wide", maxQueue)

// Add appends v, if there is room.
func (q *Queue[T]) Add(v T) error {
	if int(q.N) == len(q.At) {
		return ErrFull
	}
	q.At[q.N] = v
	q.N++
	return nil
}

// Keep drops the elements that do not pass.
func (q *Queue[T]) Keep(pass func(T) bool) {
	var zero T
	kept := slices.DeleteFunc(q.All(), func(v T) bool { return !pass(v) })
	for i := len(kept); i < int(q.N); i++ {
		q.At[i] = zero
	}
	q.N = uint8(len(kept))
}

// drop removes the element at i.
func (q *Queue[T]) drop(i int) {
	j := 0
	q.Keep(func(T) bool { j++; return j != i+1 })
}

// Item is a request that the environment owes an answer to.
type Item struct {
	Rule      uint8
	Stage     uint8
	Count     uint8
	Cancelled bool
	Gen       uint32 // generation or round
	ID        uint64
}

// Part is a resource, as seen by the environment.
type Part uint8

const (
	closed Part = iota
	opening
	opened
	closing
)

// The resources.
const (
	sessionPart = iota
	audioPart
	connPart
	numParts
)

// Take updates the environment with the effects of a step that led to s. The error names
// an effect that violates the handlers' contract.
func (w *Env) Take(s *csm.State, fx []csm.Effect) (wrong error) {
	for _, f := range fx {
		if err := w.take(s, f); err != nil && wrong == nil {
			wrong = fmt.Errorf("%s: %w", csm.NameOf(f), err)
		}
	}
	w.forget(s)
	if wrong == nil && w.Paused && s.Speech.String() == "buffering" {
		return fmt.Errorf("invariant 8: the core waits for audio, but the paused player will not report any")
	}
	return wrong
}

func (w *Env) take(s *csm.State, f csm.Effect) error {
	if err := w.notice(s, f); err != nil {
		return err
	}
	i, ok := ruleOf[csm.NameOf(f)]
	if !ok {
		return nil
	}
	it := rules[i].open(f)
	it.Rule = i
	if slices.ContainsFunc(w.Owed.All(), func(o Item) bool { return o.Rule == i && o.ID == it.ID && o.Gen == it.Gen }) {
		return fmt.Errorf("invariant 2: requested again before it was answered")
	}
	if sup := rules[i].supersedes; sup != nil && sup(f) {
		w.Owed.Keep(func(o Item) bool { return rules[o.Rule].target != rules[i].target })
	}
	return w.Owed.Add(it)
}

// forget drops requests that are over for the core: their instance, generation or request
// was superseded or has ended.
func (w *Env) forget(s *csm.State) {
	resting := s.Phase() == csm.PhaseIdle && !s.Needs(csm.TimerStart)
	w.Owed.Keep(func(it Item) bool {
		over := rules[it.Rule].over
		return !resting && (over == nil || !over(s, it))
	})
	if resting {
		w.Parts, w.Lost, w.Hearing = [numParts]Part{}, 0, false
	}
	if !s.Needs(csm.TimerUtterance) {
		w.Open, w.Silent = 0, false
	}
	if !s.Needs(csm.TimerFinal) {
		w.Pending = Queue[uint64]{}
	}
}

// notice applies the immediate consequences of an effect.
func (w *Env) notice(s *csm.State, f csm.Effect) error {
	switch f := f.(type) {
	case csm.Post:
		return w.Posts.Add(f.Event)
	case csm.ActivateSession:
		return w.begin(sessionPart)
	case csm.DeactivateSession:
		return w.end(sessionPart)
	case csm.OpenAudio:
		return w.begin(audioPart)
	case csm.CloseAudio:
		w.Lost, w.Hearing = 0, false
		return w.end(audioPart)
	case csm.OpenConnection:
		if !f.Successor {
			w.Parts[connPart] = opening
			w.hangUp() // the new one has not heard anything yet
		} else if w.Epoch == 0 {
			return fmt.Errorf("a successor was requested without an open connection")
		}
		return ofInstance(s, f.Instance)
	case csm.CloseConnection:
		switch f.Epoch {
		case 0:
			w.hangUp()
			return w.end(connPart)
		case w.Epoch:
			w.Epoch, w.Successor = w.Successor, 0
		case w.Successor:
			w.Successor = 0
		default: // cancel one that is being dialled
			if !w.owes("OpenConnection", uint64(f.Epoch)) {
				return fmt.Errorf("invariant 9: connection %d is not open", f.Epoch)
			}
		}
		return ofInstance(s, f.Instance)
	case csm.StartCapture:
		if w.Parts[audioPart] != opened {
			return fmt.Errorf("the devices are not open")
		}
		return ofInstance(s, f.Instance)
	case csm.PublishTool:
		if w.Asking = 0; f.Status == csm.ToolPending {
			w.Asking = f.ToolCall
		}
	case csm.CommitInput:
		w.ends(w.Open)
	case csm.ClearInput:
		w.Open, w.Silent = 0, false
	case csm.StartPlayback:
		w.Playing = true
	case csm.PausePlayback: // a pending report cannot be recalled
		w.Paused = true
	case csm.ResumePlayback:
		w.Paused = false
	case csm.Flush:
		w.Paused, w.Playing = false, false
	case csm.SendCopilot:
		if f.Round == 0 {
			w.Said = 0
		}
	default:
		if asked, id, ok := cancels(f); ok {
			return w.cancel(asked, id)
		}
	}
	return nil
}

// hangUp ends every connection, with its open utterance.
func (w *Env) hangUp() {
	w.Epoch, w.Successor, w.Open, w.Silent, w.Pending = 0, 0, 0, false, Queue[uint64]{}
}

// begin and end check that each resource is opened and closed once.
func (w *Env) begin(p int) error {
	if w.Parts[p] == opening || w.Parts[p] == opened {
		return fmt.Errorf("already open")
	}
	w.Parts[p] = opening
	return nil
}

func (w *Env) end(p int) error {
	if w.Parts[p] != opening && w.Parts[p] != opened {
		return fmt.Errorf("invariant 9: not open")
	}
	w.Parts[p] = closing
	return nil
}

func ofInstance(s *csm.State, instance uint32) error {
	if instance != s.Instance {
		return fmt.Errorf("invariant 9: effect of instance %d, but %d is live", instance, s.Instance)
	}
	return nil
}

// cancels returns what an effect cancels: the requesting effect and its id.
func cancels(f csm.Effect) (asked string, id uint64, ok bool) {
	switch f := f.(type) {
	case csm.CancelCopilot:
		return "SendCopilot", f.Request, true
	case csm.CancelSearch:
		return "SearchTools", f.Request, true
	case csm.CancelTool:
		return "CallTool", f.ToolCall, true
	case csm.CancelSummary:
		return "Summarise", uint64(f.Job), true
	default:
		return "", 0, false
	}
}

func (w *Env) owes(effect string, id uint64) bool {
	return slices.ContainsFunc(w.Owed.All(), func(it Item) bool { return rules[it.Rule].effect == effect && it.ID == id })
}

func (w *Env) cancel(asked string, id uint64) error {
	for i, it := range w.Owed.All() {
		if it.Rule == ruleOf[asked] && it.ID == id {
			if it.Cancelled {
				return fmt.Errorf("cancelled twice")
			}
			w.Owed.At[i].Cancelled = true
			return nil
		}
	}
	return fmt.Errorf("cancels a request that is not in progress")
}

// see updates the environment with an event.
func (w *Env) see(e csm.Event) {
	switch e := e.(type) {
	case csm.SessionReady:
		w.Parts[sessionPart] = opened
	case csm.SessionClosed:
		w.Parts[sessionPart] = closed
	case csm.AudioPrimed:
		w.Parts[audioPart] = opened
	case csm.AudioReady:
		w.Hearing = true
	case csm.AudioClosed:
		w.Parts[audioPart] = closed
	case csm.AudioLost:
		w.Lost |= e.Device.Reasons()
	case csm.AudioRestored:
		w.Lost &^= e.Device.Reasons()
	case csm.ConnReady:
		if w.Epoch != 0 {
			w.Successor = e.Epoch
			return
		}
		w.Parts[connPart], w.Epoch = opened, e.Epoch
	case csm.ConnLost:
		if e.Epoch == w.Successor {
			w.Successor = 0
			return
		}
		w.hangUp()
	case csm.ConnClosed:
		if e.Epoch == 0 {
			w.Parts[connPart] = closed
		}
	case csm.SpeechStarted:
		w.Next, w.Open = max(w.Next, e.Utterance), e.Utterance
	case csm.SpeechPaused:
		w.Silent = true
	case csm.SpeechResumed:
		w.Silent = false
	case csm.SpeechStopped:
		w.ends(e.Utterance)
	case csm.Final:
		w.understood(e.Utterance)
	case csm.RecognitionLost:
		w.understood(e.Utterance)
	case csm.UserText:
		w.Next = max(w.Next, e.Utterance)
	case csm.UserSpeak:
		w.Next = max(w.Next, e.Ref)
	case csm.UserRetry:
		w.Next = max(w.Next, e.ToolCall)
	case csm.CopilotSegment:
		w.Said++
	case csm.CopilotToolCall:
		w.Next = max(w.Next, e.ToolCall)
	case csm.SpeechDrained:
		w.Playing = false
	default: // no other move depends on these
	}
}

// ends closes the open utterance, whose words are then awaited.
func (w *Env) ends(u uint64) {
	if w.Open != 0 && w.Open == u {
		_ = w.Pending.Add(u) // invented utterances may exceed the limit
		w.Open, w.Silent = 0, false
	}
}

// understood ends the wait for an utterance's words. A service may end and answer it in
// one message.
func (w *Env) understood(u uint64) {
	if w.Open == u {
		w.Open, w.Silent = 0, false
	}
	w.Pending.Keep(func(p uint64) bool { return p != u })
}
