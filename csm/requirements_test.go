package csm_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/session"
)

// The requirements and acceptance criteria of the specification, by name.

func TestAC001StartLeadsToListeningWithin500ms(t *testing.T) {
	s := newScene(t).do(csm.UserStart{Call: 1}).wantReply(1, "").expect()
	s.wait(time.Second).expect("Preparing 30ms session.ready", "Listening 130ms audio.ready")
}

func TestAC002FinalTranscriptSendsOneRequest(t *testing.T) {
	s := listening(t).begin(7).wait(900 * ms).end(7).wait(200 * ms)
	s.words(7, csm.Content).expect("Analysing 1.3s stt.final")
	f := last[csm.SendCopilot](s)
	if f.Utterance != 7 || f.Turn != 1 || f.Request != 1 || f.Deadline != 8*time.Second {
		t.Fatalf("sent %+v", f)
	}
	s.wait(1*ms).expect("WaitingForCopilot 1.301s copilot.request").words(7, csm.Content).wait(time.Second).wantSent(7)
}

func TestAC003BufferedSpeechLeadsToSpeaking(t *testing.T) {
	s := listening(t).say(1).wait(1 * ms)
	s.in(csm.PhaseWaitingForCopilot).segment(0, 40).expect("GeneratingResponse 201ms copilot.response")
	s.wait(49 * ms).expect().wait(1 * ms).expect("Speaking 251ms tts.bufferReady")
	if got := s.state().Current; got.Role != csm.Assistant || got.ID != 1 {
		t.Fatalf("the turn is %+v", got)
	}
	if f := last[csm.StartPlayback](s); f.Gen != 0 {
		t.Fatalf("playback of generation %d", f.Gen)
	}
}

// An interruption leads to Listening over Interrupted, whether a voice or the user's key
// interrupts. From its onset on nothing is played, and the words of a voice, or the key, end
// the answer.
func TestAC004InterruptionLeadsToListeningWithin400ms(t *testing.T) {
	key := func(s *scene) { s.begin(2).do(csm.UserInterrupt{}) }
	nothing := func(*scene) {}
	for _, c := range []struct {
		name       string
		flush      time.Duration
		over, ends func(*scene) // what interrupts, and what ends the answer
	}{
		{"a voice", 5 * ms, func(s *scene) { s.begin(2) }, func(s *scene) { s.end(2).words(2, csm.Content) }},
		{"a short word that means stop", never, func(s *scene) { s.begin(2).wait(50*ms).end(2).begin(3).words(2, csm.Stop) }, nothing},
		{"the flush is confirmed", 5 * ms, key, nothing},
		{"the flush is never confirmed", never, key, nothing},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := listening(t).speaking(1)
			s.took["Flush"] = c.flush
			at, before := s.clock.Now(), len(s.steps)
			c.over(s)
			s.wait(time.Second)
			var within []csm.Phase
			for _, st := range s.steps[before:] {
				for _, f := range st.Effects {
					if p, ok := f.(csm.PublishState); ok && st.Envelope.At <= at+400*ms {
						within = append(within, p.To)
					}
				}
			}
			n := len(within)
			if n < 2 || within[0] != csm.PhaseInterrupted || within[n-1] != csm.PhaseListening || s.state().Phase() != csm.PhaseListening {
				t.Fatalf("went through %v within 400 ms, and to %v, want Interrupted to Listening", within, s.state().Phase())
			}
			if s.playing() {
				t.Fatal("playback continues")
			}
			c.ends(s)
			s.wantEnds("1 interrupted")
			if f := last[csm.Flush](s); f.Gen != 1 {
				t.Fatalf("flushed up to generation %d", f.Gen)
			}
			if f := last[csm.CancelCopilot](s); f.Request != 1 {
				t.Fatalf("request %d was cancelled", f.Request)
			}
			if cur := s.state().Current; cur.ID != 2 {
				t.Fatalf("the user who interrupted has turn %d", cur.ID)
			}
		})
	}
}

