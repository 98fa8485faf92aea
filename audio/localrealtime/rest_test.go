//go:build cgo

package localrealtime

import (
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio/hearing"
	"github.com/agentvoice/agentvoice-daemon/audio/turns/sound"
	"github.com/agentvoice/agentvoice-daemon/audio/vad"
	"github.com/agentvoice/agentvoice-daemon/audio/voice"
	"github.com/agentvoice/agentvoice-daemon/internal/testutil/tonemodel"
)

// loaded counts the engines of a call that are in memory.
type loaded struct{ ears, mouths, listeners, freed atomic.Int32 }

type loadedEars struct {
	hearing.Recognizer
	of *loaded
}

func (e loadedEars) Close() error { e.of.ears.Add(-1); return e.Recognizer.Close() }

type loadedMouth struct {
	voice.Synthesizer
	of *loaded
}

func (m loadedMouth) Close() error { m.of.mouths.Add(-1); return m.Synthesizer.Close() }

type loadedListener struct{ of *loaded }

func (l loadedListener) Close() error                                     { l.of.listeners.Add(-1); return nil }
func (loadedListener) Complete(<-chan struct{}, []int16) (float64, error) { return 0.9, nil }

// loadTime is how long the recogniser of a restingCall loads.
const loadTime = 2 * time.Second

// restingCall is a virtual call that counts its engines.
type restingCall struct {
	*virtualCall
	loaded
	t *testing.T
}

func newRestingCall(t *testing.T) *restingCall {
	v := &restingCall{t: t}
	v.virtualCall = newVirtualCall(t, func(c *Config) {
		ears, mouth := c.Recognizer, c.Synthesizer
		c.Recognizer = func() (hearing.Recognizer, error) {
			v.ears.Add(1)
			time.Sleep(loadTime)
			r, err := ears()
			return loadedEars{r, &v.loaded}, err
		}
		c.Synthesizer = func() (voice.Synthesizer, error) {
			v.mouths.Add(1)
			s, err := mouth()
			return loadedMouth{s, &v.loaded}, err
		}
		c.Listener = func() sound.Listener {
			v.listeners.Add(1)
			return loadedListener{&v.loaded}
		}
		c.EnginesFreed = func() { v.freed.Add(1) }
	})
	if err := v.call.loadDetector(); err != nil {
		t.Fatal(err)
	}
	return v
}

// hear passes a second of voice and two of silence to the call.
func (v *restingCall) hear() {
	const window = vad.WindowSamples * time.Second / listenRate
	for _, pcm := range [][]int16{tone(1000, listenRate), quiet(2000)} {
		for ; len(pcm) >= vad.WindowSamples; pcm = pcm[vad.WindowSamples:] {
			v.call.hear(pcm[:vad.WindowSamples])
			time.Sleep(window)
		}
	}
	synctest.Wait()
}

// drain returns the final transcripts among the events so far.
func (v *restingCall) drain() (transcripts []string) {
	for len(v.events) > 0 {
		if e := <-v.events; e.Type == "conversation.item.input_audio_transcription.completed" {
			transcripts = append(transcripts, e.Transcript)
		}
	}
	return transcripts
}

// want checks how many engines of each kind are in memory.
func (v *restingCall) want(when string, n int32) {
	v.t.Helper()
	synctest.Wait()
	if e, m, l := v.ears.Load(), v.mouths.Load(), v.listeners.Load(); e != n || m != n || l != n {
		v.t.Errorf("%s: %d recognisers, %d voices and %d listeners are in memory, want %d of each", when, e, m, l, n)
	}
}

func (v *restingCall) suspend(suspended bool, then time.Duration) {
	v.call.srv.Suspend(suspended)
	time.Sleep(then)
}

