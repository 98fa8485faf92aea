package csm

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm/speech"
	"github.com/agentvoice/agentvoice-daemon/csm/turn"
)

// Whatever happens, in whatever order, however late, repeated or made up: each
// step keeps every invariant, writes to nothing its input can reach, and counts
// what is stale or has no meaning without changing anything else. And when the
// world then does what it was asked, the conversation comes to rest.
func TestAnyEventsKeepTheInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &world{t: t, s: Initial()}
		for range rapid.IntRange(1, 120).Draw(t, "steps") {
			w.at += time.Duration(rapid.IntRange(0, 400).Draw(t, "ms")) * time.Millisecond
			w.fire(w.draw())
		}
		w.comeToRest()
	})
}

// world is an environment that answers requests when it is drawn to, and makes
// things up.
type world struct {
	t      *rapid.T
	s      State
	seq    uint64
	at     time.Duration
	owed   []Event // answers to requests that are under way
	next   uint64  // utterances
	sent   map[[2]uint64]bool
	called map[uint64]bool
	// timers are those that the effects started: each fires once at most, and
	// only if it was not stopped.
	timers [NumTimers]TimerState
}

func (w *world) fire(e Event) {
	w.seq++
	env := Envelope{Seq: w.seq, At: w.at, Event: e}
	before, _ := json.Marshal(w.s)
	next, fx := Step(w.s, env)
	if after, _ := json.Marshal(w.s); string(after) != string(before) {
		w.t.Fatalf("%v %+v: the step wrote to its input:\n%s\n%s", e.Kind(), e, before, after)
	}
	if err := CheckStep(w.s, env, next, fx); err != nil {
		w.t.Fatalf("%v %+v in %v: %v", e.Kind(), e, w.s.Phase(), err)
	}
	if next.Counters != w.s.Counters {
		same := next
		same.Counters = w.s.Counters
		got, _ := json.Marshal(same)
		if string(got) != string(before) {
			w.t.Fatalf("%v %+v: it has no meaning, and changed\n%s\nto\n%s", e.Kind(), e, before, got)
		}
	}
	w.s = next
	if f, ok := e.(TimerFired); ok && w.timers[f.Timer].Gen == f.Gen {
		w.timers[f.Timer] = TimerState{}
	}
	for _, f := range fx {
		w.owe(f)
	}
	for t := range NumTimers {
		if ts := next.Timers[t]; ts.Armed && ts != w.timers[t] || !ts.Armed && w.timers[t].Armed {
			w.t.Fatalf("%v %+v: timer %v is %+v, and in the world %+v", e.Kind(), e, t, ts, w.timers[t])
		}
	}
}

// owe notes how an effect will be answered.
func (w *world) owe(f Effect) {
	switch f := f.(type) {
	case Post:
		e, err := DecodeEvent(f.Event, nil)
		if err != nil {
			w.t.Fatal(err)
		}
		w.owed = append(w.owed, e)
	case StartTimer:
		w.timers[f.Timer] = TimerState{Gen: f.Gen, Armed: true, At: w.at + f.After}
	case StopTimer:
		w.timers[f.Timer] = TimerState{}
	case ActivateSession:
		w.owed = append(w.owed, SessionReady{f.Instance})
	case DeactivateSession:
		w.owed = append(w.owed, SessionClosed{f.Instance})
	case OpenAudio:
		w.owed = append(w.owed, AudioPrimed{f.Instance})
	case StartCapture:
		w.owed = append(w.owed, AudioReady{f.Instance})
	case CloseAudio:
		w.owed = append(w.owed, AudioClosed{f.Instance})
	case OpenConnection:
		w.owed = append(w.owed, ConnReady{f.Epoch})
	case CloseConnection:
		w.owed = append(w.owed, ConnClosed(f))
	case SendCopilot:
		if w.sent == nil {
			w.sent = map[[2]uint64]bool{}
		}
		id := [2]uint64{f.Request, uint64(f.Round)}
		if w.sent[id] {
			w.t.Fatalf("round %d of request %d was sent twice", f.Round, f.Request)
		}
		w.sent[id] = true
		w.answer(f)
	case LoadModel:
		if w.flip("model") {
			w.owed = append(w.owed, ModelFailed{f.Load, CodeModelFailed})
			return
		}
		w.owed = append(w.owed, ModelProgress{f.Load, 40}, ModelLoaded{f.Load})
	case SearchTools:
		done := ToolSearchDone{Request: f.Request, Round: f.Round, Tools: 2}
		if w.flip("search") {
			done.Code = CodeToolSearchFailed
		}
		w.owed = append(w.owed, done)
	case CancelSearch:
		w.owed = append(w.owed, ToolSearchDone{Request: f.Request, Cancelled: true})
	case CallTool:
		if w.called[f.ToolCall] {
			w.t.Fatalf("call %d runs twice", f.ToolCall)
		}
		if w.called == nil {
			w.called = map[uint64]bool{}
		}
		w.called[f.ToolCall] = true
		done := ToolDone{ToolCall: f.ToolCall}
		if w.flip("tool") {
			done.Code = CodeToolFailed
		}
		w.owed = append(w.owed, done)
	case Summarise:
		done := Summarised{Job: f.Job}
		if w.flip("summary") {
			done.Code = CodeInternalError
		}
		w.owed = append(w.owed, done)
	case CancelCopilot:
		w.owed = append(w.owed, CopilotDone{Request: f.Request, Cancelled: true})
	case Speak:
		w.owed = append(w.owed, SpeechBuffered{f.Gen, f.Segment.Seq}, SpeechPlayed{f.Gen, f.Segment.Seq}, SpeechDrained{f.Gen, f.Segment.Seq})
	case Flush:
		w.owed = append(w.owed, SpeechFlushed{Gen: f.Gen - 1, Seq: w.s.IDs.Segment, Played: 3, Of: 7})
	}
}

