//go:build cgo

package wake

import (
	"context"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/voice"
	"github.com/agentvoice/agentvoice-daemon/audio/wavio"
)

// recordings is human speech from Debian's pocketsphinx-testdata.
const recordings = "/usr/share/pocketsphinx/test/data"

// clip is speech at the engine's rate.
type clip struct {
	name string
	pcm  []int16
}

func resampled(tb testing.TB, pcm []int16, from, to int) []int16 {
	tb.Helper()
	r, err := audio.NewResampler(from, to)
	if err != nil {
		tb.Fatal(err)
	}
	return r.Flush(r.Process(nil, pcm))
}

// flite synthesizes text, surrounded by silence.
func flite(tb testing.TB, name, text string) clip {
	tb.Helper()
	s, err := voice.Flite()()
	if err != nil {
		tb.Fatal(err)
	}
	defer s.Close()
	pcm, rate := []int16(nil), 0
	err = s.Speak(context.Background(), name, text, func(p []int16, r int) error {
		pcm, rate = append(pcm, p...), r
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return clip{"flite " + name + ": " + text, padded(resampled(tb, pcm, rate, SampleRate))}
}

// espeak synthesizes text with espeak-ng, if installed.
func espeak(tb testing.TB, text string, args ...string) (clip, bool) {
	tb.Helper()
	program, err := exec.LookPath("espeak-ng")
	if err != nil {
		return clip{}, false
	}
	path := filepath.Join(tb.TempDir(), "speech.wav")
	if err := exec.Command(program, append(args, "-w", path, text)...).Run(); err != nil {
		tb.Fatal(err)
	}
	pcm, err := wavio.ReadAll(path)
	if err != nil {
		tb.Fatal(err)
	}
	return clip{"espeak-ng " + strings.Join(args, " ") + ": " + text, padded(resampled(tb, pcm, audio.SampleRate, SampleRate))}, true
}

// padded surrounds pcm with half seconds of the noise of a quiet room, -65 dBFS.
func padded(pcm []int16) []int16 {
	const half = SampleRate / 2
	whole := make([]int16, len(pcm)+2*half)
	copy(whole[half:], pcm)
	return noisy(whole, math.Pow(10, -65.0/20)*math.MaxInt16)
}

// noisy adds fan noise of a given RMS: equal power per octave (Kellet's filter), the
// same in each run.
func noisy(pcm []int16, rms float64) []int16 {
	random := rand.New(rand.NewPCG(1, 1))
	var a, b, c float64
	const filtered = 2.97 // the filter's RMS for white noise of 1
	out := make([]int16, len(pcm))
	for i, s := range pcm {
		white := random.NormFloat64()
		a = 0.99765*a + white*0.0990460
		b = 0.96300*b + white*0.2965164
		c = 0.57000*c + white*1.0526913
		v := (a + b + c + white*0.1848) / filtered * rms
		out[i] = int16(math.Round(min(max(float64(s)+v, math.MinInt16), math.MaxInt16)))
	}
	return out
}

// atSNR adds fan noise to the speech in c at a ratio in dB.
func (c clip) atSNR(db float64) clip {
	sum, n := 0.0, 0.0
	for _, s := range c.pcm {
		if s > 300 || s < -300 {
			sum += float64(s) * float64(s)
			n++
		}
	}
	return clip{c.name, noisy(c.pcm, math.Sqrt(sum/max(n, 1))*math.Pow(10, -db/20))}
}

// human returns the available human speech.
func human(tb testing.TB, dirs ...string) []clip {
	tb.Helper()
	var clips []clip
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".wav" {
				return err
			}
			pcm, err := wavio.ReadAll(path)
			if err == nil {
				clips = append(clips, clip{filepath.Base(path), padded(resampled(tb, pcm, audio.SampleRate, SampleRate))})
			}
			return err
		})
		if err != nil {
			tb.Fatal(err)
		}
	}
	if len(clips) < 10 {
		tb.Fatalf("found %d recordings, want 10 or more; install pocketsphinx-testdata with `make deps`", len(clips))
	}
	return clips
}

func newTestEngine(tb testing.TB, phrase string, threshold float64) *sphinx {
	tb.Helper()
	e, err := newEngine(Config{ModelDir: modelDir(tb), Phrase: phrase, Threshold: threshold, Candidates: threshold})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(e.close)
	return e.(*sphinx)
}

// times returns how often e detects the phrase in c, and the first position.
func times(tb testing.TB, e engine, c clip) (n, first int) {
	tb.Helper()
	if err := e.restart(); err != nil {
		tb.Fatal(err)
	}
	const piece = SampleRate / 20
	for at := 0; at < len(c.pcm); at += piece {
		m, err := e.listen(c.pcm[at:min(at+piece, len(c.pcm))])
		if err != nil {
			tb.Fatal(err)
		}
		if m.found {
			if n++; n == 1 {
				first = min(at+piece, len(c.pcm))
			}
		}
	}
	return n, first
}

// spoken returns the phrase in all available synthetic voices, alone and within a
// sentence.
func spoken(tb testing.TB, phrase string) []clip {
	tb.Helper()
	var clips []clip
	for _, text := range []string{phrase, phrase + ", what is the current branch?", "well, " + phrase + ", read this file"} {
		for _, voice := range []string{"slt", "rms", "awb", "kal16"} {
			clips = append(clips, flite(tb, voice, text))
		}
		for _, voice := range []string{"en-us", "en-us+f2", "en-us+f3", "en-us+m3", "en-us+m7", "en-gb"} {
			for _, speed := range []string{"140", "170"} {
				if c, ok := espeak(tb, text, "-v", voice, "-s", speed); ok {
					clips = append(clips, c)
				}
			}
		}
	}
	return clips
}
