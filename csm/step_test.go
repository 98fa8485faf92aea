package csm

import (
	"slices"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/copilot"
)

// drive steps a state through events, 10 ms apart, and checks each step.
type drive struct {
	t   *testing.T
	s   State
	seq uint64
	at  time.Duration
	fx  []Effect // effects of the last step
	all []Effect
}

func newDrive(t *testing.T) *drive { return &drive{t: t, s: Initial()} }

func (d *drive) do(events ...Event) *drive {
	d.t.Helper()
	for _, e := range events {
		d.at += 10 * time.Millisecond
		d.seq++
		env := Envelope{Seq: d.seq, At: d.at, Event: e}
		next, fx := Step(d.s, env)
		if err := CheckStep(d.s, env, next, fx); err != nil {
			d.t.Fatalf("after %v %+v: %v", KindOf(e), e, err)
		}
		d.s, d.fx = next, fx
		d.all = append(d.all, fx...)
		for _, f := range fx {
			if p, ok := f.(Post); ok {
				ev, err := DecodeEvent(p.Event, nil)
				if err != nil {
					d.t.Fatal(err)
				}
				d.do(ev)
			}
		}
	}
	return d
}

func (d *drive) want(p Phase) *drive {
	d.t.Helper()
	if got := d.s.Phase(); got != p {
		d.t.Fatalf("phase %v, want %v", got, p)
	}
	return d
}

func (d *drive) toListening() *drive {
	d.t.Helper()
	return d.do(UserStart{Call: 1}).want(PhaseIdle).
		do(SessionReady{Instance: 1}, AudioPrimed{Instance: 1}).want(PhasePreparing).
		do(AudioReady{Instance: 1}, ConnReady{Epoch: 1}).want(PhaseListening)
}

func (d *drive) ask(u uint64) *drive {
	d.t.Helper()
	e := d.s.IDs.Epoch
	return d.do(SpeechStarted{e, u, 0, 0}, SpeechStopped{Epoch: e, Utterance: u, Pos: 100}, Final{Epoch: e, Utterance: u, Words: 3}).want(PhaseAnalysing)
}

func (d *drive) toSpeaking(u uint64) *drive {
	d.t.Helper()
	d.ask(u)
	r := d.s.IDs.Request
	d.do(CopilotSent{Request: r, Attempt: 1}).want(PhaseWaitingForCopilot).
		do(CopilotDelta{Request: r, Chars: 5}).want(PhaseGeneratingResponse).
		do(CopilotSegment{Request: r, Start: 0, End: 20})
	return d.do(SpeechBuffered{d.s.Speech.Generation(), d.s.IDs.Segment}).want(PhaseSpeaking)
}

func TestWholeTurn(t *testing.T) {
	d := newDrive(t).toListening().toSpeaking(1)
	r := d.s.IDs.Request
	d.do(CopilotDone{Request: r}, SpeechPlayed{0, 1}, SpeechDrained{0, 1}).want(PhaseListening)
	if len(d.s.History.Said().Items) != 2 || d.s.History.Said().Items[1].Heard != 20 {
		t.Fatalf("history %+v", d.s.History)
	}
	d.do(UserStop{Call: 2}).want(PhaseTerminating).
		do(SessionClosed{1}, AudioClosed{1}, ConnClosed{Instance: 1}).want(PhaseIdle)
}