// TestEnginesOfASuspendedConversationAreFreed: some time after the conversation was suspended,
// its engines are not in memory, although the call is open. They load as soon as it resumes, and
// what is said meanwhile is recognised completely. They stay while the user is silent.
func TestEnginesOfASuspendedConversationAreFreed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newRestingCall(t)
		v.hear() // there is less audio before the first words than before later ones
		v.drain()
		v.hear()
		said := v.drain()
		if len(said) != 1 || said[0] == "" {
			t.Fatalf("heard %q", said)
		}
		for range 3 {
			time.Sleep(10 * time.Minute)
			v.want("the user is silent", 1)
			v.suspend(true, time.Minute-time.Second)
			v.want("just suspended", 1)
			v.suspend(false, 2*time.Minute)
			v.want("after a short suspension", 1)
			freed := v.freed.Load()
			v.suspend(true, time.Minute+time.Second)
			v.want("suspended", 0)
			if v.freed.Load() == freed {
				t.Error("memory was not returned")
			}
			time.Sleep(time.Minute)
			v.suspend(false, 0)
			v.want("resumed", 1)
			v.hear()
			if again := v.drain(); len(again) != 1 || again[0] != said[0] {
				t.Fatalf("heard %q after the suspension, want %q", again, said)
			}
			v.want("after the next utterance", 1)
		}
	})
}

// TestEnginesComeBackForWhatHappensAtRest: speech that is requested at rest is spoken, an
// utterance that is open is recognised, and then the engines are freed again.
func TestEnginesComeBackForWhatHappensAtRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newRestingCall(t)
		v.hear()
		v.drain()
		v.suspend(true, 2*time.Minute)
		v.want("suspended", 0)
		v.speak("all tests pass")
		time.Sleep(time.Second)
		if len(v.sentPackets()) == 0 {
			t.Error("what was requested is not spoken")
		}
		v.drain()
		v.hear() // as from a client that is not suspended
		time.Sleep(loadTime)
		synctest.Wait()
		if said := v.drain(); len(said) != 1 || said[0] == "" {
			t.Errorf("heard %q", said)
		}
		v.want("at rest again", 0)
		v.suspend(false, 0)
		v.suspend(true, 0) // the engines load meanwhile
		time.Sleep(time.Minute + time.Second)
		v.want("suspended while they load", 0)
	})
}

// TestACallThatBeginsAtRestHasNoEngines covers a redial in a suspended conversation.
func TestACallThatBeginsAtRestHasNoEngines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var open, loads atomic.Int32
		p := newPool(func() (counted, error) { open.Add(1); loads.Add(1); return counted{&open}, nil }, time.Minute, func() {})
		p.use()
		synctest.Wait()
		p.rest(true)
		p.use() // the caller redials
		p.release()
		p.release()
		p.use()
		synctest.Wait()
		if open.Load() != 0 || loads.Load() != 1 {
			t.Errorf("at rest, %d engines are in memory and %d were loaded", open.Load(), loads.Load())
		}
		p.rest(false)
		synctest.Wait()
		if open.Load() != 1 || loads.Load() != 2 {
			t.Errorf("after it, %d engines are in memory and %d were loaded", open.Load(), loads.Load())
		}
		p.release()
		if err := p.close(); err != nil || open.Load() != 0 {
			t.Errorf("closed with %v, %d engines are in memory", err, open.Load())
		}
	})
}

// TestProcessesOfASuspendedConversationEnd: with installed models, the processes that compute
// them end, and others are there for the next words.
func TestProcessesOfASuspendedConversationEnd(t *testing.T) {
	dir := t.TempDir()
	ears, mouth := children(filepath.Join(dir, "hearing")), children(filepath.Join(dir, "voice"))
	h := start(t, toneEngines(t, ears, mouth), func(c *Config) { c.Speed, c.KeepEngines = 1, time.Nanosecond })
	p := h.call(t, transcribing())
	hear := func() {
		t.Helper()
		p.say(tonemodel.Say("run it"), 5*time.Millisecond)
		if all := p.until("conversation.item.input_audio_transcription.completed"); all[len(all)-1].Transcript != "run it" {
			t.Errorf("heard %q", all[len(all)-1].Transcript)
		}
	}
	hear()
	h.Suspend(true)
	for _, c := range []children{ears, mouth} {
		ids := c.ids(t)
		for deadline := time.Now().Add(time.Minute); exec.Command("kill", "-0", ids[len(ids)-1]).Run() == nil; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("a process of a suspended conversation is left")
			}
		}
	}
	h.Suspend(false)
	hear()
	if n, m := len(ears.ids(t)), len(mouth.ids(t)); n != 2 || m != 2 {
		t.Errorf("%d recognisers and %d voices were started, want 2 of each", n, m)
	}
}
