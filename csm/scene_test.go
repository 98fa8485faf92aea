package csm_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
	"github.com/agentvoice/agentvoice-daemon/csm/speech"
	"github.com/agentvoice/agentvoice-daemon/csm/world"
)

const ms = time.Millisecond

// scene is a conversation in virtual time whose world answers each request after a fixed
// delay. Times in expectations are exact.
type scene struct {
	t     testing.TB
	clock *dispatch.Virtual
	loop  *dispatch.Loop
	steps []dispatch.Step
	took  map[string]time.Duration // by effect; never for no answer
	voice map[uint64]bool          // utterances that were started
	twice bool                     // report everything twice
	seen  int                      // transitions that expect has already checked
}

const never = time.Duration(-1)

func newScene(t testing.TB) *scene {
	s := &scene{t: t, clock: &dispatch.Virtual{}, took: map[string]time.Duration{
		"ActivateSession": 20 * ms, "OpenAudio": 30 * ms, "StartCapture": 10 * ms, "OpenConnection": 100 * ms,
		"DeactivateSession": 5 * ms, "CloseAudio": 5 * ms, "CloseConnection": 5 * ms,
		"SendCopilot": 1 * ms, "CancelCopilot": 10 * ms, "Speak": 50 * ms, "Flush": 5 * ms,
	}}
	s.loop = dispatch.New(dispatch.Config{Clock: s.clock, Execute: s.execute, Verify: true})
	return s
}

func (s *scene) execute(st dispatch.Step) {
	s.steps = append(s.steps, st)
	for _, f := range st.Effects {
		if r, ok := f.(csm.Report); ok {
			s.t.Fatalf("after %v at %v: %s", csm.KindOf(st.Envelope.Event), s.clock.Now(), r.What)
		}
		// Reports after the first answer are up to the test.
		if took, answers := s.took[csm.NameOf(f)]; answers && took != never {
			s.clock.AfterFunc(took, func() { s.post(world.Reaction(f)) })
		}
	}
}

func (s *scene) post(e csm.Event) {
	s.loop.Post(e)
	if s.twice {
		s.loop.Post(e)
	}
}

// do posts events and processes everything that follows immediately.
func (s *scene) do(events ...csm.Event) *scene {
	s.t.Helper()
	for _, e := range events {
		s.post(e)
		s.loop.Drain()
	}
	return s
}

func (s *scene) wait(d time.Duration) *scene {
	s.t.Helper()
	s.clock.Advance(d, s.loop.Drain)
	return s
}

func (s *scene) state() csm.State { return s.loop.State() }
func (s *scene) epoch() uint32    { return s.state().IDs.Epoch }
func (s *scene) request() uint64  { return s.state().IDs.Request }

// transitions returns all transitions, as "Listening 130ms audio.ready".
func (s *scene) transitions() []string {
	var out []string
	for _, st := range s.steps {
		for _, f := range st.Effects {
			if p, ok := f.(csm.PublishState); ok {
				out = append(out, fmt.Sprintf("%v %v %s", p.To, st.Envelope.At, p.Cause))
			}
		}
	}
	return out
}

// expect checks the transitions since the last expect.
func (s *scene) expect(want ...string) *scene {
	s.t.Helper()
	all := s.transitions()
	if got := all[s.seen:]; !slices.Equal(got, want) {
		s.t.Fatalf("transitions:\n  got  %s\n  want %s", strings.Join(got, ", "), strings.Join(want, ", "))
	}
	s.seen = len(all)
	return s
}

// in checks the phase.
func (s *scene) in(p csm.Phase) *scene {
	s.t.Helper()
	if got := s.state().Phase(); got != p {
		s.t.Fatalf("in %v at %v, want %v; %v", got, s.clock.Now(), p, s.transitions())
	}
	s.seen = len(s.transitions())
	return s
}

// playing says whether the player was last told to play.
func (s *scene) playing() (on bool) {
	for _, st := range s.steps {
		for _, f := range st.Effects {
			switch f.(type) {
			case csm.StartPlayback, csm.ResumePlayback:
				on = true
			case csm.PausePlayback, csm.Flush:
				on = false
			}
		}
	}
	return on
}

// effects returns all effects of type E.
func effects[E csm.Effect](s *scene) []E {
	var out []E
	for _, st := range s.steps {
		for _, f := range st.Effects {
			if e, ok := f.(E); ok {
				out = append(out, e)
			}
		}
	}
	return out
}

// last returns the last effect of type E.
func last[E csm.Effect](s *scene) E {
	s.t.Helper()
	all := effects[E](s)
	if len(all) == 0 {
		var none E
		s.t.Fatalf("no %s", csm.NameOf(none))
	}
	return all[len(all)-1]
}

