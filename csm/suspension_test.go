package csm_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/speech"
)

// places are conversations in every phase that can be held, each with its running
// deadline and the phase in which it resumes.
var places = []struct {
	name  string
	make  func(*testing.T) *scene
	in    csm.Phase
	timer csm.Timer
	back  csm.Phase
	lost  csm.Phase // after a lost connection
}{
	{"preparing", func(t *testing.T) *scene {
		s := newScene(t)
		s.took["StartCapture"] = never
		return s.do(csm.UserStart{}).wait(200 * ms)
	}, csm.PhasePreparing, csm.TimerPrepare, csm.PhasePreparing, csm.PhaseFaulted},
	{"words awaited", func(t *testing.T) *scene { return listening(t).begin(1).end(1) },
		csm.PhaseListening, csm.TimerFinal, csm.PhaseListening, csm.PhaseListening},
	{"about to explain", func(t *testing.T) *scene {
		s := listening(t)
		s.took["Speak"] = never
		return s.say(1).failed(csm.CodeCopilotFailed)
	}, csm.PhaseListening, csm.TimerSpeech, csm.PhaseListening, csm.PhaseListening},
	{"analysing", func(t *testing.T) *scene {
		s := listening(t)
		s.took["SendCopilot"] = never
		return s.say(1)
	}, csm.PhaseAnalysing, csm.TimerResponse, csm.PhaseAnalysing, csm.PhaseAnalysing},
	{"committed", func(t *testing.T) *scene { return listening(t).begin(1).do(csm.UserCommit{}) },
		csm.PhaseAnalysing, csm.TimerFinal, csm.PhaseAnalysing, csm.PhaseListening},
	{"behind a cancelled request", func(t *testing.T) *scene {
		s := listening(t)
		s.took["CancelCopilot"] = never
		return s.say(1).do(csm.UserInterrupt{}).say(2)
	}, csm.PhaseAnalysing, csm.TimerCancel, csm.PhaseAnalysing, csm.PhaseAnalysing},
	{"waiting", func(t *testing.T) *scene { return listening(t).say(1).wait(1 * ms) },
		csm.PhaseWaitingForCopilot, csm.TimerResponse, csm.PhaseWaitingForCopilot, csm.PhaseWaitingForCopilot},
	{"generating", func(t *testing.T) *scene { return listening(t).say(1).wait(1 * ms).do(csm.CopilotDelta{Request: 1}) },
		csm.PhaseGeneratingResponse, csm.TimerStall, csm.PhaseGeneratingResponse, csm.PhaseGeneratingResponse},
	{"speaking", func(t *testing.T) *scene { return listening(t).speaking(1).answered() },
		csm.PhaseSpeaking, csm.TimerSpeech, csm.PhaseSpeaking, csm.PhaseSpeaking},
	{"speaking, the answer still coming", func(t *testing.T) *scene { return listening(t).speaking(1) },
		csm.PhaseSpeaking, csm.TimerStall, csm.PhaseSpeaking, csm.PhaseSpeaking},
}

// REQ-008: a held conversation resumes in the same phase, deadlines keep their remaining
// time, and nothing is sent twice.
func TestREQ008SuspensionInEveryPhase(t *testing.T) {
	for _, c := range places {
		t.Run(c.name, func(t *testing.T) {
			s := c.make(t).in(c.in).wait(1300 * ms)
			before := s.state()
			left := before.Timers[c.timer].At - s.clock.Now()
			if !before.Timers[c.timer].Armed || left <= 0 {
				t.Fatalf("timer %v does not run: %+v", c.timer, before.Timers[c.timer])
			}
			s.do(csm.Suspend{Call: 1, Reason: csm.SuspendUser}).wantReply(1, "").in(csm.PhaseSuspended)
			for tm := range csm.NumTimers {
				if s.state().Timers[tm].Armed {
					t.Errorf("timer %v is armed under the user's pause", tm)
				}
			}
			s.wait(50*time.Second).do(csm.Resume{Call: 2, Reason: csm.SuspendUser}).wantReply(2, "").in(c.back)
			after := s.state()
			if got := after.Timers[c.timer].At - s.clock.Now(); got != left {
				t.Errorf("%v is left of timer %v, want %v", got, c.timer, left)
			}
			if !reflect.DeepEqual(after.Current, before.Current) {
				t.Errorf("the turn became %+v, was %+v", after.Current, before.Current)
			}
			if after.IDs.Request != before.IDs.Request {
				t.Error("resuming sent a request")
			}
		})
	}
}

