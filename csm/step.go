package csm

import (
	"context"
	"errors"
	"fmt"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm/connection"
	"github.com/agentvoice/agentvoice-daemon/csm/speech"
	"github.com/agentvoice/agentvoice-daemon/csm/turn"
	"github.com/agentvoice/agentvoice-daemon/session"
)

// Step applies one event. It is total and pure: every event is welcome in every
// state, and one that means nothing there changes a counter and nothing else.
func Step(s State, e Envelope) (State, []Effect) { return step(s, e, nil) }

// Observation is what a step did in the table, for coverage: rows are indices
// of Table.
type Observation struct {
	Fired  int         // the row that was taken, -1 for none
	Guards []GuardSeen // the guards that were asked, in their order
}

// GuardSeen is the answer of one row's guard.
type GuardSeen struct {
	Row  int
	Held bool
}

// StepObserved is Step, and says which rows of the table it met.
func StepObserved(s State, e Envelope) (State, []Effect, Observation) {
	seen := Observation{Fired: -1}
	next, fx := step(s, e, &seen)
	return next, fx, seen
}

func step(s State, e Envelope, seen *Observation) (State, []Effect) {
	r := &run{seen: seen, Context: context.Background(), st: s, env: e, phase: s.Phase(), copilotOut: copilot.Ignored, speechOut: speech.Ignored}
	if !r.route() {
		s.Counters.Stale++
		return s, refuse(e.Event, CodeInvalidState)
	}
	switch err := machine.FireCtx(r, e.Event.Kind()); {
	case errors.Is(err, errUnhandled):
		s.Counters.Ignored++
		return s, refuse(e.Event, noMeaning(s))
	case err != nil:
		return s, []Effect{Report{What: fmt.Sprintf("%v in %v: %v", e.Event.Kind(), s.Phase(), err)}}
	}
	r.settle(s)
	r.deadlines()
	return r.st, r.effects()
}

// noMeaning is the answer to a call that has no meaning in s.
func noMeaning(s State) Code {
	if s.Phase() == PhaseIdle {
		return CodeNoConversation
	}
	return CodeInvalidState
}

// refuse answers the call of an event, if it has one.
func refuse(e Event, code Code) []Effect {
	if c := callOf(e); c != 0 {
		return []Effect{Reply{Call: c, Code: code}}
	}
	return nil
}

// effects puts what was emitted in order: a flush before everything else, since
// nothing that follows may be heard over what it silences, then the answer to
// the caller, then the rest as it came.
func (r *run) effects() []Effect {
	out := make([]Effect, 0, len(r.fx)+1)
	for _, e := range r.fx {
		if _, ok := e.(Flush); ok {
			out = append(out, e)
		}
	}
	if c := callOf(r.env.Event); c != 0 {
		out = append(out, Reply{Call: c, Turn: r.replied, Code: r.refused})
	}
	for _, e := range r.fx {
		if _, ok := e.(Flush); !ok {
			out = append(out, e)
		}
	}
	return out
}

func callOf(e Event) Call {
	switch e := e.(type) {
	case UserStart:
		return e.Call
	case UserStop:
		return e.Call
	case UserInterrupt:
		return e.Call
	case UserCommit:
		return e.Call
	case UserText:
		return e.Call
	case UserRetry:
		return e.Call
	case UserSpeak:
		return e.Call
	case UserPlayback:
		return e.Call
	case Suspend:
		return e.Call
	case Resume:
		return e.Call
	default:
		return 0
	}
}