func TestInterruption(t *testing.T) {
	d := newDrive(t).toListening().toSpeaking(1)
	d.do(SpeechStarted{1, 2, 9000, 0}).want(PhaseInterrupted)
	if !slices.Contains(d.fx, Effect(PausePlayback{Gen: 0})) {
		t.Fatalf("effects %v, want a pause", d.fx)
	}
	d.do(SpeechCursor{Gen: 0, Seq: 1, Played: 1, Of: 2}, TimerFired{TimerConfirm, d.s.Timers[TimerConfirm].Gen}).want(PhaseListening)
	d.do(SpeechStopped{Epoch: 1, Utterance: 2, Pos: 99000}, Final{Epoch: 1, Utterance: 2, Words: 2}).want(PhaseAnalysing)
	if _, ok := d.fx[0].(Flush); !ok {
		t.Fatalf("first effect %v, want the flush", d.fx[0])
	}
	if h := d.s.History.Said().Items; h[1].Heard != 10 {
		t.Fatalf("history %+v, want half of 20 characters heard", h)
	}
	if d.s.Current.ID != 2 {
		t.Fatalf("turn %d, want the second", d.s.Current.ID)
	}
	if d.s.Conv.(Analysing).Unsent != 2 {
		t.Fatal("the second request did not wait for the first one's end")
	}
	d.do(CopilotDone{Request: 1, Cancelled: true})
	if d.s.IDs.Request != 2 {
		t.Fatal("the second request was not sent")
	}
}

func TestConnectionLostWhileSpeaking(t *testing.T) {
	d := newDrive(t).toListening().toSpeaking(1)
	d.do(ConnLost{1, CodeConnectionLost, false}).want(PhaseSuspended).
		do(ConnReady{Epoch: 2}).want(PhaseGeneratingResponse)
	if d.s.Cause != CauseConnRestored {
		t.Fatalf("cause %v", d.s.Cause)
	}
	d.do(SpeechBuffered{1, 1}).want(PhaseSpeaking)
	d.do(CopilotDone{Request: 1}, SpeechDrained{1, 1}).want(PhaseListening)
}

func TestTimeout(t *testing.T) {
	d := newDrive(t).toListening().ask(1)
	d.do(CopilotSent{Request: 1, Attempt: 1})
	d.do(TimerFired{TimerResponse, d.s.Timers[TimerResponse].Gen}).want(PhaseListening)
	d.do(SpeechBuffered{0, 1}).want(PhaseSpeaking).do(SpeechDrained{0, 1}).want(PhaseListening)
	d.do(UserRetry{Call: 9}).want(PhaseAnalysing)
}

func TestFatal(t *testing.T) {
	newDrive(t).do(UserStart{Call: 1}, SessionFailed{1, CodeAuthentication}).want(PhaseTerminating).
		do(SessionClosed{1}, AudioClosed{1}).want(PhaseIdle)
}

// A failed call is retried before queued utterances, which are newer.
func TestCallRetryPrecedesQueue(t *testing.T) {
	d := newDrive(t).toListening()
	c := DefaultConfig()
	c.Tools = true
	d.do(Configure{Config: c}).ask(1)
	r := d.s.IDs.Request
	d.do(ToolSearchDone{Request: r, Tools: 1}, CopilotSent{Request: r, Attempt: 1}, CopilotToolCall{Request: r, ToolCall: 7}, CopilotDone{Request: r})
	d.do(UserApprove{Call: 1, ToolCall: 7, Approved: true}, ToolDone{ToolCall: 7, Code: CodeToolFailed})
	notice := d.s.IDs.Segment
	d.do(SpeechBuffered{d.s.Speech.Generation(), notice}).want(PhaseSpeaking)
	d.do(UserText{Call: 2, Utterance: 2, Words: 1})
	s, _ := Step(d.s, Envelope{Seq: 90, At: d.at, Event: SpeechDrained{d.s.Speech.Generation(), notice}})
	if len(s.Queue) != 1 || s.Phase() != PhaseListening || s.Retry.Call.ID != 7 {
		t.Fatalf("%v with queue %v and %+v to be tried again", s.Phase(), s.Queue, s.Retry)
	}
	s, _ = Step(s, Envelope{Seq: 91, At: d.at, Event: UserRetry{Call: 3, ToolCall: 8}})
	if call, asked := s.Copilot.(copilot.WaitingForApproval); !asked || call.Calls[0].ID != 8 || s.Current.Utterance != 1 || len(s.Queue) != 1 {
		t.Errorf("%v of utterance %d with queue %v, want the call to be asked about", s.Copilot, s.Current.Utterance, s.Queue)
	}
}