// listening is a conversation that starts at 0 and is listening at 130 ms.
func listening(t *testing.T) *scene {
	t.Helper()
	return newScene(t).do(csm.UserStart{}).wait(200 * ms).in(csm.PhaseListening)
}

// pos is the position of the microphone: samples at 48 kHz since the start.
func (s *scene) pos() int64 { return s.clock.Now().Milliseconds() * 48 }

// begin posts an onset, end its end, say a complete utterance with words.
func (s *scene) begin(u uint64) *scene {
	s.t.Helper()
	return s.do(csm.SpeechStarted{Epoch: s.epoch(), Utterance: u, Pos: s.pos()})
}

func (s *scene) end(u uint64) *scene {
	s.t.Helper()
	return s.do(csm.SpeechStopped{Epoch: s.epoch(), Utterance: u, Pos: s.pos()})
}

// floor has the user speak over the assistant until the barge-in is confirmed.
func (s *scene) floor(u uint64) *scene {
	s.t.Helper()
	return s.begin(u).in(csm.PhaseInterrupted).wait(250 * ms).in(csm.PhaseListening)
}

func (s *scene) words(u uint64, class csm.Class) *scene {
	s.t.Helper()
	return s.do(csm.Final{Epoch: s.epoch(), Utterance: u, Words: 3, Class: class})
}

func (s *scene) say(u uint64) *scene {
	s.t.Helper()
	return s.begin(u).end(u).words(u, csm.Content)
}

// segment posts a sign of the answer and a piece of it.
func (s *scene) segment(from, to int) *scene {
	s.t.Helper()
	return s.do(csm.CopilotDelta{Request: s.request(), Chars: to}, csm.CopilotSegment{Request: s.request(), Start: from, End: to})
}

func (s *scene) answered() *scene {
	s.t.Helper()
	return s.do(csm.CopilotDone{Request: s.request()})
}

func (s *scene) failed(code csm.Code) *scene {
	s.t.Helper()
	return s.do(csm.CopilotDone{Request: s.request(), Code: code})
}

// played reports that the next segment was played, drained that all were.
func (s *scene) played() *scene {
	s.t.Helper()
	l, _ := speech.LineOf(s.state().Speech)
	return s.do(csm.SpeechPlayed{Gen: l.Gen, Seq: l.Segments[l.Played].Seq})
}

func (s *scene) drained() *scene {
	s.t.Helper()
	return s.do(csm.SpeechDrained{Gen: s.state().Speech.Generation(), Seq: s.state().IDs.Segment})
}

// speaking has utterance u answered with 100 characters in two segments, the first of
// which is audible.
func (s *scene) speaking(u uint64) *scene {
	s.t.Helper()
	return s.say(u).wait(1*ms).segment(0, 40).segment(40, 100).wait(50 * ms).in(csm.PhaseSpeaking)
}

// turn runs a complete turn.
func (s *scene) turn(u uint64) *scene {
	s.t.Helper()
	return s.speaking(u).answered().wait(10 * ms).drained().in(csm.PhaseListening)
}

// ends returns how turns ended, as "1 answered".
func (s *scene) ends() []string {
	var out []string
	for _, p := range effects[csm.PublishTurn](s) {
		if p.End != "" {
			out = append(out, fmt.Sprint(p.Turn.ID, " ", p.End))
		}
	}
	return out
}

func (s *scene) wantEnds(want ...string) *scene {
	s.t.Helper()
	if got := s.ends(); !slices.Equal(got, want) {
		s.t.Fatalf("turns ended %q, want %q", got, want)
	}
	return s
}

// sent returns the utterances that were sent to the assistant, in order.
func (s *scene) sent() []uint64 {
	var out []uint64
	for _, f := range effects[csm.SendCopilot](s) {
		out = append(out, f.Utterance)
	}
	return out
}

func (s *scene) wantSent(want ...uint64) *scene {
	s.t.Helper()
	if got := s.sent(); !slices.Equal(got, want) {
		s.t.Fatalf("sent utterances %v, want %v", got, want)
	}
	return s
}

// reply returns the reply to a call, if any.
func (s *scene) reply(c csm.Call) (csm.Reply, bool) {
	for _, r := range effects[csm.Reply](s) {
		if r.Call == c {
			return r, true
		}
	}
	return csm.Reply{}, false
}

// wantReply checks that call c was replied to with code.
func (s *scene) wantReply(c csm.Call, code csm.Code) *scene {
	s.t.Helper()
	if r, ok := s.reply(c); !ok || r.Code != code {
		s.t.Fatalf("call %d was answered: %v, with %q; want %q", c, ok, r.Code, code)
	}
	return s
}

// heard is the recorded heard length of the last answer.
func (s *scene) heard() int {
	items := s.state().History.Said().Items
	if len(items) == 0 {
		return 0
	}
	return items[len(items)-1].Heard
}