// After a lost connection is redialled, the conversation resumes in the same phase:
// awaited words are lost, and speech is synthesised again from the heard position.
func TestConnectionLostInEveryPhase(t *testing.T) {
	for _, c := range places {
		t.Run(c.name, func(t *testing.T) {
			s := c.make(t).in(c.in)
			sent := len(s.sent())
			s.do(csm.ConnLost{Epoch: 1, Code: csm.CodeConnectionLost})
			if c.lost == csm.PhaseFaulted {
				s.in(csm.PhaseFaulted)
				return
			}
			if s.in(csm.PhaseSuspended); s.epoch() != 2 {
				t.Fatalf("epoch %d", s.epoch())
			}
			s.took["Speak"] = 50 * ms
			if s.wait(100 * ms); c.in == csm.PhaseSpeaking {
				s.in(csm.PhaseGeneratingResponse)
			} else {
				s.in(c.lost)
			}
			if got := s.state().Cause; got != csm.CauseConnRestored {
				t.Errorf("cause %v", got)
			}
			if c.in == csm.PhaseSpeaking {
				s.wait(50 * ms).in(c.lost)
			}
			if len(s.sent()) != sent {
				t.Error("the utterance was sent again")
			}
		})
	}
	// An interruption whose words are lost with the connection is reverted; one by key is not.
	s := listening(t).speaking(1).begin(2).in(csm.PhaseInterrupted).do(csm.ConnLost{Epoch: 1, Code: csm.CodeConnectionLost})
	s.wait(200*ms).in(csm.PhaseSpeaking).answered().drained().in(csm.PhaseListening).turn(3).wantSent(1, 3).wantEnds("1 answered", "2 answered")
	s = listening(t).speaking(1).do(csm.UserInterrupt{}).in(csm.PhaseInterrupted).do(csm.ConnLost{Epoch: 1, Code: csm.CodeConnectionLost})
	s.wait(200*ms).in(csm.PhaseListening).turn(3).wantSent(1, 3)
}

func TestSpeechRestartsAtHeardPosition(t *testing.T) {
	s := listening(t).speaking(1).played().answered().do(csm.ConnLost{Epoch: 1, Code: csm.CodeConnectionLost}).wait(100 * ms)
	if f := last[csm.Speak](s); f.Gen != 1 || f.Segment.Seq != 2 || f.Segment.Start != 40 {
		t.Fatalf("says %+v", f)
	}
	if n := len(effects[csm.Speak](s)); n != 3 {
		t.Fatalf("%d segments were synthesised, want the two and the second again", n)
	}
	s.do(csm.SpeechBuffered{Gen: 0, Seq: 2}).in(csm.PhaseGeneratingResponse) // from the old connection
	s.wait(50 * ms).in(csm.PhaseSpeaking).drained().wantEnds("1 answered")
	if s.heard() != 100 {
		t.Fatalf("heard %d", s.heard())
	}
}

// An answer that arrives while the conversation is held is kept and spoken afterwards.
func TestAnswerWhileSuspended(t *testing.T) {
	t.Run("whole", func(t *testing.T) {
		s := listening(t).say(1).wait(1*ms).do(csm.AudioLost{Instance: 1}).segment(0, 40).answered().wait(5 * time.Second)
		if len(effects[csm.Speak](s)) != 0 {
			t.Fatal("synthesised while held still")
		}
		s.do(csm.AudioRestored{Instance: 1}).in(csm.PhaseGeneratingResponse).wait(50 * ms).in(csm.PhaseSpeaking).drained()
		s.in(csm.PhaseListening).wantEnds("1 answered").wantSent(1)
	})
	t.Run("failed", func(t *testing.T) {
		s := listening(t).say(1).wait(1 * ms).do(csm.AudioLost{Instance: 1}).failed(csm.CodeCopilotBlocked)
		s.do(csm.AudioRestored{Instance: 1}).in(csm.PhaseListening)
		if f := last[csm.Speak](s); f.Segment.Notice != string(csm.CodeCopilotBlocked) {
			t.Fatalf("says %+v", f)
		}
		s.wait(50 * ms).drained().wantEnds("1 failed")
	})
}

func TestResumeNeedsAllReasonsCleared(t *testing.T) {
	s := listening(t).say(1).wait(1*ms).do(csm.SessionRenewal{Instance: 1}, csm.AudioLost{Instance: 1}, csm.ConnLost{Epoch: 1, Code: csm.CodeConnectionLost})
	s.wait(200 * ms).in(csm.PhaseSuspended).do(csm.SessionRenewed{Instance: 1}).in(csm.PhaseSuspended)
	s.do(csm.Resume{Reason: csm.SuspendMicrophone | csm.SuspendSpeaker | csm.SuspendConnection}).in(csm.PhaseSuspended)
	s.do(csm.AudioRestored{Instance: 1}).in(csm.PhaseWaitingForCopilot)
	if s.state().Cause != csm.CauseDeviceRestored {
		t.Fatalf("cause %v", s.state().Cause)
	}
}

