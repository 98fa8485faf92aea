//go:build cgo

package live

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/engine"
	"github.com/agentvoice/agentvoice-daemon/audio/hearing"
	"github.com/agentvoice/agentvoice-daemon/audio/hearing/moonshine"
	"github.com/agentvoice/agentvoice-daemon/audio/realtime"
	"github.com/agentvoice/agentvoice-daemon/audio/vad"
	"github.com/agentvoice/agentvoice-daemon/audio/wavio"
	phrases "github.com/agentvoice/agentvoice-daemon/copilot/spoken"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/internal/assets"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// question is a call to a service while a question is open, with a model beside it.
type question struct {
	w        *World
	c        *call
	b        *backlog
	expected [][]string
	next     int64     // captured position
	silent   time.Time // when the last voice ended
	log      []string

	// The model.
	none           bool // not installed
	takes          time.Duration
	fails          error
	loaded, closed atomic.Int32
	written        []int16 // the audio of the last sound
	samples        []int   // of each sound
	groups         [][]string
}

func newQuestion(t *testing.T) *question {
	q := &question{b: &backlog{}, expected: [][]string{{"Yes."}, {"No."}}, takes: 100 * time.Millisecond}
	set := protocol.DefaultSettings()
	set.Provider = protocol.ProviderOpenAI
	q.w = &World{
		cfg: Config{Speed: 1, Log: zerolog.Nop(), Comparer: func(_ SpeechChoice, local bool) hearing.Factory {
			if local {
				t.Error("a service is taken for the local engines")
			}
			if q.none {
				return nil
			}
			return func() (hearing.Recognizer, error) { q.loaded.Add(1); return &besideModel{q}, nil }
		}},
		port: daemon.Port{
			Post: func(csm.Event) {}, NewUtterance: ids(),
			Settings: func() protocol.Settings { return set },
			Language: func() string { return "en" },
			Expected: func() [][]string { return q.expected },
			Heard: func(epoch uint32, u uint64, said daemon.Transcript) csm.Final {
				q.note("heard "+said.Text, said.Answer)
				return csm.Final{Epoch: epoch, Utterance: u}
			},
			HeardSettled: func(_ uint32, _ uint64, said daemon.Transcript) csm.Event {
				q.note("settled", said.Answer)
				return nil
			},
		},
	}
	q.w.service = &service{w: q.w}
	q.w.comparer = newComparer(q.w, time.Minute)
	q.w.cues = newCues(func(*audio.Frame) {}, func() {})
	q.w.grace = newGrace(q.w)
	q.c = &call{link: &link{w: q.w}, client: &noting{}, gate: &gate{}}
	q.c.hearer = &hearer{w: q.w, call: q.c, comparer: q.w.comparer}
	q.c.hearer.match = newMatcher(q.w.port, 1, true, func(int64, int64) bool { return false })
	return q
}

func (q *question) note(what string, answer *daemon.Answer) {
	as := "-"
	if answer != nil {
		as = answer.Phrase
	}
	q.log = append(q.log, fmt.Sprintf("%s as %s after %d ms", what, as, time.Since(q.silent).Milliseconds()))
}

// capture delivers that much audio.
func (q *question) capture(d time.Duration, marks ...vad.Mark) {
	for end := q.next + audio.Samples(d); q.next < end; q.next += audio.FrameSamples {
		time.Sleep(10 * time.Millisecond)
		q.b.push(q.next, &audio.Frame{7}, true, true, marks, 0)
		q.b.deliver(q.c, 1)
		marks = nil
	}
	synctest.Wait()
}

// says delivers a voice, whose marks are late, and the pause after it.
func (q *question) says(d, pause time.Duration, begin vad.MarkKind) {
	onset := q.next
	q.capture(50 * time.Millisecond)
	q.capture(d-50*time.Millisecond, vad.Mark{Kind: begin, Pos: onset, Decided: q.next})
	end := q.next
	q.silent = time.Now()
	q.capture(100 * time.Millisecond)
	q.capture(pause-100*time.Millisecond, vad.Mark{Kind: vad.Paused, Pos: end, Decided: q.next})
}

// final is the service's transcript of the voice.
func (q *question) final(answer *realtime.Answer) {
	q.c.hearer.SpeechStarted("A", q.next-audio.Samples(time.Second))
	q.c.hearer.SpeechStopped("A", q.next)
	q.c.hearer.FinalTranscript("A", realtime.Transcript{Text: "Guess.", Answer: answer})
}

