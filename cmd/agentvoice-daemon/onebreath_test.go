//go:build cgo && !race

package main

import (
	"context"
	"flag"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/voice"
	"github.com/agentvoice/agentvoice-daemon/audio/wake"
	"github.com/agentvoice/agentvoice-daemon/audio/wavio"
	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon/live"
	"github.com/agentvoice/agentvoice-daemon/internal/wer"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// quietRoom is a microphone in real time, with the noise of a quiet room and what is said.
type quietRoom struct {
	mu  sync.Mutex
	pcm []int16
}

func (*quietRoom) Close() error               { return nil }
func (*quietRoom) Open(context.Context) error { return nil }

func (r *quietRoom) Run(ctx context.Context, deliver func(int64, *audio.Frame)) error {
	pacer, noise := audio.NewPacer(1), uint32(1)
	for pos := int64(0); ; pos += audio.FrameSamples {
		if err := pacer.Wait(ctx); err != nil {
			return err
		}
		var f audio.Frame
		r.mu.Lock()
		r.pcm = r.pcm[copy(f[:], r.pcm):]
		r.mu.Unlock()
		for i := range f {
			noise = noise*1664525 + 1013904223
			f[i] += int16(noise>>28) - 8
		}
		deliver(pos, &f)
	}
}

func (r *quietRoom) say(pcm []int16) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pcm = append(r.pcm, pcm...)
}

// asked is an assistant that records what it is asked.
type asked chan string

func (asked) Name() string { return "asked" }
func (a asked) Send(_ context.Context, r copilot.Request, emit func(string)) error {
	a <- r.Messages[len(r.Messages)-1].Content
	emit("Yes.")
	return nil
}

// breathRoom is a daemon with the engines of this machine that waits for its phrase.
type breathRoom struct {
	t      *testing.T
	mic    *quietRoom
	asked  asked
	d      *daemon.Daemon
	states chan protocol.State
	speech map[string]voice.Synthesizer
}

func newBreathRoom(t *testing.T, change ...func(*live.Config)) *breathRoom {
	t.Helper()
	r := &breathRoom{t: t, mic: &quietRoom{}, asked: make(asked, 10), states: make(chan protocol.State, 1000)}
	set := protocol.DefaultSettings()
	set.Wake.Enabled = true
	cfg := live.Config{
		Source: func(protocol.Settings) (audio.Source, error) { return r.mic, nil },
		Sink:   func(protocol.Settings) (audio.Sink, error) { return wavio.Null{Speed: 1}, nil },
		Speed:  1, Engines: engines(zerolog.Nop(), &live.Reports{}), Detector: voiceDetectors(func(error) {}),
		Spotter: spotter, Comparer: comparer, KeepModels: time.Nanosecond, Log: zerolog.Nop(),
	}
	for _, f := range change {
		f(&cfg)
	}
	r.d = daemon.New(daemon.Config{
		Clock: dispatch.NewClock(1), Started: time.Now(), Settings: set, Adapter: r.asked, Log: zerolog.Nop(), World: live.New(cfg),
		Notify: func(_ string, params any) {
			if p, ok := params.(protocol.StateParams); ok {
				r.states <- p.State
			}
		},
	})
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.d.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	r.speech = map[string]voice.Synthesizer{}
	// Without a fallback, which would speak in another voice on a busy machine.
	for name, factory := range map[string]voice.Factory{"natural": onlyVoice(findSpeech(nil, "en").voice), "flite": voice.Flite()} {
		var err error
		if r.speech[name], err = factory(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = r.speech[name].Close() })
	}
	return r
}

// reaches waits for a state.
func (r *breathRoom) reaches(want protocol.State, within time.Duration) bool {
	late := time.After(within)
	for {
		select {
		case s := <-r.states:
			if s == want {
				return true
			}
		case <-late:
			return false
		}
	}
}

