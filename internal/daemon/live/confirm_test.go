//go:build cgo

package live

import (
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/hearing"
	"github.com/agentvoice/agentvoice-daemon/audio/wake"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// confirming is the open microphone of a waker, with a fake local model.
type confirming struct {
	*wakerMic
	begun []wake.Heard

	// The model.
	none, broken   bool          // not installed, fails to load
	loads, takes   time.Duration // to load it, and to answer
	fails          error
	hold           chan struct{} // an answer waits for it, unless nil
	asked          chan struct{} // receives for each question
	answers        []hearing.Answer
	loaded, closed atomic.Int32
	groups         [][]string
	sounds         [][]int16 // the audio of each question, which its caller wipes
	lengths        []int
}

var (
	isPhrase = hearing.Answer{Phrase: "Okay, copilot.", Lead: 20, Behind: 0.5}
	isOther  = hearing.Answer{Phrase: "Okay, copilot.", Lead: 20, Behind: 30}
)

func newConfirming(t *testing.T, answers ...hearing.Answer) *confirming {
	c := &confirming{takes: 200 * ms, answers: answers, asked: make(chan struct{}, 10)}
	set := protocol.DefaultSettings()
	w := &World{
		cfg:  Config{Speed: 1, Log: zerolog.Nop(), Comparer: c.comparer(t)},
		port: daemon.Port{Post: func(csm.Event) {}, Settings: func() protocol.Settings { return set }, Language: func() string { return "en" }},
	}
	w.devices, w.service, w.waker = &devices{w: w}, &service{w: w}, newWaker(w)
	w.comparer = newComparer(w, time.Minute)
	c.wakerMic = micOf(t, w, func(h wake.Heard) {
		if c.heard(h) {
			c.begun = append(c.begun, h)
		}
	})
	t.Cleanup(w.comparer.shut)
	return c
}

// comparer implements Config.Comparer.
func (c *confirming) comparer(t *testing.T) func(SpeechChoice, bool) hearing.Factory {
	return func(_ SpeechChoice, local bool) hearing.Factory {
		switch {
		case local:
			t.Error("the phrase is confirmed with the local engines too")
		case c.none:
			return nil
		}
		return func() (hearing.Recognizer, error) {
			if c.broken {
				return nil, errors.New("library missing")
			}
			c.loaded.Add(1)
			return &confirmingModel{c: c, delay: c.loads}, nil
		}
	}
}

// confirmingModel gives the answers in order. The first takes longer, like loading a model.
type confirmingModel struct {
	c     *confirming
	delay time.Duration
}

func (m *confirmingModel) SetExpected(groups [][]string) { m.c.groups = groups }
func (m *confirmingModel) Partial() string               { return "" }
func (m *confirmingModel) Close() error                  { m.c.closed.Add(1); return nil }
func (m *confirmingModel) Start() error                  { time.Sleep(m.delay); m.delay = 0; return nil }
func (m *confirmingModel) Write(pcm []int16) error {
	m.c.sounds, m.c.lengths = append(m.c.sounds, pcm), append(m.c.lengths, len(pcm))
	return nil
}

func (m *confirmingModel) Finish() (hearing.Result, error) {
	c := m.c
	time.Sleep(c.takes)
	c.asked <- struct{}{}
	if c.hold != nil {
		<-c.hold
	}
	if c.fails != nil {
		return hearing.Result{}, c.fails
	}
	a := c.answers[0]
	c.answers = c.answers[1:]
	return hearing.Result{Text: "Okay, copilot.", Answer: &a}, nil
}

// after delivers that much audio, and lets the model work.
func (c *confirming) after(d time.Duration) {
	for range d / audio.FrameTime {
		time.Sleep(audio.FrameTime)
		c.capture(1)
		synctest.Wait()
	}
}

// spots reports a phrase of 0.8 s that ended 150 ms ago.
func (c *confirming) spots(sure bool) wake.Heard {
	pos := c.mic.next * audio.FrameSamples
	h := wake.Heard{Sure: sure, Pos: pos, From: pos - audio.Samples(950*ms), To: pos - audio.Samples(150*ms)}
	if sure {
		if c.heard(h) {
			c.begun = append(c.begun, h)
		}
	} else {
		c.doubts.add(h)
	}
	return h
}

var confirmations = []struct {
	name     string
	answers  []hearing.Answer
	do       func(c *confirming)
	begun    int // conversations
	rejected int
	asked    int
}{
	{"confirmed", []hearing.Answer{isPhrase}, func(c *confirming) {
		c.spots(false)
		c.after(220 * ms)
	}, 1, 0, 1},
	{"not answered yet", []hearing.Answer{isPhrase}, func(c *confirming) {
		c.spots(false)
		c.after(190 * ms)
	}, 0, 0, 1},
	{"rejected", []hearing.Answer{isOther}, func(c *confirming) { c.spots(false); c.after(5 * time.Second) }, 0, 1, 1},
	{"another text is as likely", []hearing.Answer{{Phrase: "Copilot.", Lead: 9, Behind: 0}}, func(c *confirming) {
		c.spots(false)
		c.after(5 * time.Second)
	}, 0, 1, 1},
	{"confirmed after loading", []hearing.Answer{isPhrase}, func(c *confirming) {
		c.loads = 2500 * ms
		c.spots(false)
		c.after(3 * time.Second)
	}, 1, 0, 1},
	{"confirmed too late", []hearing.Answer{isPhrase}, func(c *confirming) {
		c.loads = 3 * time.Second
		c.spots(false)
		c.after(5 * time.Second)
	}, 0, 1, 1},
	{"no model", nil, func(c *confirming) { c.none = true; c.spots(false); c.after(time.Second) }, 0, 1, 0},
	{"no model, but the spotter is sure", nil, func(c *confirming) { c.none = true; c.spots(true); c.after(time.Second) }, 1, 0, 0},
	{"the model does not load", nil, func(c *confirming) { c.broken = true; c.spots(false); c.after(time.Second) }, 0, 1, 0},
	{"the model crashes, and is loaded again", []hearing.Answer{isPhrase}, func(c *confirming) {
		c.fails = errors.New("the process has ended")
		c.spots(false)
		c.after(time.Second)
		c.fails = nil
		c.spots(false)
		c.after(time.Second)
	}, 1, 1, 2},
	{"the spotter is sure of the second one", []hearing.Answer{isPhrase}, func(c *confirming) {
		c.takes = time.Second
		c.spots(false)
		c.after(800 * ms)
		c.spots(true)
		c.after(time.Second)
	}, 1, 0, 1},
	{"the second one is confirmed", []hearing.Answer{isOther, isPhrase}, func(c *confirming) {
		c.takes = time.Second
		c.spots(false)
		c.after(800 * ms)
		c.spots(false)
		c.after(2 * time.Second)
	}, 1, 1, 2},
	{"twice, and both are the phrase", []hearing.Answer{isPhrase, isPhrase}, func(c *confirming) {
		c.takes = time.Second
		c.spots(false)
		c.after(800 * ms)
		c.spots(false)
		c.after(2 * time.Second)
	}, 1, 0, 2},
	{"muted meanwhile", []hearing.Answer{isPhrase}, func(c *confirming) {
		c.spots(false)
		c.after(100 * ms)
		c.muted.Store(true)
		c.after(time.Second)
		c.muted.Store(false)
		c.after(time.Second)
	}, 0, 0, 1},
}

// TestADoubtedPhraseCountsIfTheModelConfirmsIt: whatever the model does, the phrase counts once or
// not at all, and nothing is left of what was rejected.
func TestADoubtedPhraseCountsIfTheModelConfirmsIt(t *testing.T) {
	for _, test := range confirmations {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newConfirming(t, test.answers...)
				c.after(4 * time.Second)
				test.do(c)
				if len(c.begun) != test.begun || int(c.w.waker.rejected.Load()) != test.rejected || len(c.lengths) != test.asked {
					t.Errorf("%d conversations, %d rejected, %d asked; want %d, %d, %d", len(c.begun), c.w.waker.rejected.Load(), len(c.lengths),
						test.begun, test.rejected, test.asked)
				}
				if test.rejected > 0 && test.begun == 0 && len(c.kept.frames) != 300 {
					t.Errorf("there is room for %d frames, want 3 s", len(c.kept.frames))
				}
				time.Sleep(10 * time.Second)
				synctest.Wait()
				for _, pcm := range c.sounds {
					if slices.ContainsFunc(pcm, func(s int16) bool { return s != 0 }) {
						t.Error("the audio was not wiped")
					}
				}
				time.Sleep(time.Minute)
				synctest.Wait()
				if c.closed.Load() != c.loaded.Load() {
					t.Errorf("%d models were loaded, and %d freed", c.loaded.Load(), c.closed.Load())
				}
			})
		})
	}
}