// A session that was already replaced cannot force a pause, which nothing would end.
func TestRenewalOfAnotherConnectionIsStale(t *testing.T) {
	s := listening(t).do(csm.SessionRenewal{Instance: 1, Epoch: 9}).in(csm.PhaseListening)
	s.do(csm.SessionRenewal{Instance: 1, Epoch: 1}).in(csm.PhaseSuspended)
}

// Only facts set and clear the reasons connection and device, and a suspension needs a
// reason.
func TestSuspendRejectsFactReasons(t *testing.T) {
	s := listening(t)
	for n, why := range []csm.SuspendReason{0, csm.SuspendConnection, csm.SuspendMicrophone, csm.SuspendSpeaker} {
		s.do(csm.Suspend{Call: csm.Call(n + 5), Reason: why}).wantReply(csm.Call(n+5), csm.CodeInvalidState).in(csm.PhaseListening)
	}
	s.do(csm.Resume{Call: 9}).wantReply(9, "").in(csm.PhaseListening) // already satisfied
}

func TestSuspendTimeoutFaults(t *testing.T) {
	s := listening(t).say(1).do(csm.Suspend{Reason: csm.SuspendDiagnostics}).wait(59999 * ms).in(csm.PhaseSuspended).wait(1 * ms)
	s.expect("Faulted 1m0.2s suspend.timeout").wait(time.Second).in(csm.PhaseListening).wantEnds("1 failed")
}

// The user's command to stop also counts while the conversation is held, even before it
// could listen.
func TestInterruptWhileSuspended(t *testing.T) {
	s := listening(t).speaking(1).do(csm.UserText{Utterance: 2, Words: 1}, csm.Suspend{Reason: csm.SuspendUser}, csm.UserInterrupt{Call: 1}).wantReply(1, "")
	s.wait(time.Second).do(csm.Resume{Reason: csm.SuspendUser}).in(csm.PhaseListening).wantEnds("1 interrupted").turn(3).wantSent(1, 3)

	s = newScene(t)
	s.took["StartCapture"] = never
	s.do(csm.UserStart{}).wait(time.Second).do(csm.Suspend{Reason: csm.SuspendUser}, csm.UserInterrupt{}, csm.Resume{Reason: csm.SuspendUser})
	s.in(csm.PhasePreparing).do(csm.AudioReady{Instance: 1}).in(csm.PhaseListening)
}

// An onset that arrives after the conversation was held is ignored, since its end will
// not be heard.
func TestOnsetWhileHeldIsStale(t *testing.T) {
	s := listening(t).do(csm.UserSpeak{Ref: 1, Chars: 9}).wait(50 * ms).do(csm.Suspend{Reason: csm.SuspendUser})
	s.say(2).do(csm.Resume{Reason: csm.SuspendUser}).in(csm.PhaseSpeaking).wantSent()
	s.drained().in(csm.PhaseListening).wantSent().wantEnds("1 answered")
}

// Speech that underruns just as it is paused waits for audio again.
func TestUnderrunWhilePausing(t *testing.T) {
	s := listening(t).speaking(1).do(csm.Suspend{Reason: csm.SuspendUser}, csm.SpeechDrained{Gen: 0, Seq: 1})
	if _, dry := s.state().Speech.(speech.Buffering); !dry {
		t.Fatalf("speech is %v", s.state().Speech)
	}
	s.do(csm.Resume{Reason: csm.SuspendUser}).in(csm.PhaseGeneratingResponse)
	s.do(csm.SpeechBuffered{Gen: 0, Seq: 2}).in(csm.PhaseSpeaking).answered().drained().wantEnds("1 answered")
}

func TestExplanationEndsWhileHeld(t *testing.T) {
	s := listening(t).say(1).failed(csm.CodeCopilotFailed).wait(50 * ms).in(csm.PhaseSpeaking)
	s.do(csm.Suspend{Reason: csm.SuspendUser}).drained().do(csm.Resume{Reason: csm.SuspendUser}).in(csm.PhaseListening).wantEnds("1 failed")
}

func TestNextRequestAfterCancelWhileSuspended(t *testing.T) {
	s := listening(t)
	s.took["CancelCopilot"] = time.Second
	s.say(1).do(csm.UserInterrupt{}).say(2).do(csm.Suspend{Reason: csm.SuspendUser}).wait(2 * time.Second).wantSent(1)
	s.do(csm.Resume{Reason: csm.SuspendUser}).in(csm.PhaseAnalysing).wantSent(1, 2)
}