// answer is a round: words, and now and then calls of tools.
func (w *world) answer(f SendCopilot) {
	at := func(n int) int { return 10 * (2*f.Round + n) }
	w.owed = append(w.owed, CopilotSent{Request: f.Request, Attempt: 1, Round: f.Round}, CopilotDelta{Request: f.Request, Chars: at(1), Round: f.Round})
	if rapid.IntRange(0, 3).Draw(w.t, "words") > 0 {
		w.owed = append(w.owed, CopilotSegment{Request: f.Request, Start: at(0), End: at(1), Round: f.Round})
	}
	for range rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(w.t, "calls") {
		w.next++
		w.owed = append(w.owed, CopilotToolCall{Request: f.Request, Round: f.Round, ToolCall: w.next, Destructive: rapid.Bool().Draw(w.t, "destructive")})
	}
	w.owed = append(w.owed, CopilotDone{Request: f.Request, Round: f.Round})
}

func (w *world) flip(name string) bool { return rapid.IntRange(0, 4).Draw(w.t, name) == 0 }

// configuration draws what a conversation is configured with.
func (w *world) configuration() Event {
	c := DefaultConfig()
	c.Tools = rapid.Bool().Draw(w.t, "tools")
	c.Turns = turn.Mode(rapid.IntRange(0, 2).Draw(w.t, "mode"))
	c.HistoryMax, c.HistoryKeep, c.RoundsMax, c.QueueMax = 5, 2, 2, 3
	return Configure{c}
}

func (w *world) draw() Event {
	t := w.t
	small := func(name string, last uint32) uint32 { // mostly the live one
		return last - min(last, uint32(rapid.SampledFrom([]int{0, 0, 0, 0, 1, 2}).Draw(t, name)))
	}
	kind := rapid.IntRange(0, 99).Draw(t, "kind")
	switch {
	case len(w.owed) > 0 && kind < 55:
		i := rapid.SampledFrom([]int{0, 0, 0, rapid.IntRange(0, len(w.owed)-1).Draw(t, "owed")}).Draw(t, "which")
		e := w.owed[i]
		if rapid.IntRange(0, 9).Draw(t, "repeat") > 0 {
			w.owed = append(append([]Event{}, w.owed[:i]...), w.owed[i+1:]...)
		}
		return e
	case kind < 62:
		timer := Timer(rapid.IntRange(0, int(NumTimers)-1).Draw(t, "timer"))
		return TimerFired{timer, w.s.Timers[timer].Gen}
	case kind < 75:
		epoch := small("epoch", w.s.IDs.Epoch)
		switch rapid.IntRange(0, 6).Draw(t, "voice") {
		case 5:
			return SpeechPaused{epoch, w.next, 0}
		case 6:
			return SpeechResumed{epoch, w.next, 0}
		case 0, 1:
			w.next++
			return SpeechStarted{epoch, w.next, int64(w.next) * 1000, 0}
		case 2:
			return SpeechStopped{epoch, w.next, int64(w.next)*1000 + 500}
		case 3:
			return Final{Epoch: epoch, Utterance: w.next, Words: rapid.IntRange(0, 3).Draw(t, "words"), Class: Class(rapid.IntRange(0, int(NumClasses)-1).Draw(t, "class")), Doubted: rapid.Bool().Draw(t, "doubted"), Named: rapid.Bool().Draw(t, "named")}
		default:
			return RecognitionLost{epoch, w.next, CodeRecognitionFailed}
		}
	case kind < 90:
		w.next++
		reason := SuspendReason(1 << rapid.IntRange(0, 5).Draw(t, "reason"))
		call := Call(rapid.IntRange(0, 1).Draw(t, "call"))
		return rapid.SampledFrom([]Event{
			UserStart{Call: call}, UserStart{Call: call}, UserStart{Call: call, TakeOver: true}, UserStop{Call: call}, UserInterrupt{call}, UserCommit{call},
			UserText{Call: call, Utterance: w.next, Words: 2}, UserRetry{Call: call}, UserSpeak{Call: call, Ref: 1, Chars: 5},
			UserPlayback{call, true}, UserPlayback{call, false}, Suspend{call, reason}, Resume{call, reason},
			w.configuration(), QueueNext{}, UserSelectModel{call, uint64(rapid.IntRange(0, 2).Draw(t, "model"))},
			UserRetry{Call: call, Stage: copilot.Stage(rapid.IntRange(0, 4).Draw(t, "stage")), ToolCall: w.next}, w.approval(call), w.approval(call), w.approval(call), UserSpeak{Call: call, Ref: 2, Chars: 7}, UserInterrupt{call},
		}).Draw(t, "command")
	default:
		in, ep, req := small("instance", w.s.Instance), small("epoch", w.s.IDs.Epoch), w.s.IDs.Request
		gen, seq := small("gen", w.s.Speech.Generation()), small("seq", w.s.IDs.Segment)
		code := rapid.SampledFrom(Codes).Draw(t, "code")
		return rapid.SampledFrom([]Event{
			SessionExpiring{in}, ToolDone{ToolCall: w.next}, CopilotToolCall{Request: req, ToolCall: w.next}, ModelLoaded{w.s.IDs.Load}, Summarised{Job: w.s.IDs.Job},
			ToolSearchDone{Request: req, Code: code}, SpeechCursor{Gen: gen, Seq: seq, Played: 5, Of: 10}, ConnClosed{Instance: in, Epoch: ep},
			SessionFailed{in, code}, SessionRenewal{Instance: in}, SessionRenewed{in}, AudioFailed{in, code}, AudioLost{in},
			AudioRestored{in}, ConnLost{ep, code}, ConnFailed{ep, code}, CopilotDone{Request: req, Code: code},
			CopilotSent{Request: req, Attempt: 2}, SpeechFailed{gen, seq, code}, SpeechBuffered{gen, seq}, SpeechDrained{gen, seq},
			SpeechPlayed{gen, seq}, SpeechFlushed{Gen: gen, Seq: seq, Played: 1, Of: 1}, Partial{Epoch: ep, Utterance: w.next, Words: 1},
		}).Draw(t, "fact")
	}
}