// route hands the event to the region that it is a fact about, and says whether
// it is live. The conversation's own transition comes after, and sees the
// regions as they are then.
func (r *run) route() bool {
	switch e := r.env.Event.(type) {
	case SessionReady, SessionFailed, SessionRenewal, SessionRenewed, SessionClosed:
		return r.routeSession(e)
	case AudioPrimed, AudioReady, AudioFailed, AudioLost, AudioRestored, AudioClosed:
		return r.routeAudio(e)
	case ConnReady, ConnLost, ConnFailed, ConnClosed:
		return r.routeConnection(e)
	case SpeechStarted:
		return r.hear(e.Epoch, turn.Onset, turn.Utterance{ID: e.Utterance, Pos: e.Pos})
	case SpeechStopped:
		return r.hear(e.Epoch, turn.End, turn.Utterance{ID: e.Utterance, Pos: e.Pos})
	case Partial:
		return e.Epoch == r.openEpoch() && r.awaits(e.Utterance)
	case Final:
		return r.hear(e.Epoch, turn.Answered, turn.Utterance{ID: e.Utterance})
	case RecognitionLost:
		return r.hear(e.Epoch, turn.Answered, turn.Utterance{ID: e.Utterance})
	case CopilotSent:
		r.st.Copilot, r.copilotOut = copilot.Next(r.st.Copilot, copilot.Attempt, e.Request, e.Attempt)
	case CopilotDelta:
		r.st.Copilot, r.copilotOut = copilot.Next(r.st.Copilot, copilot.Progress, e.Request, 0)
	case CopilotSegment:
		r.st.Copilot, r.copilotOut = copilot.Next(r.st.Copilot, copilot.Progress, e.Request, 0)
	case CopilotDone:
		r.st.Copilot, r.copilotOut = copilot.Next(r.st.Copilot, copilot.Terminal, e.Request, 0)
	case SpeechBuffered, SpeechPlayed, SpeechDrained, SpeechFlushed, SpeechFailed:
		return r.routeSpeech(e)
	case TimerFired:
		return r.routeTimer(e)
	case Suspend:
		return reasonOf(e) != 0
	case UserStart, UserStop, UserInterrupt, UserCommit, UserText, UserRetry, UserSpeak, UserPlayback,
		Configure, QueueNext, Reset, Resume, Fatal:
		return true // about no region
	}
	return r.copilotOut != copilot.Stale
}

func (r *run) routeSession(e Event) bool {
	st := &r.st
	switch e := e.(type) { //nolint:gochecksumtype // route passes on these only
	case SessionReady:
		if e.Instance != st.Instance || st.Resources.Session != Opening {
			return false
		}
		st.Resources.Session = Opened
		st.Session, _ = session.Next(st.Session, session.Connected)
	case SessionFailed:
		if e.Instance != st.Instance || st.Resources.Session == Absent || st.Resources.Session == Closing {
			return false
		}
	case SessionRenewal:
		return e.Instance == st.Instance && st.Resources.Session == Opened
	case SessionRenewed:
		return e.Instance == st.Instance && st.Resources.Session == Opened
	case SessionClosed:
		if e.Instance != st.Instance || st.Resources.Session != Closing {
			return false
		}
		st.Resources.Session = Absent
	}
	return true
}

func (r *run) routeAudio(e Event) bool {
	res := &r.st.Resources
	switch e := e.(type) { //nolint:gochecksumtype // route passes on these only
	case AudioPrimed:
		if e.Instance != r.st.Instance || res.Audio != Opening {
			return false
		}
		res.Audio = Opened
	case AudioReady:
		if e.Instance != r.st.Instance || res.Audio != Opened || res.Capturing {
			return false
		}
		res.Capturing = true
	case AudioFailed:
		return e.Instance == r.st.Instance && (res.Audio == Opening || res.Audio == Opened)
	case AudioLost:
		if e.Instance != r.st.Instance || res.Audio != Opened || res.Lost {
			return false
		}
		res.Lost = true
	case AudioRestored:
		if e.Instance != r.st.Instance || !res.Lost {
			return false
		}
		res.Lost = false
	case AudioClosed:
		if e.Instance != r.st.Instance || res.Audio != Closing {
			return false
		}
		res.Audio = Absent
	}
	return true
}

