package world

import (
	"fmt"
	"slices"
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
)

// Env is the world around a core: the requests that are not answered, and the
// state of devices and of the user's voice. It knows the core by its effects
// alone, and drops requests that the core has given up.
//
// It is a value: a copy shares nothing with the original.
type Env struct {
	Now  time.Duration
	Seq  uint64
	Next uint64 // the last id given to an utterance, a text or a call

	Posts   Queue[csm.Kind] // what the core asked for itself
	Owed    Queue[Item]     // in the order it was asked for
	Parts   [numParts]Part
	Lost    bool // a device is gone
	Playing bool // buffered audio is let play
	Paused  bool // the player was told to pause, and does not report buffered audio
	Hearing bool // the microphone delivers

	// The epoch of the connection that the user's voice is heard on, 0 without one.
	Epoch     uint32
	Successor uint32 // the epoch of the connection that is to follow, once it is ready
	Open      uint64 // the utterance that is being spoken
	Silent    bool   // the voice pauses
	Pending   Queue[uint64]

	Asking uint64 // the call of a tool that the user is asked about
	Said   uint8  // pieces of the live request's answer
}

// Queue is a short list by value.
type Queue[T comparable] struct {
	N  uint8
	At [maxQueue]T
}

const maxQueue = 10

// All are its elements, as a part of q.
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

// Item is one thing that the environment owes an answer to.
type Item struct {
	Rule      uint8
	Stage     uint8
	Count     uint8
	Cancelled bool
	Gen       uint32 // or the round
	ID        uint64
}

// Part is a resource as the environment sees it.
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

// Take brings the environment up to date with the effects of a step that led to
// s. The error says which effect the handlers' contract forbids.
func (w *Env) Take(s *csm.State, fx []csm.Effect) (wrong error) {
	for _, f := range fx {
		if err := w.take(s, f); err != nil && wrong == nil {
			wrong = fmt.Errorf("%s: %w", csm.NameOf(f), err)
		}
	}
	w.forget(s)
	if wrong == nil && w.Paused && s.Speech.String() == "buffering" {
		return fmt.Errorf("invariant 8: audio is waited for, and the player is paused and announces none")
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
		return fmt.Errorf("invariant 2: it is asked for again before it was answered")
	}
	if sup := rules[i].supersedes; sup != nil && sup(f) {
		w.Owed.Keep(func(o Item) bool { return rules[o.Rule].target != rules[i].target })
	}
	return w.Owed.Add(it)
}

// forget drops what is over for the core for good: its instance, generation or
// request has been followed by another, or has ended.
func (w *Env) forget(s *csm.State) {
	resting := s.Phase() == csm.PhaseIdle && !s.Needs(csm.TimerStart)
	w.Owed.Keep(func(it Item) bool {
		over := rules[it.Rule].over
		return !resting && (over == nil || !over(s, it))
	})
	if resting {
		w.Parts, w.Lost, w.Hearing = [numParts]Part{}, false, false
	}
	if !s.Needs(csm.TimerUtterance) {
		w.Open, w.Silent = 0, false
	}
	if !s.Needs(csm.TimerFinal) {
		w.Pending = Queue[uint64]{}
	}
}

// notice is what the environment does at once about an effect.
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
		w.Lost, w.Hearing = false, false
		return w.end(audioPart)
	case csm.OpenConnection:
		if !f.Successor {
			w.Parts[connPart] = opening
			w.hangUp() // the new one has heard nothing yet
		} else if w.Epoch == 0 {
			return fmt.Errorf("it is to follow a connection that is not open")
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
		default: // one that is being dialled is given up
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
	case csm.PausePlayback: // a report that is on its way is not called back
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

// hangUp ends every connection, with what is being said on it.
func (w *Env) hangUp() {
	w.Epoch, w.Successor, w.Open, w.Silent, w.Pending = 0, 0, 0, false, Queue[uint64]{}
}

// begin and end hold that each resource is opened and closed once.
func (w *Env) begin(p int) error {
	if w.Parts[p] == opening || w.Parts[p] == opened {
		return fmt.Errorf("it is open already")
	}
	w.Parts[p] = opening
	return nil
}

func (w *Env) end(p int) error {
	if w.Parts[p] != opening && w.Parts[p] != opened {
		return fmt.Errorf("invariant 9: it is not open")
	}
	w.Parts[p] = closing
	return nil
}

func ofInstance(s *csm.State, instance uint32) error {
	if instance != s.Instance {
		return fmt.Errorf("invariant 9: it is for instance %d, and %d is live", instance, s.Instance)
	}
	return nil
}

// cancels says what an effect has told to stop: which effect asked for it, and by
// which id.
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
				return fmt.Errorf("it is cancelled again")
			}
			w.Owed.At[i].Cancelled = true
			return nil
		}
	}
	return fmt.Errorf("nothing like it is under way")
}

// see brings the environment up to date with an event that happens in it.
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
		w.Lost = true
	case csm.AudioRestored:
		w.Lost = false
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
	default: // nothing that another move depends on
	}
}

// ends is the end of the open utterance, whose words are now to come.
func (w *Env) ends(u uint64) {
	if w.Open != 0 && w.Open == u {
		_ = w.Pending.Add(u) // of what is made up, there may be any number
		w.Open, w.Silent = 0, false
	}
}

// understood is the end of an utterance with its words, or without any. A service
// may end and answer it in one message.
func (w *Env) understood(u uint64) {
	if w.Open == u {
		w.Open, w.Silent = 0, false
	}
	w.Pending.Keep(func(p uint64) bool { return p != u })
}