// besideModel is the model beside the service.
type besideModel struct{ q *question }

func (m *besideModel) SetExpected(groups [][]string) { m.q.groups = groups }
func (m *besideModel) Start() error                  { m.q.written = nil; return nil }
func (m *besideModel) Partial() string               { return "" }
func (m *besideModel) Close() error                  { m.q.closed.Add(1); return nil }
func (m *besideModel) Write(pcm []int16) error {
	m.q.written, m.q.samples = pcm, append(m.q.samples, len(pcm))
	return nil
}

func (m *besideModel) Finish() (hearing.Result, error) {
	time.Sleep(m.q.takes)
	if m.q.fails != nil {
		return hearing.Result{}, m.q.fails
	}
	return hearing.Result{Text: "Yes.", Answer: &hearing.Answer{Phrase: m.q.groups[0][0], Lead: 9}}, nil
}

// short is a voice that is compared, and the pause after it.
func short(q *question, pause time.Duration) { q.says(600*ms, pause, vad.Onset) }

var besideAService = []struct {
	name     string
	do       func(q *question)
	want     string
	compared int // sounds
}{
	{"the answer is there before the words", func(q *question) {
		short(q, 700*ms)
		q.final(nil)
	}, "settled as Yes. after 260 ms; heard Guess. as Yes. after 700 ms", 1},
	{"the words wait for it", func(q *question) {
		short(q, 200*ms)
		q.final(nil)
	}, "heard Guess. as Yes. after 260 ms", 1},
	{"but not for long", func(q *question) {
		q.takes = 10 * time.Second
		short(q, 200*ms)
		q.final(nil)
	}, "heard Guess. as - after 500 ms", 1},
	{"nor before the pause is long enough", func(q *question) {
		short(q, 150*ms)
		q.final(nil)
		q.capture(100 * ms)
	}, "heard Guess. as - after 150 ms", 0},
	{"the longest voice", func(q *question) {
		q.says(longestCompared, 300*ms, vad.Onset)
		q.final(nil)
	}, "settled as Yes. after 260 ms; heard Guess. as Yes. after 300 ms", 1},
	{"a longer voice", func(q *question) {
		q.says(longestCompared+10*ms, 200*ms, vad.Onset)
		q.final(nil)
	}, "heard Guess. as - after 200 ms", 0},
	{"no answer is expected", func(q *question) {
		q.expected = nil
		short(q, 200*ms)
		q.final(nil)
		if q.loaded.Load() != 0 {
			q.log = append(q.log, "a model was loaded")
		}
	}, "heard Guess. as - after 200 ms", 0},
	{"no model is installed", func(q *question) {
		q.none = true
		short(q, 200*ms)
		q.final(nil)
	}, "heard Guess. as - after 200 ms", 0},
	{"the model fails", func(q *question) {
		q.fails = errors.New("out of memory")
		short(q, 200*ms)
		q.final(nil)
		synctest.Wait()
		time.Sleep(time.Second)
		if q.closed.Load() != 1 {
			q.log = append(q.log, "it was not closed")
		}
		q.fails = nil
		short(q, 700*ms)
		q.final(nil)
	}, "heard Guess. as - after 260 ms; settled as Yes. after 260 ms; heard Guess. as Yes. after 700 ms", 2},
	{"the service compares", func(q *question) {
		short(q, 200*ms)
		q.final(&realtime.Answer{Phrase: "No."})
	}, "heard Guess. as No. after 200 ms", 1},
	{"the voice goes on", func(q *question) {
		q.takes = 300 * ms
		q.says(300*ms, 200*ms, vad.Onset)
		q.says(300*ms, 700*ms, vad.Resumed)
		q.final(nil)
	}, "settled as Yes. after 460 ms; heard Guess. as Yes. after 700 ms", 2},
	{"the voice goes on for too long", func(q *question) {
		q.says(300*ms, 300*ms, vad.Onset)
		q.says(1100*ms, 700*ms, vad.Resumed)
		q.final(nil)
	}, "settled as Yes. after 260 ms; heard Guess. as - after 700 ms", 1},
	{"another voice begins while the words wait", func(q *question) {
		q.takes = time.Second
		short(q, 200*ms)
		q.final(nil)
		q.capture(10 * ms)
		q.capture(10*ms, vad.Mark{Kind: vad.Onset, Pos: q.next, Decided: q.next})
	}, "heard Guess. as - after 220 ms", 1},
	{"the call ends while the words wait", func(q *question) {
		q.takes = time.Second
		short(q, 200*ms)
		q.final(nil)
		q.c.hearer.close()
	}, "heard Guess. as - after 200 ms", 1},
	{"the service could not transcribe it", func(q *question) {
		q.takes = time.Second
		short(q, 200*ms)
		q.c.hearer.SpeechStarted("A", q.next-audio.Samples(800*ms))
		q.c.hearer.TranscriptFailed("A", "")
	}, "", 1},
}