func TestAC005RenewalKeepsTheTurnAndReturns(t *testing.T) {
	s := listening(t).speaking(1)
	before := s.state().Current
	s.do(csm.SessionRenewal{Instance: 1}).expect("Suspended 251ms session.renewal")
	last[csm.HoldCapture](s)
	last[csm.PausePlayback](s)
	s.wait(3 * time.Second).do(csm.SessionRenewed{Instance: 1}).expect("Speaking 3.251s session.resume")
	last[csm.ReleaseCapture](s)
	last[csm.ResumePlayback](s)
	if got := s.state().Current; !reflect.DeepEqual(got, before) {
		t.Fatalf("the turn became %+v, was %+v", got, before)
	}
	s.answered().drained().in(csm.PhaseListening).wantSent(1).wantEnds("1 answered")
}

func TestAC006AuthenticationFailureExplainsAndTerminates(t *testing.T) {
	s := listening(t).say(1).do(csm.SessionFailed{Instance: 1, Code: csm.CodeAuthentication})
	s.expect("Analysing 200ms stt.final", "Faulted 200ms error", "Terminating 200ms fatal")
	if f := last[csm.PublishError](s); f.Code != csm.CodeAuthentication || !f.Fatal {
		t.Fatalf("published %+v", f)
	}
	s.wait(time.Second).expect("Idle 210ms reset").wantEnds("1 failed")
}

func TestAC007RapidTurnsAreOrderedWithListeningBetween(t *testing.T) {
	s := listening(t)
	for u := uint64(1); u <= 5; u++ {
		s.turn(u)
	}
	s.wantSent(1, 2, 3, 4, 5).wantEnds("1 answered", "2 answered", "3 answered", "4 answered", "5 answered")
	var path []csm.Phase
	for _, p := range effects[csm.PublishState](s) {
		path = append(path, p.To)
	}
	once := []csm.Phase{csm.PhaseAnalysing, csm.PhaseWaitingForCopilot, csm.PhaseGeneratingResponse, csm.PhaseSpeaking, csm.PhaseListening}
	want := []csm.Phase{csm.PhasePreparing, csm.PhaseListening}
	for range 5 {
		want = append(want, once...)
	}
	if !slices.Equal(path, want) {
		t.Fatalf("went through %v", path)
	}
}

func TestAC008TimeoutExplainsAndListens(t *testing.T) {
	s := listening(t).say(1).wait(1 * ms).in(csm.PhaseWaitingForCopilot)
	s.wait(7998 * ms).expect().wait(1 * ms).expect("Listening 8.2s copilot.timeout")
	if n := last[csm.Notify](s); n.Code != csm.CodeCopilotTimeout || n.Turn != 1 {
		t.Fatalf("notified %+v", n)
	}
	if f := last[csm.Speak](s); f.Segment.Notice != string(csm.CodeCopilotTimeout) {
		t.Fatalf("says %+v", f)
	}
	s.wait(50 * ms).expect("Speaking 8.25s tts.bufferReady").drained().in(csm.PhaseListening).wantEnds("1 failed")
	s.do(csm.UserRetry{Call: 5}).wantReply(5, "").in(csm.PhaseAnalysing).wantSent(1, 1)
	if r := s.request(); r != 2 {
		t.Fatalf("the retry is request %d", r)
	}
}

// REQ-001: "the following primary states: Idle, Preparing, Listening, Processing,
// WaitingForCopilot, Speaking, Interrupted, Suspended, Faulted, and Terminating". They
// are the wire names of all phases, and the table reaches each of them.
func TestREQ001ThereAreTenPrimaryStates(t *testing.T) {
	want := []string{"faulted", "idle", "interrupted", "listening", "preparing", "processing", "speaking", "suspended", "terminating", "waitingForCopilot"}
	entered := []csm.Phase{csm.PhaseSuspended} // by a hold, not by the table
	for _, row := range csm.Table() {
		if row.To < csm.NumPhases {
			entered = append(entered, row.To)
		}
	}
	var names []string
	for _, p := range entered {
		name, _ := p.Wire()
		names = append(names, name)
	}
	slices.Sort(names)
	if got := slices.Compact(names); !slices.Equal(got, want) {
		t.Errorf("the states are %q, want %q", got, want)
	}
	// PAT-001: Processing.WaitingForCopilot and Processing.GeneratingResponse.
	for p := range csm.NumPhases {
		inside := p == csm.PhaseProcessing || p == csm.PhaseAnalysing || p == csm.PhaseWaitingForCopilot || p == csm.PhaseGeneratingResponse
		if p.In(csm.PhaseProcessing) != inside {
			t.Errorf("%v is inside of Processing: %v, want %v", p, !inside, inside)
		}
	}
}

