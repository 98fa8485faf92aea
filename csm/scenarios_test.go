package csm_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/connection"
	"github.com/agentvoice/agentvoice-daemon/csm/speech"
)

// Texts typed during an answer are queued and answered in order, with Listening in between.
func TestQueuedUtterancesAreAnsweredInOrder(t *testing.T) {
	s := listening(t).say(1).wait(1*ms).do(csm.UserText{Call: 2, Utterance: 2, Words: 2}).segment(0, 40)
	s.do(csm.UserText{Call: 3, Utterance: 3, Words: 2}).wait(50 * ms)
	s.in(csm.PhaseSpeaking).do(csm.UserText{Call: 4, Utterance: 4, Words: 2}).wantReply(4, "").wantSent(1)
	for u := uint64(1); u <= 3; u++ {
		at := s.clock.Now()
		s.in(csm.PhaseSpeaking).answered().drained()
		s.expect(fmt.Sprintf("Listening %v tts.complete", at), fmt.Sprintf("Analysing %v queue.next", at))
		s.wait(1*ms).segment(0, 40).wait(50 * ms)
	}
	s.answered().drained().in(csm.PhaseListening).wantSent(1, 2, 3, 4)
	s.wantEnds("1 answered", "2 answered", "3 answered", "4 answered")
	if q := last[csm.PublishQueue](s); q.Waiting != 0 {
		t.Fatalf("%d wait", q.Waiting)
	}
}

func TestFullQueueRejects(t *testing.T) {
	s := listening(t).say(1)
	for u := uint64(2); u <= 9; u++ {
		s.do(csm.UserText{Call: csm.Call(u), Utterance: u, Words: 1}).wantReply(csm.Call(u), "")
	}
	s.do(csm.UserText{Call: 10, Utterance: 10, Words: 1}).wantReply(10, csm.CodeQueueFull)
	if n := last[csm.Notify](s); n.Code != csm.CodeQueueFull {
		t.Fatalf("notified %+v", n)
	}
	s.do(csm.UserInterrupt{}).in(csm.PhaseListening).wait(time.Second).wantSent(1).wantEnds("1 dropped")
}

// After an interruption, queued utterances are answered first, then the one that
// interrupted.
func TestInterruptionKeepsTheOrderOfTheQueue(t *testing.T) {
	s := listening(t).speaking(1).do(csm.UserText{Utterance: 2, Words: 1}).floor(3)
	s.end(3).words(3, csm.Content).wait(20*ms).wantSent(1, 2)
	s.segment(0, 10).wait(50*ms).answered().drained().wait(1*ms).wantSent(1, 2, 3)
}

func TestInterruptionRecordsHeardLength(t *testing.T) {
	for _, c := range []struct {
		name    string
		flushed csm.SpeechFlushed
		want    int
	}{
		{"a third of the second segment", csm.SpeechFlushed{Seq: 2, Played: 16_000, Of: 48_000}, 60},
		{"rounded down", csm.SpeechFlushed{Seq: 2, Played: 47_999, Of: 48_000}, 99},
		{"none of the second", csm.SpeechFlushed{Seq: 2, Played: 0, Of: 48_000}, 40},
		{"more than its length", csm.SpeechFlushed{Seq: 2, Played: 50_000, Of: 48_000}, 100},
		{"of unknown length", csm.SpeechFlushed{Seq: 2, Played: 16_000}, 40},
		{"not confirmed", csm.SpeechFlushed{}, 40},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := listening(t)
			s.took["Flush"] = never
			s.speaking(1).played().do(csm.UserInterrupt{}).in(csm.PhaseInterrupted)
			if c.flushed.Seq != 0 {
				s.do(c.flushed).in(csm.PhaseListening)
			}
			if s.wait(time.Second); s.heard() != c.want {
				t.Errorf("heard %d characters, want %d", s.heard(), c.want)
			}
			s.say(2)
			h := last[csm.SendCopilot](s).History
			if len(h) != 2 || h[0].Utterance != 1 || h[1].Request != 1 || h[1].Heard != c.want {
				t.Errorf("the next request knows %+v", h)
			}
		})
	}
}