// TestAShortSoundIsComparedBesideAService: while answers are expected, the final words of a short
// sound have the answer of this machine's model, for which they wait a moment and not longer.
func TestAShortSoundIsComparedBesideAService(t *testing.T) {
	for _, c := range besideAService {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := newQuestion(t)
				defer q.w.cues.shut()
				q.capture(time.Second)
				c.do(q)
				time.Sleep(30 * time.Second)
				synctest.Wait()
				if got := strings.Join(q.log, "; "); got != c.want || len(q.samples) != c.compared {
					t.Errorf("%s\nwant %s\n%d sounds were compared, want %d", got, c.want, len(q.samples), c.compared)
				}
				if slices.ContainsFunc(q.written, func(s int16) bool { return s != 0 }) {
					t.Error("the audio was not wiped")
				}
				time.Sleep(time.Minute + q.takes)
				synctest.Wait()
				if q.closed.Load() != q.loaded.Load() {
					t.Errorf("%d models were loaded, and %d freed", q.loaded.Load(), q.closed.Load())
				}
			})
		})
	}
}

// TestTheSoundThatIsCompared: it has what the measurements had around the voice, and a model that
// is in use stays loaded.
func TestTheSoundThatIsCompared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQuestion(t)
		defer q.w.cues.shut()
		q.capture(time.Second)
		for range 3 {
			q.says(600*time.Millisecond, 40*time.Second, vad.Onset)
			q.final(nil)
		}
		if want := 16 * (300 + 600 + 160); !slices.Equal(q.samples, []int{want, want, want}) {
			t.Errorf("compared %d samples, want %d each time", q.samples, want)
		}
		if q.loaded.Load() != 1 || q.closed.Load() != 0 {
			t.Errorf("the model was loaded %d times and freed %d times", q.loaded.Load(), q.closed.Load())
		}
		q.w.comparer.shut()
		if q.closed.Load() != 1 {
			t.Error("the model remains loaded")
		}
	})
}

// TestOnlyTheNewestSoundWaits: a slow model compares the newest sound next, and one that still
// works when the daemon closes is freed afterwards.
func TestOnlyTheNewestSoundWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQuestion(t)
		defer q.w.cues.shut()
		q.takes = time.Second
		done := make(chan string, 8)
		compare := func(name string) {
			q.w.comparer.compare(&sound{pcm: make([]int16, 48000), expected: q.expected, done: func(a *daemon.Answer) {
				done <- fmt.Sprintf("%s %t", name, a != nil)
			}})
			synctest.Wait()
		}
		reported := func() (all []string) {
			for len(done) > 0 {
				all = append(all, <-done)
			}
			return all
		}
		for _, name := range []string{"a", "b", "c", "d"} {
			compare(name)
		}
		time.Sleep(1500 * time.Millisecond)
		compare("e")
		q.w.comparer.shut()
		compare("f")
		if got, want := reported(), []string{"b false", "c false", "a true", "e false", "f false"}; !slices.Equal(got, want) || q.closed.Load() != 0 {
			t.Errorf("%q, want %q; freed %d", got, want, q.closed.Load())
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if got := reported(); !slices.Equal(got, []string{"d true"}) || q.closed.Load() != 1 {
			t.Errorf("%q; freed %d", got, q.closed.Load())
		}
	})
}

// moonshineBeside is Moonshine in the process of the test.
type moonshineBeside struct {
	hearing.Recognizer
	model  *moonshine.Model
	pcm    []int16
	groups [][]string
}