// says returns speech, at the rate of a microphone.
func (r *breathRoom) says(engine, name, text string) (pcm []int16) {
	r.t.Helper()
	var to *audio.Resampler
	err := r.speech[engine].Speak(r.t.Context(), name, text, func(p []int16, rate int) (err error) {
		if to == nil {
			to, err = audio.NewResampler(rate, audio.SampleRate)
		}
		pcm = to.Process(pcm, p)
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return pcm
}

// ends ends the conversation, and waits until the phrase is listened for again.
func (r *breathRoom) ends() {
	r.t.Helper()
	r.d.Post(csm.UserStop{})
	if !r.reaches(protocol.StateIdle, time.Minute) {
		r.t.Fatal("the conversation does not end")
	}
	r.waits()
}

// waits waits until the phrase is listened for.
func (r *breathRoom) waits() {
	r.t.Helper()
	for limit := time.Now().Add(time.Minute); !r.d.Snapshot().Microphone.Wake; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(limit) {
			r.t.Fatal("the wake phrase is not listened for")
		}
	}
}

// starts says something, and reports whether it began a conversation.
func (r *breathRoom) starts(pcm []int16) bool {
	r.mic.say(make([]int16, audio.SampleRate))
	r.mic.say(pcm)
	return r.reaches(protocol.StatePreparing, 30*time.Second) // a busy machine loads the model that confirms it
}

// requests returns what the assistant is asked within a time, and in the two seconds after that.
func (r *breathRoom) requests(within time.Duration) (all []string) {
	for {
		select {
		case text := <-r.asked:
			all, within = append(all, text), 2*time.Second
		case <-time.After(within):
			return all
		}
	}
}

// bare returns a word without case and punctuation.
func bare(word string) string { return strings.ToLower(strings.Trim(word, ".,?!\"")) }

// breaths is ten in make full, with the voices of both engines.
var breaths = flag.Int("breaths", 2, "questions in one breath with the wake phrase, up to ten")

// TestQuestionsInOneBreath: questions in one breath with the wake phrase, through the real
// spotter and recogniser, whose models are loaded meanwhile, arrive once and without the phrase. It
// prints how many are whole: from the first word on and to the end. Words may be misheard, as in any
// question, the first one more often: "Copilot, who wrote" may become "throughout".
//
//test:realtime
func TestQuestionsInOneBreath(t *testing.T) {
	modelsOf(t)
	r := newBreathRoom(t)
	questions := []struct {
		engine, voice, question string
		pcm                     []int16
	}{
		{"flite", "slt", "what is the current branch?", nil},
		{"natural", "af_heart", "what is the git status?", nil},
		{"flite", "rms", "how many files did I change today?", nil},
		{"flite", "awb", "which tests are failing?", nil}, // the model confirms it, or not: BenchmarkConfirmed has the shares
		{"natural", "bf_emma", "who wrote this function?", nil},
		{"natural", "am_michael", "open the readme file.", nil},
		{"natural", "bm_george", "explain this error to me.", nil},
		{"natural", "af_bella", "is there a newer version?", nil},
		{"flite", "slt", "please read the last commit message.", nil},
		{"natural", "am_puck", "when was the last release?", nil},
	}
	asked := questions[:min(max(*breaths, 1), len(questions))]
	for i := range asked {
		c := &asked[i]
		c.pcm = r.says(c.engine, c.voice, "Okay copilot"+[]string{" ", ", "}[i%2]+c.question)
	}
	r.waits()
	heard, whole, right := 0, 0, 0
	for _, c := range asked {
		if !r.starts(c.pcm) {
			t.Logf("%s: %q: the phrase is missed", c.voice, c.question)
			continue
		}
		heard++
		got := r.requests(30 * time.Second)
		said := strings.Fields(strings.Join(got, " "))
		want := strings.Fields(c.question)
		if more := len(said) - len(want); len(got) == 1 && more >= -1 && more <= 1 && bare(said[0]) == bare(want[0]) {
			whole++
		}
		wrong, _ := wer.Compute(c.question, strings.Join(got, " "))
		if wrong == 0 {
			right++
		}
		t.Logf("%s: %q: %q", c.voice, c.question, got)
		if len(got) != 1 || strings.Contains(strings.ToLower(got[0]), "pilot") {
			t.Errorf("want the question once, without the phrase")
		}
		r.ends()
	}
	t.Logf("of %d phrases %d are heard; %d of these questions arrive whole, %d without a misheard word", len(asked), heard, whole, right)
	if heard*10 < len(asked)*8 || whole*10 < heard*8 {
		t.Error("questions are lost")
	}
}

// TestThePhraseAloneAsksNothing: through the real parts, nothing of the phrase is sent.
//
//test:realtime
func TestThePhraseAloneAsksNothing(t *testing.T) {
	modelsOf(t)
	r := newBreathRoom(t)
	r.waits()
	voices := [][2]string{{"flite", "slt"}, {"flite", "rms"}, {"flite", "awb"}, {"natural", "af_heart"}, {"natural", "bm_george"}}
	for _, c := range voices[:min(max(*breaths, 1), len(voices))] {
		if !r.starts(r.says(c[0], c[1], "Okay copilot.")) {
			t.Logf("%s: the phrase is missed", c[1])
			continue
		}
		if got := r.requests(8 * time.Second); len(got) != 0 {
			t.Errorf("%s: the assistant is asked %q", c[1], got)
		}
		r.ends()
	}
}

// TestTheModelConfirmsThePhrase: through the real spotter and recogniser, of what the spotter is not
// sure of, only the phrase begins a conversation.
func TestTheModelConfirmsThePhrase(t *testing.T) {
	modelsOf(t)
	detected := make(chan wake.Heard, 10)
	r := newBreathRoom(t, func(cfg *live.Config) {
		cfg.KeepModels = time.Minute
		cfg.Spotter = func(phrase string, candidates bool, heard func(wake.Heard)) (live.Spotter, error) {
			return spotter(phrase, candidates, func(h wake.Heard) {
				h.Sure = false
				heard(h)
				detected <- h
			})
		}
	})
	r.waits()
	for range 2 { // the first loads the model
		if r.starts(r.says("natural", "af_bella", "Okay, pilot.")) {
			t.Error("another phrase began a conversation")
		}
	}
	if len(detected) == 0 {
		t.Error("the spotter did not detect the other phrase, so the model was not asked")
	}
	question := r.says("natural", "af_bella", "Okay copilot, what is the git status?")
	for try := 1; !r.starts(question); try++ { // a busy machine may be too late
		if try == 3 {
			t.Fatal("the phrase does not begin a conversation")
		}
	}
	if got := r.requests(30 * time.Second); len(got) != 1 || strings.Contains(strings.ToLower(got[0]), "pilot") {
		t.Errorf("the assistant is asked %q, want the question once, without the phrase", got)
	}
}