// TestTheSoundThatIsConfirmed: the model gets the phrase and what is around it, and the user's own
// phrase. What is said until it answers is kept from the phrase on.
func TestTheSoundThatIsConfirmed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConfirming(t, isPhrase)
		c.takes = 2500 * ms
		c.after(4 * time.Second)
		h := c.spots(false)
		c.after(2600 * ms)
		if want := []int{hearing.SampleRate * (100 + 800) / 1000}; !slices.Equal(c.lengths, want) {
			t.Errorf("%d samples are confirmed, want %d", c.lengths, want)
		}
		if !slices.Contains(c.groups[0], "Okay, copilot.") || !slices.Contains(c.groups[0], "Okay Copilot.") {
			t.Errorf("the model is asked for %q", c.groups)
		}
		if len(c.begun) != 1 || c.begun[0] != h || !c.take() {
			t.Fatalf("begun %+v, want %+v", c.begun, h)
		}
		stop, done := c.listen(t)
		c.capture(100)
		stop()
		<-done
		wantFrames(t, c.got, int((h.To-audio.Samples(settles))/audio.FrameSamples), int(c.mic.next))
	})
}

// doubtful is a daemon whose spotter is not sure, and whose model waits until it is released.
func doubtful(t *testing.T, answers ...hearing.Answer) (*talk, *room, *countingSpotter, *confirming) {
	t.Helper()
	c := &confirming{answers: answers, hold: make(chan struct{}), asked: make(chan struct{}, 10)}
	r := newRoom()
	cfg := over(r)
	cfg.Comparer = c.comparer(t)
	tk, s, _ := oneBreath(t, "What is the git status?", cfg, r, nil)
	pos := s.pos.Load()
	s.tell(wake.Heard{Pos: pos, From: pos - audio.SampleRate/2, To: pos})
	soon(t, c.asked, "the question to the model")
	return tk, r, s, c
}