// An unconfirmed cancellation delays the next request until its deadline, and no longer.
func TestUnconfirmedCancel(t *testing.T) {
	s := listening(t)
	s.took["CancelCopilot"] = never
	s.speaking(1).begin(2).wait(500*ms).end(2).words(2, csm.Content).expect("Interrupted 251ms user.interrupt", "Listening 501ms interrupt.cleared", "Analysing 751ms stt.final")
	s.wait(1999*ms).wantSent(1).wait(1*ms).wantSent(1, 2).wait(1 * ms).expect("WaitingForCopilot 2.752s copilot.request")
	// The next request gets its full time, although it had to wait.
	s.do(csm.CopilotDone{Request: 1, Cancelled: true}).wait(7998 * ms).expect().wait(1 * ms).expect("Listening 10.751s copilot.timeout")
	if f := last[csm.SendCopilot](s); f.Deadline != 8*time.Second {
		t.Fatalf("sent %+v", f)
	}
}

// The next instance waits for a request that outlived a fault, which does not delay its
// turns.
func TestRequestOutlivesFault(t *testing.T) {
	s := listening(t)
	s.took["CancelCopilot"], s.took["OpenConnection"] = never, 4*time.Second
	s.say(1).wait(1 * ms).do(csm.SessionFailed{Instance: 1, Code: csm.CodeSessionFailed}).wait(3 * time.Second).in(csm.PhasePreparing)
	s.wait(2*time.Second).in(csm.PhaseListening).turn(2).wantSent(1, 2)
	// Its end may arrive while the next instance is opening.
	s = listening(t)
	s.took["CancelCopilot"], s.took["OpenConnection"] = time.Second, 4*time.Second
	s.say(1).wait(1 * ms).do(csm.SessionFailed{Instance: 1, Code: csm.CodeSessionFailed}).wait(1001 * ms).in(csm.PhasePreparing)
	if got := s.state().Copilot; got != (copilot.Ready{}) {
		t.Fatalf("the assistant is %v", got)
	}
}

func TestPartialAnswerThenFailure(t *testing.T) {
	s := listening(t).speaking(1).failed(csm.CodeCopilotUnavailable).expect()
	if n := last[csm.Notify](s); n.Code != csm.CodeCopilotUnavailable || n.Turn != 1 {
		t.Fatalf("notified %+v", n)
	}
	// The received part is played to its end, followed by the explanation.
	s.played().played().wait(50 * ms).in(csm.PhaseSpeaking).drained().in(csm.PhaseListening).wantEnds("1 failed")
	if s.heard() != 100 {
		t.Fatalf("heard %d", s.heard())
	}
	if f := last[csm.Speak](s); f.Segment.Notice != string(csm.CodeCopilotUnavailable) || f.Segment.Seq != 3 {
		t.Fatalf("said %+v", f)
	}
	s.turn(2).wantEnds("1 failed", "2 answered")
}

func TestEmptyAnswerIsExplained(t *testing.T) {
	s := listening(t).say(1).wait(1 * ms).in(csm.PhaseWaitingForCopilot).answered().expect("Listening 201ms copilot.failed")
	if n := last[csm.Notify](s); n.Code != csm.CodeCopilotEmpty {
		t.Fatalf("notified %+v", n)
	}
	s.wait(50 * ms).drained().in(csm.PhaseListening).wantEnds("1 failed")
}

func TestStalledAnswer(t *testing.T) {
	t.Run("with nothing said", func(t *testing.T) {
		s := listening(t).say(1).wait(1 * ms).do(csm.CopilotDelta{Request: 1, Chars: 4}).wait(14 * time.Second)
		s.in(csm.PhaseGeneratingResponse).do(csm.CopilotDelta{Request: 1, Chars: 5}).wait(14999 * ms).expect()
		s.wait(1 * ms).expect("Listening 29.201s copilot.timeout")
	})
	t.Run("in the middle of speech", func(t *testing.T) {
		s := listening(t).speaking(1).played().drained().in(csm.PhaseGeneratingResponse)
		s.segment(100, 140).wait(50 * ms).in(csm.PhaseSpeaking).wait(20 * time.Second).expect()
		s.wait(50 * ms).drained().in(csm.PhaseListening).wantEnds("1 failed")
	})
	if s := listening(t).say(1).wait(1*ms).segment(0, 40).wait(16 * time.Second); last[csm.CancelCopilot](s).Request != 1 ||
		last[csm.Notify](s).Code != csm.CodeCopilotStalled {
		t.Fatal("a stalled request continues")
	}
}

