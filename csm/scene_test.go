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

// scene is a conversation on virtual time in a world that answers each request
// after a fixed time. Times in expectations are exact.
type scene struct {
	t     testing.TB
	clock *dispatch.Virtual
	loop  *dispatch.Loop
	steps []dispatch.Step
	took  map[string]time.Duration // by effect; never for no answer
	voice map[uint64]bool          // utterances that were begun
	twice bool                     // everything is reported twice
	seen  int                      // transitions that were expected already
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
		// What comes after the first answer is the test's.
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

// do posts events and lets everything that comes of them at once happen.
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

// transitions are all that happened, as "Listening 130ms audio.ready".
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

// expect compares the transitions since the last expect.
func (s *scene) expect(want ...string) *scene {
	s.t.Helper()
	all := s.transitions()
	if got := all[s.seen:]; !slices.Equal(got, want) {
		s.t.Fatalf("transitions:\n  got  %s\n  want %s", strings.Join(got, ", "), strings.Join(want, ", "))
	}
	s.seen = len(all)
	return s
}

// in expects a phase, whatever led there.
func (s *scene) in(p csm.Phase) *scene {
	s.t.Helper()
	if got := s.state().Phase(); got != p {
		s.t.Fatalf("in %v at %v, want %v; %v", got, s.clock.Now(), p, s.transitions())
	}
	s.seen = len(s.transitions())
	return s
}

// effects are all of type E that were asked for.
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

// last is the last effect of type E.
func last[E csm.Effect](s *scene) E {
	s.t.Helper()
	all := effects[E](s)
	if len(all) == 0 {
		var none E
		s.t.Fatalf("there was no %s", csm.NameOf(none))
	}
	return all[len(all)-1]
}

// listening is a conversation that began at 0 and listens at 130 ms.
func listening(t *testing.T) *scene {
	t.Helper()
	return newScene(t).do(csm.UserStart{}).wait(200 * ms).in(csm.PhaseListening)
}

// begin is an onset, end its end, say a whole utterance with words.
func (s *scene) begin(u uint64) *scene {
	s.t.Helper()
	return s.do(csm.SpeechStarted{Epoch: s.epoch(), Utterance: u, Pos: int64(u) * 1000})
}

func (s *scene) end(u uint64) *scene {
	s.t.Helper()
	return s.do(csm.SpeechStopped{Epoch: s.epoch(), Utterance: u, Pos: int64(u)*1000 + 500})
}

func (s *scene) words(u uint64, class csm.Class) *scene {
	s.t.Helper()
	return s.do(csm.Final{Epoch: s.epoch(), Utterance: u, Words: 3, Class: class})
}

func (s *scene) say(u uint64) *scene {
	s.t.Helper()
	return s.begin(u).end(u).words(u, csm.Content)
}

// segment is a sign of life and a piece of the answer.
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

// played reports the next segment heard, drained all that was said.
func (s *scene) played() *scene {
	s.t.Helper()
	l, _ := speech.LineOf(s.state().Speech)
	return s.do(csm.SpeechPlayed{Gen: l.Gen, Seq: l.Segments[l.Played].Seq})
}

func (s *scene) drained() *scene {
	s.t.Helper()
	return s.do(csm.SpeechDrained{Gen: s.state().Speech.Generation(), Seq: s.state().IDs.Segment})
}

// speaking has utterance u answered by 100 characters in two segments, of which
// the first is audible.
func (s *scene) speaking(u uint64) *scene {
	s.t.Helper()
	return s.say(u).wait(1*ms).segment(0, 40).segment(40, 100).wait(50 * ms).in(csm.PhaseSpeaking)
}

// turn is a whole turn.
func (s *scene) turn(u uint64) *scene {
	s.t.Helper()
	return s.speaking(u).answered().wait(10 * ms).drained().in(csm.PhaseListening)
}

// ends are how turns ended, as "1 answered".
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

// sent are the utterances that were handed to the assistant, in order.
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

// reply is the answer to a call, and whether there was one.
func (s *scene) reply(c csm.Call) (csm.Reply, bool) {
	for _, r := range effects[csm.Reply](s) {
		if r.Call == c {
			return r, true
		}
	}
	return csm.Reply{}, false
}

// wantReply expects call c to have been answered with code.
func (s *scene) wantReply(c csm.Call, code csm.Code) *scene {
	s.t.Helper()
	if r, ok := s.reply(c); !ok || r.Code != code {
		s.t.Fatalf("call %d was answered: %v, with %q; want %q", c, ok, r.Code, code)
	}
	return s
}

// heard is how much of the last answer is remembered to have been heard.
func (s *scene) heard() int {
	items := s.state().History.Said().Items
	if len(items) == 0 {
		return 0
	}
	return items[len(items)-1].Heard
}