func TestREQ002PreparingNeedsSessionAndDevices(t *testing.T) {
	for _, c := range []struct {
		late, other string
	}{{"ActivateSession", "OpenAudio"}, {"OpenAudio", "ActivateSession"}} {
		s := newScene(t)
		s.took[c.late] = 4 * time.Second
		s.do(csm.UserStart{}).wait(3999 * ms).expect()
		if len(effects[csm.OpenConnection](s)) > 0 || len(effects[csm.StartCapture](s)) > 0 {
			t.Errorf("%s alone was enough to dial or to capture", c.other)
		}
		s.wait(1 * ms).expect("Preparing 4s session.ready")
	}
}

func TestREQ003ListeningNeedsCaptureAndRecognition(t *testing.T) {
	for _, late := range []string{"StartCapture", "OpenConnection"} {
		s := newScene(t)
		s.took[late] = 4 * time.Second
		s.do(csm.UserStart{}).wait(4029 * ms).expect("Preparing 30ms session.ready").wait(1 * ms).expect("Listening 4.03s audio.ready")
	}
}

func TestREQ006NothingIsSpeakingBeforeAudioIsBuffered(t *testing.T) {
	s := listening(t)
	s.took["Speak"] = never
	s.say(1).wait(1*ms).segment(0, 40).segment(40, 80).answered().wait(29 * time.Second)
	s.in(csm.PhaseGeneratingResponse)
	if n := len(effects[csm.StartPlayback](s)); n != 0 {
		t.Fatalf("playback was started %d times", n)
	}
	s.do(csm.SpeechBuffered{Gen: 0, Seq: 1}).in(csm.PhaseSpeaking)
}

// REQ-007: "within 150 ms": the step of the onset pauses playback, and nothing more is played
// until the words are known. Those that mean something end it, and the flush precedes all
// other effects of that step.
func TestREQ007InterruptionIsInTheStepOfTheOnset(t *testing.T) {
	for _, c := range []struct {
		name string
		wait time.Duration
		said csm.Class
		from csm.Phase // in which the words arrive: those of a short voice follow the rest of the answer
	}{{"a message", 500 * ms, csm.Content, csm.PhaseListening}, {"a short stop", 100 * ms, csm.Stop, csm.PhaseSpeaking}} {
		t.Run(c.name, func(t *testing.T) {
			s := listening(t).speaking(1)
			at := s.clock.Now()
			s.begin(2).in(csm.PhaseInterrupted)
			last[csm.PausePlayback](s)
			if step := s.steps[len(s.steps)-1]; step.Envelope.At != at || s.playing() {
				t.Fatalf("the onset at %v led to %v at %v, playing: %v", at, step.State.Phase(), step.Envelope.At, s.playing())
			}
			if s.wait(c.wait); s.playing() {
				t.Fatal("playback continues")
			}
			s.end(2).in(c.from).words(2, c.said)
			step := s.steps[len(s.steps)-1]
			if _, ok := step.Effects[0].(csm.Flush); !ok || s.playing() {
				t.Fatalf("the first effect of the words is %s, want the flush", csm.NameOf(step.Effects[0]))
			}
			s.wantEnds("1 interrupted")
		})
	}
}

func TestREQ008SuspensionHoldsDeadlinesStill(t *testing.T) {
	s := listening(t).say(1).wait(1 * ms).in(csm.PhaseWaitingForCopilot).wait(2999 * ms)
	s.do(csm.Suspend{Reason: csm.SuspendDiagnostics}).wait(40 * time.Second)
	s.expect("Suspended 3.2s session.renewal")
	s.do(csm.Resume{Reason: csm.SuspendDiagnostics}).expect("WaitingForCopilot 43.2s session.resume")
	s.wait(4999 * ms).expect().wait(1 * ms).expect("Listening 48.2s copilot.timeout")
	s.wantSent(1)
}