// TestOnlyAConfirmedPhraseIsSeen: the microphone waits for its phrase until the model has confirmed
// one.
func TestOnlyAConfirmedPhraseIsSeen(t *testing.T) {
	tk, r, s, c := doubtful(t, isOther, isPhrase)
	c.hold <- struct{}{}
	tk.eventually("the rejection", func() bool { return tk.w.Counters()["wake.rejected"] == 1 })
	s.tell(wake.Heard{Pos: s.pos.Load(), From: s.pos.Load() - audio.SampleRate/2, To: s.pos.Load()})
	soon(t, c.asked, "the second question")
	tk.mu.Lock()
	for _, m := range tk.mics {
		if m.Open && !m.Wake {
			t.Errorf("the microphone was reported open: %+v", m)
		}
	}
	tk.mu.Unlock()
	c.hold <- struct{}{}
	tk.want(protocol.StatePreparing, protocol.StateListening)
	if len(r.opened) != 0 {
		t.Error("the microphone was opened again")
	}
}

// TestWhatEndsAConfirmation: an answer after the user has started by key, has turned the phrase off,
// or has ended the daemon does nothing.
func TestWhatEndsAConfirmation(t *testing.T) {
	t.Run("started by key", func(t *testing.T) {
		tk, _, _, c := doubtful(t, isPhrase)
		tk.d.Post(csm.UserStart{})
		tk.want(protocol.StatePreparing, protocol.StateListening)
		close(c.hold)
		tk.settled()
		if p := tk.d.State().Phase(); p != csm.PhaseListening {
			t.Errorf("the conversation is %v", p)
		}
	})
	t.Run("turned off", func(t *testing.T) {
		tk, r, s, c := doubtful(t, isPhrase)
		set := tk.d.Settings()
		set.Wake.Enabled = false
		tk.d.Configure(set)
		soon(t, s.closed, "the end of the spotter")
		close(c.hold)
		tk.settled()
		if p := tk.d.State().Phase(); p != csm.PhaseIdle || r.open.Load() != 0 {
			t.Errorf("the conversation is %v, the microphone is open %d times", p, r.open.Load())
		}
	})
	t.Run("ended", func(t *testing.T) {
		tk, r, _, c := doubtful(t, isPhrase)
		if err := tk.w.Close(); err != nil {
			t.Error(err)
		}
		if r.open.Load() != 0 {
			t.Error("the microphone is open")
		}
		close(c.hold)
		tk.eventually("the model is freed", func() bool { return c.closed.Load() == 1 })
	})
}
