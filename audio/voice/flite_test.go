//go:build cgo

package voice

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newSynthesizer(tb testing.TB) Synthesizer {
	tb.Helper()
	s, err := Flite()()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { s.Close() })
	return s
}

type heard struct {
	samples, rate, pieces int
	loudest               int16
}

// listen accumulates the emitted audio.
func (h *heard) listen(pcm []int16, rate int) error {
	h.samples += len(pcm)
	h.rate = rate
	h.pieces++
	for _, v := range pcm {
		h.loudest = max(h.loudest, v)
	}
	return nil
}

func TestEveryVoiceSpeaks(t *testing.T) {
	s := newSynthesizer(t)
	if len(s.Voices()) != 4 || s.Voices()[0] != DefaultVoice {
		t.Fatalf("voices %v", s.Voices())
	}
	for _, name := range append(s.Voices(), "") {
		var h heard
		if err := s.Speak(t.Context(), name, "All twelve tests pass.", h.listen); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		seconds := float64(h.samples) / float64(max(h.rate, 1))
		if h.rate != 16000 || seconds < 0.8 || seconds > 4 || h.loudest < 2000 || h.pieces < 8 {
			t.Errorf("%s: %.2f s at %d Hz in %d pieces, loudest %d", name, seconds, h.rate, h.pieces, h.loudest)
		}
	}
}

func TestTextIsSpokenWhole(t *testing.T) {
	s := newSynthesizer(t)
	sentence := "The copilot has finished editing the file and all twelve tests pass. "
	var one, many heard
	if err := s.Speak(t.Context(), "", sentence, one.listen); err != nil {
		t.Fatal(err)
	}
	if err := s.Speak(t.Context(), "", strings.Repeat(sentence, 12), many.listen); err != nil {
		t.Fatal(err)
	}
	if ratio := float64(many.samples) / float64(one.samples); ratio < 10 || ratio > 14 {
		t.Errorf("twelve sentences take %.1f times as long as one", ratio)
	}
}

func TestNothingToSay(t *testing.T) {
	s := newSynthesizer(t)
	for _, text := range []string{"", " \n\t", "...", "\x00", "🚀🎉", "日本語", "-- ?!"} {
		var h heard
		if err := s.Speak(t.Context(), "slt", text, h.listen); err != nil || h.pieces != 0 {
			t.Errorf("%q: %d pieces, %v", text, h.pieces, err)
		}
	}
}

// TestRateIsTheSpeedOfTheVoice checks that the rate affects only one synthesizer,
// although voices are shared.
func TestRateIsTheSpeedOfTheVoice(t *testing.T) {
	s, other := newSynthesizer(t), newSynthesizer(t)
	const text = "The copilot has finished editing the file, and all twelve tests pass."
	length := func(s Synthesizer, voice string) float64 {
		var h heard
		if err := s.Speak(t.Context(), voice, text, h.listen); err != nil {
			t.Fatal(err)
		}
		return float64(h.samples)
	}
	for _, voice := range s.Voices() {
		s.SetRate(1)
		normal := length(s, voice)
		for _, rate := range []float64{MinRate, 0.8, 1.5, 2, MaxRate} {
			s.SetRate(rate)
			if got := normal / length(s, voice); got < 0.85*rate || got > 1.15*rate {
				t.Errorf("%s at rate %v is %.2f times as fast", voice, rate, got)
			}
			if got := length(other, voice); got != normal {
				t.Errorf("%s: another synthesizer speaks %v samples, want %v", voice, got, normal)
			}
		}
	}
}

func TestUnknownVoice(t *testing.T) {
	var h heard
	err := newSynthesizer(t).Speak(t.Context(), "marin", "Hello.", h.listen)
	if !errors.Is(err, ErrUnknownVoice) || !strings.Contains(err.Error(), `"marin"`) || !strings.Contains(err.Error(), "slt, rms") {
		t.Errorf("error %v", err)
	}
	if h.pieces != 0 {
		t.Error("spoke")
	}
}