func TestREQ009FaultsRecoverOrTerminate(t *testing.T) {
	t.Run("recoverable", func(t *testing.T) {
		s := listening(t).do(csm.SessionFailed{Instance: 1, Code: csm.CodeSessionFailed})
		s.expect("Faulted 200ms error").wait(time.Second)
		s.expect("Preparing 730ms session.ready", "Listening 830ms audio.ready").turn(1).wantSent(1)
	})
	t.Run("fatal", func(t *testing.T) {
		s := listening(t).do(csm.AudioFailed{Instance: 1, Code: csm.CodeMicrophoneDenied})
		s.expect("Faulted 200ms error", "Terminating 200ms fatal").wait(time.Second).expect("Idle 205ms reset")
	})
	t.Run("fatal after too many", func(t *testing.T) {
		s := newScene(t)
		s.took["ActivateSession"] = never
		s.do(csm.UserStart{})
		for n := uint32(1); n <= 4; n++ {
			s.do(csm.SessionFailed{Instance: n, Code: csm.CodeSessionFailed}, csm.UserStart{}).in(csm.PhaseFaulted)
		}
		s.do(csm.SessionFailed{Instance: 5, Code: csm.CodeSessionFailed}).wait(time.Second).in(csm.PhaseIdle)
		if f := last[csm.PublishError](s); !f.Fatal {
			t.Fatalf("published %+v", f)
		}
	})
}

func TestREQ010TransitionsNameTheEventThatCausedThem(t *testing.T) {
	s := listening(t).turn(1).speaking(2).floor(3).end(3).words(3, csm.Empty).do(csm.UserStop{}).wait(time.Second)
	n := 0
	for _, st := range s.steps {
		for _, f := range st.Effects {
			p, ok := f.(csm.PublishState)
			if !ok {
				continue
			}
			n++
			if p.Seq != st.Envelope.Seq || !slices.Contains(csm.Causes, p.Cause) || p.From != st.Before || p.To != st.State.Phase() {
				t.Errorf("event %d: %+v", st.Envelope.Seq, p)
			}
		}
	}
	if n != 16 {
		t.Errorf("%d transitions: %v", n, s.transitions())
	}
}

// 003, transition: a change that the guard map forbids "is rejected". In production, the
// session does not change, the rejection is counted for diagnostics/report, and a
// verified core reports it.
func TestRejectedSessionStatus(t *testing.T) {
	s := listening(t).state()
	s.Session = session.Activating // no turn can start here
	e := csm.Envelope{Seq: 99, At: time.Second, Event: csm.UserText{Utterance: 9, Words: 1}}
	after, fx := csm.Step(s, e)
	if after.Session != session.Activating || after.Counters.Rejected != s.Counters.Rejected+1 {
		t.Errorf("the session is %v, and %d rejections are counted", after.Session, after.Counters.Rejected)
	}
	if err := csm.CheckStep(s, e, after, fx); err == nil || !strings.Contains(err.Error(), "guard map") {
		t.Errorf("verifying says %v", err)
	}
}

// 003, resetTurnState: "clears all turn-specific refs back to their initial values". A
// new turn has only its number, time and configuration, whatever state the previous one
// was left in.
func TestTurnStartsWithEmptyContext(t *testing.T) {
	s := listening(t).speaking(1)
	s.do(csm.CopilotSent{Request: 1, Attempt: 3}).floor(2).end(2).words(2, csm.Content).wait(11 * ms)
	s.do(csm.CopilotSent{Request: 2, Attempt: 2}).failed(csm.CodeCopilotQuota).wait(50 * ms).drained().say(3)
	opened := map[uint64]bool{}
	for _, st := range s.steps {
		for _, f := range st.Effects {
			p, ok := f.(csm.PublishTurn)
			if !ok || opened[p.Turn.ID] {
				continue
			}
			opened[p.Turn.ID] = true
			if want := (csm.Turn{ID: p.Turn.ID, Opened: st.Envelope.At, Config: s.state().Config}); !reflect.DeepEqual(p.Turn, want) {
				t.Errorf("a turn begins as %+v, want %+v", p.Turn, want)
			}
		}
		if cur := st.State.Current; cur.ID == 0 && !reflect.DeepEqual(cur, csm.Turn{}) {
			t.Errorf("between two turns there is %+v", cur)
		}
	}
	if len(opened) != 3 {
		t.Errorf("%d turns were opened", len(opened))
	}
}