func (r *run) routeConnection(e Event) bool {
	var out connection.Outcome
	switch e := e.(type) { //nolint:gochecksumtype // route passes on these only
	case ConnReady:
		r.st.Conn, out = connection.Next(r.st.Conn, connection.Ready, e.Epoch)
		if out == connection.Opened {
			r.st.Resources.Conn = Opened
		}
	case ConnLost:
		r.st.Conn, out = connection.Next(r.st.Conn, connection.Lost, e.Epoch)
	case ConnFailed:
		r.st.Conn, out = connection.Next(r.st.Conn, connection.Failed, e.Epoch)
	case ConnClosed:
		if r.st.Resources.Conn != Closing {
			return false
		}
		r.st.Resources.Conn = Absent
		return true
	}
	return out != connection.Stale && out != connection.Ignored
}

// hear is a fact about the user's voice on the live connection.
func (r *run) hear(epoch uint32, in turn.Input, u turn.Utterance) bool {
	if epoch != r.openEpoch() {
		return false
	}
	next, out := turn.Next(r.st.Turn, in, u)
	if out == turn.Stale {
		return false
	}
	r.st.Turn = next
	if in == turn.End || in == turn.Answered {
		r.refresh |= 1 << TimerFinal
	}
	return true
}

func (r *run) awaits(utterance uint64) bool {
	if sp, ok := r.st.Turn.(turn.UserSpeaking); ok && sp.Open.ID == utterance {
		return true
	}
	for _, u := range turn.Pending(r.st.Turn) {
		if u.ID == utterance {
			return true
		}
	}
	return false
}

// openEpoch is the epoch of the open connection; no event has the value that
// stands for none.
func (r *run) openEpoch() uint32 {
	if o, ok := r.st.Conn.(connection.Open); ok {
		return o.Epoch
	}
	return ^uint32(0)
}

func (r *run) routeSpeech(e Event) bool {
	st := &r.st
	switch e := e.(type) { //nolint:gochecksumtype // route passes on these only
	case SpeechBuffered:
		st.Speech, r.speechOut = speech.Buffered(st.Speech, e.Gen, r.holdsSpeech())
		r.refresh |= 1 << TimerSpeech
	case SpeechPlayed:
		seg, _ := segmentOf(st.Speech, e.Seq)
		st.Speech, r.speechOut = speech.Played(st.Speech, e.Gen, e.Seq)
		if r.speechOut == speech.Advanced {
			r.heard(seg, seg.End)
			r.refresh |= 1 << TimerSpeech
		}
	case SpeechDrained:
		line, _ := speech.LineOf(st.Speech)
		st.Speech, r.speechOut = speech.Drained(st.Speech, e.Gen, e.Seq)
		if r.speechOut == speech.Done || r.speechOut == speech.Underran {
			for _, seg := range line.Segments[line.Played:] {
				if seg.Seq <= e.Seq {
					r.heard(seg, seg.End)
				}
			}
		}
	case SpeechFlushed:
		in, ok := st.Conv.(Interrupted)
		return ok && in.Line.Gen == e.Gen
	case SpeechFailed:
		_, open := segmentOf(st.Speech, e.Seq)
		return open && e.Gen == st.Speech.Generation()
	}
	return r.speechOut != speech.Stale
}

// holdsSpeech says whether audio that is ready must wait: the user has the
// floor, or the conversation is held still.
func (r *run) holdsSpeech() bool {
	if sus, ok := r.st.Conv.(Suspended); ok {
		return !sus.Resuming
	}
	_, quiet := r.st.Turn.(turn.Idle)
	return !quiet
}

func segmentOf(s speech.State, seq uint32) (speech.Segment, bool) {
	l, _ := speech.LineOf(s)
	for _, seg := range l.Segments {
		if seg.Seq == seq {
			return seg, true
		}
	}
	return speech.Segment{}, false
}

func (r *run) routeTimer(e TimerFired) bool {
	if e.Timer >= NumTimers {
		return false
	}
	t := &r.st.Timers[e.Timer]
	if !t.Armed || t.Gen != e.Gen {
		return false
	}
	t.Armed, t.At = false, 0
	if e.Timer == TimerCancel {
		if live, ok := copilot.LiveOf(r.st.Copilot); ok {
			r.st.Copilot, r.copilotOut = copilot.Next(r.st.Copilot, copilot.Terminal, live.Request, 0)
		}
	}
	return true
}