func TestTypedTextIsHandledLikeSpeech(t *testing.T) {
	s := listening(t).do(csm.UserText{Call: 3, Utterance: 9, Words: 2}).expect("Analysing 200ms user.commit").wantSent(9)
	if r, _ := s.reply(3); r.Turn != 1 {
		t.Fatalf("answered %+v", r)
	}
	s.wait(1*ms).segment(0, 10).wait(50 * ms).answered().drained().wantEnds("1 answered")
}

func TestRetrySendsTheLastFailedUtteranceOnce(t *testing.T) {
	s := listening(t).do(csm.UserRetry{Call: 1}).wantReply(1, csm.CodeNothingToRetry)
	s.say(1).failed(csm.CodeCopilotFailed).in(csm.PhaseListening)
	s.do(csm.UserRetry{Call: 2}).wantReply(2, "").wantSent(1, 1).wantEnds("1 failed")
	s.wait(1*ms).segment(0, 10).wait(50 * ms).answered().drained().in(csm.PhaseListening)
	s.do(csm.UserRetry{Call: 3}).wantReply(3, csm.CodeNothingToRetry).wantEnds("1 failed", "2 answered")
}

func TestReadAloudIsASeparateTurn(t *testing.T) {
	s := listening(t).do(csm.UserSpeak{Call: 1, Ref: 77, Chars: 30}).wait(50 * ms).expect("Speaking 250ms tts.bufferReady")
	if f := last[csm.Speak](s); f.Segment.Ref != 77 || f.Turn != 1 {
		t.Fatalf("says %+v", f)
	}
	s.do(csm.UserSpeak{Call: 2, Ref: 78}).wantReply(2, csm.CodeInvalidState)
	s.drained().expect("Listening 250ms tts.complete").wantEnds("1 answered").wantSent()
	if n := len(s.state().History.Said().Items); n != 0 {
		t.Fatalf("%d items of history from what the assistant did not say", n)
	}
	// Text that was played to its end while held counts as answered, too.
	s.do(csm.UserSpeak{Ref: 79, Chars: 3}).wait(50 * ms).do(csm.Suspend{Reason: csm.SuspendUser}).drained()
	s.do(csm.Resume{Reason: csm.SuspendUser}).in(csm.PhaseListening).wantEnds("1 answered", "2 answered")
}

func TestPauseAndContinue(t *testing.T) {
	s := listening(t).speaking(1).answered().do(csm.UserPlayback{Call: 1, Pause: true}).wantReply(1, "").wait(10 * time.Minute)
	if _, ok := s.in(csm.PhaseSpeaking).state().Speech.(speech.Paused); !ok {
		t.Fatalf("speech is %v", s.state().Speech)
	}
	// A suspension in between does not end the pause.
	s.do(csm.SessionRenewal{Instance: 1}).wait(time.Second).do(csm.SessionRenewed{Instance: 1}).in(csm.PhaseSpeaking)
	if n := len(effects[csm.ResumePlayback](s)); n != 0 {
		t.Fatal("the renewal ended the user's pause")
	}
	s.do(csm.UserPlayback{Call: 2}).wantReply(2, "")
	last[csm.ResumePlayback](s)
	s.drained().in(csm.PhaseListening).wantEnds("1 answered")
	s.do(csm.UserPlayback{Call: 3, Pause: true}).wantReply(3, csm.CodeInvalidState)
}

func TestManualCommit(t *testing.T) {
	s := listening(t).do(csm.UserCommit{Call: 1}).wantReply(1, csm.CodeInvalidState)
	s.begin(1).wait(time.Second).do(csm.UserCommit{Call: 2}).wantReply(2, "").expect("Analysing 1.2s user.commit").wantSent()
	if f := last[csm.CommitInput](s); f.Epoch != 1 {
		t.Fatalf("committed %+v", f)
	}
	s.wait(300*ms).words(1, csm.Content).wantSent(1).wait(1 * ms).expect("WaitingForCopilot 1.501s copilot.request")
	// A transcript that never arrives.
	s = listening(t).begin(1).do(csm.UserCommit{}).wait(5999 * ms).in(csm.PhaseAnalysing).wait(1 * ms).expect("Listening 6.2s error")
	if n := last[csm.Notify](s); n.Code != csm.CodeRecognitionTimeout {
		t.Fatalf("notified %+v", n)
	}
}

func TestUtterancesWithoutContent(t *testing.T) {
	for _, class := range []csm.Class{csm.Empty, csm.Backchannel, csm.Stop} {
		listening(t).begin(1).end(1).words(1, class).expect().wantEnds("1 dropped").turn(2).wantSent(2)
	}
	s := listening(t).say(1).wait(1*ms).say(2).begin(3).end(3).words(3, csm.Stop).in(csm.PhaseListening)
	s.wait(time.Second).wantSent(1).wantEnds("1 dropped")
}