// approval is the user's decision about the call that is asked about, or another.
func (w *world) approval(call Call) Event {
	id := w.next
	if live, ok := copilot.LiveOf(w.s.Copilot); ok && len(live.Calls) > 0 {
		id = live.Calls[0].ID
	}
	return UserApprove{call, id, rapid.Bool().Draw(w.t, "approved")}
}

// comeToRest answers everything that is owed, lets suspensions and deadlines
// run out, and expects Listening with nothing under way, or Idle.
func (w *world) comeToRest() {
	for round := range 400 {
		if len(w.owed) > 0 {
			e := w.owed[0]
			w.owed = w.owed[1:]
			w.fire(e)
			continue
		}
		p := w.s.Phase()
		if w.s.UserPaused() {
			w.fire(Resume{Reason: SuspendUser}) // a pause by the user lasts until the user ends it
			continue
		}
		if i, ok := w.s.Conv.(Idle); ok && !i.Starting {
			return
		}
		if p == PhaseListening && w.s.Current.ID == 0 && len(w.s.Queue) == 0 {
			return
		}
		if _, quiet := w.s.Turn.(turn.Idle); quiet && p == PhaseListening && (&run{st: w.s}).gathered() {
			w.fire(UserCommit{}) // what the user is to end by hand
			continue
		}
		if sp, open := w.s.Turn.(turn.UserSpeaking); open && p == PhaseListening && w.s.config().Turns == turn.Manual {
			w.fire(SpeechStopped{w.s.IDs.Epoch, sp.Open.ID, 0})
		}
		if _, paused := w.s.Speech.(speech.Paused); p == PhaseSpeaking && paused {
			w.fire(UserPlayback{Pause: false}) // a pause of the user's lasts until the user ends it
			continue
		}
		due, ok := w.nextTimer()
		if !ok {
			w.t.Fatalf("round %d: nothing is owed, no deadline runs, and the conversation stands in %v: %s", round, p, describe(w.s))
		}
		w.at = max(w.at, w.timers[due].At)
		w.fire(TimerFired{due, w.timers[due].Gen})
	}
	w.t.Fatalf("no rest: %s", describe(w.s))
}

func (w *world) nextTimer() (due Timer, ok bool) {
	for t := range NumTimers {
		if ts := w.timers[t]; ts.Armed && (!ok || ts.At < w.timers[due].At) {
			due, ok = t, true
		}
	}
	return due, ok
}

func describe(s State) string {
	b, err := json.Marshal(s)
	return fmt.Sprint(string(b), err)
}