func TestINT001StartWaitsForTheSessionAndRenewalHoldsIt(t *testing.T) {
	s := newScene(t)
	s.took["ActivateSession"] = never
	s.do(csm.UserStart{}).wait(9999 * ms).expect().wait(1 * ms).expect("Faulted 10s error")
	if f := last[csm.PublishError](s); f.Code != csm.CodeStartTimeout {
		t.Fatalf("published %+v", f)
	}
	s = listening(t).do(csm.SessionRenewal{Instance: 1}).in(csm.PhaseSuspended)
	s.say(1).do(csm.UserText{Call: 9, Utterance: 2, Words: 1}).wantSent().do(csm.SessionRenewed{Instance: 1}).in(csm.PhaseAnalysing)
}

func TestINT005OneRequestForEachUtterance(t *testing.T) {
	s := listening(t)
	s.twice = true
	s.say(1).wait(1*ms).segment(0, 40).wait(50 * ms).answered().drained().in(csm.PhaseListening)
	s.say(2).wait(1 * ms).do(csm.ConnLost{Epoch: 1, Code: csm.CodeConnectionLost}).wait(200 * ms)
	s.segment(0, 10).wait(50*ms).answered().drained().in(csm.PhaseListening).wantSent(1, 2)
	if got := len(effects[csm.Speak](s)); got != 2 {
		t.Fatalf("%d segments were spoken, want 2", got)
	}
}

func TestCON002SecondStartIsRefused(t *testing.T) {
	s := newScene(t).do(csm.UserStart{Call: 1}, csm.UserStart{Call: 2}).wantReply(1, "").wantReply(2, csm.CodeConversationActive)
	call := csm.Call(2)
	refused := func() {
		t.Helper()
		call++
		s.do(csm.UserStart{Call: call}).wantReply(call, csm.CodeConversationActive)
	}
	s.wait(30 * ms).in(csm.PhasePreparing)
	refused()
	s.wait(100 * ms).in(csm.PhaseListening)
	refused()
	s.say(1)
	refused()
	s.wait(1 * ms)
	refused()
	s.segment(0, 40)
	refused()
	s.wait(50 * ms).in(csm.PhaseSpeaking)
	refused()
	s.begin(2).in(csm.PhaseInterrupted)
	refused()
	s.do(csm.Suspend{Reason: csm.SuspendUser}).in(csm.PhaseSuspended)
	refused()
	if n := s.state().Instance; n != 1 {
		t.Fatalf("instance %d", n)
	}
}

// GUD-004: if everything is reported twice, the transitions, their times and the requests
// are the same.
func TestGUD004RepeatedEventsChangeNothing(t *testing.T) {
	run := func(twice bool) *scene {
		s := newScene(t)
		s.twice = twice
		s.do(csm.UserStart{}).wait(200 * ms).turn(1)
		s.speaking(2).played().floor(3).end(3).words(3, csm.Content).wait(20*ms).segment(0, 10).wait(50 * ms)
		s.do(csm.AudioLost{Instance: 1}).wait(100 * ms).do(csm.AudioRestored{Instance: 1}).in(csm.PhaseSpeaking)
		s.do(csm.ConnLost{Epoch: 1, Code: csm.CodeConnectionLost}).wait(200 * ms).in(csm.PhaseSpeaking)
		s.answered().drained().in(csm.PhaseListening)
		s.begin(4).do(csm.UserCommit{}).end(4).words(4, csm.Content).wait(1 * ms).failed(csm.CodeCopilotQuota).wait(50 * ms).drained()
		return s.do(csm.UserRetry{}).wait(1*ms).do(csm.UserInterrupt{}, csm.UserStop{}).wait(time.Second).in(csm.PhaseIdle)
	}
	once, twice := run(false), run(true)
	if a, b := once.transitions(), twice.transitions(); !slices.Equal(a, b) {
		t.Errorf("transitions differ:\n%v\n%v", a, b)
	}
	if a, b := requests(once), requests(twice); !slices.Equal(a, b) {
		t.Errorf("requests differ:\n%q\n%q", a, b)
	}
	if a, b := once.ends(), twice.ends(); !slices.Equal(a, b) {
		t.Errorf("turns differ: %q, %q", a, b)
	}
}