func TestLostTranscript(t *testing.T) {
	s := listening(t).begin(1).end(1).do(csm.RecognitionLost{Epoch: 1, Utterance: 1, Code: csm.CodeRecognitionFailed}).expect()
	s.wait(50 * ms).expect("Speaking 250ms tts.bufferReady").drained().wantEnds("1 failed")
	// An utterance without an end is given up, and the user is told.
	s = listening(t).begin(1).wait(30 * time.Minute)
	last[csm.ClearInput](s)
	if n := last[csm.Notify](s); n.Code != csm.CodeUtteranceTooLong {
		t.Fatalf("notified %+v", n)
	}
	s.wait(50 * ms).expect("Speaking 30m0.25s tts.bufferReady").drained().wantEnds("1 failed").turn(2).wantSent(2)
}

// If the user speaks during generation, the answer is held until the words are known. They are
// part of the request, which is asked again.
func TestAnswerIsHeldWhileTheUserSpeaks(t *testing.T) {
	s := listening(t).say(1).wait(1*ms).begin(2).segment(0, 40).wait(time.Second).in(csm.PhaseGeneratingResponse)
	s.end(2).words(2, csm.Content).expect("Analysing 1.201s stt.final").wait(20*ms).in(csm.PhaseWaitingForCopilot).wantSent(1, 1)
	if f := last[csm.SendCopilot](s); !slices.Equal(f.More, []uint64{2}) || len(f.History) != 0 || f.Turn != 1 {
		t.Fatalf("sent %+v", f)
	}
	s.segment(0, 60).wait(50 * ms).answered().drained().wantEnds("1 answered")
}

// "Mm-hm" during generation changes nothing.
func TestBackchannelDuringGeneration(t *testing.T) {
	s := listening(t).say(1).wait(1*ms).begin(2).segment(0, 40).wait(time.Second).in(csm.PhaseGeneratingResponse)
	s.end(2).words(2, csm.Backchannel).expect("Speaking 1.201s tts.bufferReady").answered().drained().wait(1 * ms).wantSent(1)
}

func TestUnderrunContinuesTheTurn(t *testing.T) {
	s := listening(t).say(1).wait(1*ms).segment(0, 40).wait(50 * ms).drained()
	s.in(csm.PhaseGeneratingResponse).segment(40, 60).wait(50 * ms).in(csm.PhaseSpeaking).answered().drained()
	s.expect("Listening 301ms tts.complete").wantEnds("1 answered")
	if s.heard() != 60 {
		t.Fatalf("heard %d", s.heard())
	}
}

func TestFailedSpeechIsShown(t *testing.T) {
	s := listening(t).speaking(1).do(csm.SpeechFailed{Gen: 0, Seq: 2, Code: csm.CodeSpeechMismatch}).expect("Listening 251ms error").wantEnds("1 failed")
	if n := last[csm.Notify](s); n.Code != csm.CodeSpeechMismatch {
		t.Fatalf("notified %+v", n)
	}
	s = listening(t)
	s.took["Speak"] = never
	s.say(1).wait(1*ms).segment(0, 40).answered().wait(29999 * ms).in(csm.PhaseGeneratingResponse).wait(1 * ms).expect("Listening 30.201s error")
	s.took["Speak"] = 50 * ms
	s.turn(2)
}

func TestTerminationWaitsForResources(t *testing.T) {
	s := listening(t).do(csm.UserStop{Call: 1, Code: csm.CodeClientGone}).wantReply(1, "").wait(time.Second)
	s.expect("Terminating 200ms user.stop", "Idle 205ms reset")
	if _, torn := s.state().Conn.(connection.Torn); !torn {
		t.Fatalf("the connection is %v", s.state().Conn)
	}
	s.do(csm.UserStart{}).wait(time.Second).in(csm.PhaseListening).turn(1)
	s.took["CloseAudio"] = never
	s.do(csm.UserStop{}).wait(1499 * ms).in(csm.PhaseTerminating).wait(1 * ms).in(csm.PhaseIdle)
	if s.state().Instance != 2 || len(s.state().History.Said().Items) != 0 {
		t.Fatalf("instance %d ended with the history %v", s.state().Instance, s.state().History.Said().Items)
	}
}