func TestCancelStopsAtOnce(t *testing.T) {
	s := newSynthesizer(t)
	ctx, cancel := context.WithCancel(t.Context())
	pieces := 0
	err := s.Speak(ctx, "slt", strings.Repeat("This goes on and on. ", 100), func([]int16, int) error {
		if pieces++; pieces == 3 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || pieces != 3 {
		t.Errorf("%d pieces, %v", pieces, err)
	}
	// The engine is free again.
	var h heard
	if err := s.Speak(t.Context(), "slt", "Yes.", h.listen); err != nil || h.samples == 0 {
		t.Errorf("after a cancel: %d samples, %v", h.samples, err)
	}
	if err := s.Speak(ctx, "slt", "No.", func([]int16, int) error { t.Error("emitted"); return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("with a done context: %v", err)
	}
}

func TestEmitErrorStopsAtOnce(t *testing.T) {
	gone := errors.New("gone")
	pieces := 0
	err := newSynthesizer(t).Speak(t.Context(), "kal16", strings.Repeat("On and on. ", 100), func([]int16, int) error {
		pieces++
		return gone
	})
	if !errors.Is(err, gone) || pieces != 1 {
		t.Errorf("%d pieces, %v", pieces, err)
	}
}

// A listener that blocks does not keep other conversations from speaking, and a caller
// that waits for the engine can be cancelled.
func TestASlowListenerHoldsUpOnlyItself(t *testing.T) {
	blocked, release := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		first := true
		err := newSynthesizer(t).Speak(t.Context(), "slt", "This one waits.", func([]int16, int) error {
			if first {
				first = false
				close(blocked)
				<-release
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	<-blocked
	var h heard
	if err := newSynthesizer(t).Speak(t.Context(), "slt", "This one does not.", h.listen); err != nil || h.samples == 0 {
		t.Errorf("%d samples, %v", h.samples, err)
	}
	close(release)
	wg.Wait()
}

func TestCancelWhileAnotherHasTheEngine(t *testing.T) {
	inUse <- struct{}{}
	defer func() { <-inUse }()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	var h heard
	if err := newSynthesizer(t).Speak(ctx, "slt", "Hello.", h.listen); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
}

func TestConcurrentSynthesizers(t *testing.T) {
	s := newSynthesizer(t)
	var alone heard
	const text = "How do I read a file, line by line?"
	if err := s.Speak(t.Context(), "rms", text, alone.listen); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		s := newSynthesizer(t)
		wg.Go(func() {
			var h heard
			if err := s.Speak(t.Context(), "rms", text, h.listen); err != nil || h.samples != alone.samples {
				t.Errorf("%d samples, %d alone, %v", h.samples, alone.samples, err)
			}
		})
	}
	wg.Wait()
}

func TestClosed(t *testing.T) {
	s := newSynthesizer(t)
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Speak(t.Context(), "slt", "Hello.", (&heard{}).listen); !errors.Is(err, ErrClosed) {
		t.Errorf("error %v", err)
	}
}

func TestOddTextIsSpoken(t *testing.T) {
	s := newSynthesizer(t)
	for name, text := range map[string]string{
		"emoji and NUL":  "ship\x00it 🚀 now",
		"accents":        "Zoë’s naïve café – “déjà vu”",
		"code":           `if err != nil { return fmt.Errorf("%w: %v", ErrX, *p<<3) } // 0xFF && ~y`,
		"markup":         "<speak>&amp;<break time='1s'/></speak>",
		"endless word":   strings.Repeat("supercali", 60),
		"endless number": strings.Repeat("9876543210", 40),
		"dots":           "a" + strings.Repeat(".", 200) + "b",
		"odd numbers":    "$1,234.5678 -0 1e999 12:34:56 99999999999999999999th 1/0 IV MCMXC #42",
	} {
		var h heard
		if err := s.Speak(t.Context(), "kal16", text, h.listen); err != nil || h.samples == 0 {
			t.Errorf("%s: %d samples, %v", name, h.samples, err)
		}
	}
}

func TestAnyTextIsSurvived(t *testing.T) {
	s := newSynthesizer(t)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[ -~]{0,80}`)).Draw(t, "text")
		voice := rapid.SampledFrom(s.Voices()).Draw(t, "voice")
		var h heard
		if err := s.Speak(context.Background(), voice, text, h.listen); err != nil {
			t.Fatal(err)
		}
	})
}

func BenchmarkFliteFirstAudio(b *testing.B) {
	s := newSynthesizer(b)
	const text = "The copilot has finished editing the file and all twelve tests pass."
	for _, name := range s.Voices() {
		b.Run(name, func(b *testing.B) {
			var first, whole time.Duration
			var audio heard
			for b.Loop() {
				began, got := time.Now(), false
				audio = heard{}
				if err := s.Speak(b.Context(), name, text, func(pcm []int16, rate int) error {
					if !got {
						first, got = first+time.Since(began), true
					}
					return audio.listen(pcm, rate)
				}); err != nil {
					b.Fatal(err)
				}
				whole += time.Since(began)
			}
			n := float64(b.N)
			b.ReportMetric(float64(first.Microseconds())/1000/n, "ms-to-first-audio")
			b.ReportMetric(whole.Seconds()/n/(float64(audio.samples)/float64(audio.rate)), "of-real-time")
		})
	}
}

// TestFliteIsHeardAtOnce checks that the voices' leading pause of 0.2 s is moved.
func TestFliteIsHeardAtOnce(t *testing.T) {
	s := newSynthesizer(t)
	for _, voice := range s.Voices() {
		before, sounded, rate := 0, false, 0
		err := SpeakPromptly(t.Context(), s, voice, "All tests pass.", func(pcm []int16, hz int) error {
			if rate = hz; !sounded {
				n := firstSound(pcm, 0)
				before, sounded = before+n, n < len(pcm)
			}
			return nil
		})
		if ms := 1000 * before / max(rate, 1); err != nil || !sounded || ms > 2*pauseKept {
			t.Errorf("%s is heard after %d ms: %v", voice, ms, err)
		}
	}
}