// requests are the effects that request something from the world.
func requests(s *scene) []string {
	var out []string
	for _, st := range s.steps {
		for _, f := range st.Effects {
			if _, answers := s.took[csm.NameOf(f)]; answers {
				out = append(out, fmt.Sprintf("%s %+v", csm.NameOf(f), f))
			}
		}
	}
	return out
}

// PAT-004: three faults in a minute open the breaker, which passing through Preparing
// does not reset. It stays Faulted until it has cooled down or the user starts.
func TestPAT004BreakerOpensAfterThreeFaultsInAMinute(t *testing.T) {
	tripped := func(t *testing.T) *scene {
		s := listening(t)
		s.do(csm.SessionFailed{Instance: 1, Code: csm.CodeSessionFailed}).wait(19800 * ms).in(csm.PhaseListening)
		s.do(csm.SessionFailed{Instance: 2, Code: csm.CodeSessionFailed}).wait(20 * time.Second).in(csm.PhaseListening)
		return s.do(csm.SessionFailed{Instance: 3, Code: csm.CodeSessionFailed}).expect("Faulted 40s breaker.open")
	}
	t.Run("cools down", func(t *testing.T) {
		s := tripped(t)
		if n := last[csm.Notify](s); n.Code != csm.CodeBreakerOpen {
			t.Fatalf("notified %+v", n)
		}
		s.wait(29999*ms).expect().wait(200*ms).expect("Preparing 1m10.03s session.ready", "Listening 1m10.13s audio.ready")
	})
	t.Run("explicit start", func(t *testing.T) {
		s := tripped(t).wait(5*time.Second).expect().do(csm.UserStart{Call: 3}).wantReply(3, "")
		s.wait(200*ms).expect("Preparing 45.03s session.ready", "Listening 45.13s audio.ready")
	})
	t.Run("slower faults do not open it", func(t *testing.T) {
		s := listening(t)
		for n := uint32(1); n <= 4; n++ {
			s.do(csm.SessionFailed{Instance: n, Code: csm.CodeSessionFailed})
			if s.state().Cause != csm.CauseError {
				t.Fatalf("fault %d: %v", n, s.state().Cause)
			}
			s.wait(31 * time.Second).in(csm.PhaseListening)
		}
	})
}

func TestPER004TimeoutIsConfigurableAndCoversRetries(t *testing.T) {
	s := newScene(t)
	cfg := csm.DefaultConfig()
	cfg.CopilotTimeout = 3 * time.Second
	s.do(csm.Configure{Config: cfg}, csm.UserStart{}).wait(200 * ms).say(1).wait(time.Second).in(csm.PhaseWaitingForCopilot)
	if f := last[csm.SendCopilot](s); f.Deadline != 3*time.Second {
		t.Fatalf("sent %+v", f)
	}
	// Running requests keep the configuration they started with.
	s.do(csm.Configure{Config: csm.DefaultConfig()}, csm.CopilotSent{Request: 1, Attempt: 2}).wait(time.Second)
	s.do(csm.CopilotSent{Request: 1, Attempt: 3}, csm.CopilotSent{Request: 1, Attempt: 2}).wait(999 * ms).expect().wait(1 * ms).expect("Listening 3.2s copilot.timeout")
	if n := s.state().Current.Attempt; n != 3 {
		t.Fatalf("attempt %d", n)
	}
	s.wait(50 * ms).drained().say(2)
	if f := last[csm.SendCopilot](s); f.Deadline != 8*time.Second {
		t.Fatalf("sent %+v after the change", f)
	}
}