func loadMoonshine(t *testing.T) *moonshineBeside {
	t.Helper()
	dir, err := assets.Recogniser()
	if err != nil {
		t.Fatal(err)
	}
	description, err := engine.ReadModel(dir)
	if err != nil {
		t.Fatal(err)
	}
	runtime, err := assets.ONNXRuntime()
	if err != nil {
		t.Fatal(err)
	}
	model, err := moonshine.Load(filepath.Dir(description.Path("encoder")), runtime, 1)
	if err != nil {
		t.Fatal(err)
	}
	return &moonshineBeside{model: model}
}

func (m *moonshineBeside) SetExpected(groups [][]string) { m.groups = groups }
func (m *moonshineBeside) Start() error                  { m.pcm = nil; return nil }
func (m *moonshineBeside) Write(pcm []int16) error       { m.pcm = append(m.pcm, pcm...); return nil }
func (m *moonshineBeside) Close() error                  { return m.model.Close() }
func (m *moonshineBeside) Finish() (hearing.Result, error) {
	sound, err := m.model.Encode(append(m.pcm, make([]int16, hearing.SampleRate/2)...)) // as its worker does
	if err != nil {
		return hearing.Result{}, err
	}
	answer, err := m.model.Compare(sound, m.groups)
	return hearing.Result{Answer: answer}, err
}

// TestMoonshineComparesBesideAService: a recorded "stop" passes the detector of this machine and
// is compared by Moonshine. It counts at the pause, and corrects what the service wrote.
func TestMoonshineComparesBesideAService(t *testing.T) {
	pcm, err := wavio.ReadAll(filepath.Join("..", "..", "..", "audio", "hearing", "moonshine", "testdata", "stop.wav"))
	if err != nil {
		t.Fatal(err)
	}
	set := protocol.DefaultSettings()
	set.Provider = protocol.ProviderOpenAI
	settled, heard := make(chan daemon.Transcript, 1), make(chan daemon.Transcript, 1)
	w := New(Config{
		Detector: detector, Log: zerolog.New(zerolog.NewTestWriter(t)),
		Comparer: func(SpeechChoice, bool) hearing.Factory {
			model := loadMoonshine(t)
			return func() (hearing.Recognizer, error) { return model, nil }
		},
	})(daemon.Port{
		Post: func(csm.Event) {}, NewUtterance: ids(), Output: func(daemon.Output) {},
		Settings: func() protocol.Settings { return set }, Language: func() string { return "en" },
		Expected: func() [][]string { return phrases.Answers },
		Heard: func(_ uint32, _ uint64, said daemon.Transcript) csm.Final {
			heard <- said
			return csm.Final{}
		},
		HeardSettled: func(_ uint32, _ uint64, said daemon.Transcript) csm.Event {
			settled <- said
			return nil
		},
	}).(*World)
	defer func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}()
	ear, err := newEar(w, set)
	if err != nil {
		t.Fatal(err)
	}
	defer ear.close() //nolint:errcheck // the test is over
	if !ear.ready(t.Context()) || !ear.finds() {
		t.Fatal("the ear has no detector")
	}
	ear.front.Attach(&mouth{}, loudspeaker{})
	w.devices.ear.Store(ear)
	defer w.devices.ear.Store(nil)
	c := &call{link: w.link, client: &noting{}, gate: &gate{}}
	c.hearer = newHearer(w, c, w.port.Settings())
	w.link.live.Store(c)
	defer w.link.live.Store(nil)
	c.hearer.SpeechStarted("A", audio.SampleRate)
	pos := int64(0)
	for _, part := range [][]int16{make([]int16, audio.SampleRate), pcm, make([]int16, audio.SampleRate/2)} {
		for len(part) > 0 {
			var f audio.Frame
			part = part[copy(f[:], part):]
			ear.hear(pos, &f)
			pos += audio.FrameSamples
		}
	}
	certain := func(said daemon.Transcript) bool {
		class, doubted := said.Means()
		return said.Answer != nil && class == csm.Stop && !doubted
	}
	select {
	case said := <-settled:
		t.Logf("%+v", *said.Answer)
		if !certain(said) {
			t.Errorf("at the pause the sound is %+v", said.Answer)
		}
	case <-time.After(patience):
		t.Fatal("the sound was not compared")
	}
	c.hearer.SpeechStopped("A", pos)
	c.hearer.FinalTranscript("A", realtime.Transcript{Text: "Stompin."})
	if said := <-heard; !certain(said) {
		t.Errorf("%q is %+v", said.Text, said.Answer)
	}
}
