//go:build cgo

package localrealtime

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/agentvoice/agentvoice-daemon/audio/hearing"
	"github.com/agentvoice/agentvoice-daemon/audio/vad"
	"github.com/agentvoice/agentvoice-daemon/audio/voice"
)

// Fakes for behaviour that real engines cannot produce on demand: responding at a known
// sample, failing, hanging.

// fakeDetector detects speech where the audio is loud.
type fakeDetector struct {
	fail   *atomic.Bool // of the next Process
	closed *atomic.Int64
	runs   *atomic.Int64
}

func (d *fakeDetector) Process(window []int16) (float32, error) {
	d.runs.Add(1)
	if d.fail.CompareAndSwap(true, false) {
		return 0, errors.New("fake detector fails")
	}
	var sum float64
	for _, s := range window {
		sum += float64(s) * float64(s)
	}
	if math.Sqrt(sum/float64(len(window))) > 1000 {
		return 1, nil
	}
	return 0, nil
}
func (d *fakeDetector) Reset()       {}
func (d *fakeDetector) Close() error { d.closed.Add(1); return nil }

// fakeRecognizer recognises one word per 200 ms of any audio.
type fakeRecognizer struct {
	engines *fakeEngines
	heard   int
}

var fakeWords = []string{"one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"}

func (r *fakeRecognizer) Start() error { r.heard = 0; return nil }
func (r *fakeRecognizer) Write(pcm []int16) error {
	if r.engines.slow != nil {
		<-r.engines.slow
	}
	if r.engines.writeFails.CompareAndSwap(true, false) {
		return errors.New("fake recogniser fails")
	}
	r.heard += len(pcm)
	return nil
}
func (r *fakeRecognizer) Partial() string {
	return strings.Join(fakeWords[:min(r.heard/(hearing.SampleRate/5), len(fakeWords))], " ")
}
func (r *fakeRecognizer) Finish() (hearing.Result, error) {
	return hearing.Result{Text: r.Partial(), Probs: slices.Repeat([]float64{0.5}, len(strings.Fields(r.Partial())))}, nil
}
func (r *fakeRecognizer) Close() error { r.engines.closed.Add(1); return nil }

// fakeSynthesizer produces a tone of 60 ms per word. At the word "wait" it waits for a
// value on gate; at "break" it fails.
type fakeSynthesizer struct {
	engines *fakeEngines
	rate    float64
}

const fakeWordTime = 60 // ms, at rate 1

func (s *fakeSynthesizer) SetRate(rate float64) { s.rate = rate }

func (s *fakeSynthesizer) Speak(ctx context.Context, _, text string, emit func([]int16, int) error) error {
	for _, word := range strings.Fields(text) {
		switch word {
		case "break":
			return errors.New("fake synthesiser fails")
		case "mute":
			continue
		case "wait":
			select {
			case <-s.engines.gate:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		if err := emit(tone(int(fakeWordTime/cmp.Or(s.rate, 1)), 16000), 16000); err != nil {
			return err
		}
	}
	return nil
}
func (s *fakeSynthesizer) Voices() []string { return []string{"slt", "kal"} }
func (s *fakeSynthesizer) Close() error     { s.engines.closed.Add(1); return nil }

// fakeEngines creates the fakes, counts them and holds their faults.
type fakeEngines struct {
	detectorFails, detectorBroken, writeFails, recognizerBroken, synthesizerBroken atomic.Bool

	gate         chan struct{}
	slow         chan struct{} // if not nil, each Write of the recogniser first receives a value
	made, closed atomic.Int64
	detections   atomic.Int64 // windows passed to detectors
}

func newFakeEngines() *fakeEngines { return &fakeEngines{gate: make(chan struct{})} }

func (e *fakeEngines) detector() (vad.Detector, error) {
	if e.detectorBroken.Load() {
		return nil, errors.New("no fake detector here; install one")
	}
	e.made.Add(1)
	return &fakeDetector{fail: &e.detectorFails, closed: &e.closed, runs: &e.detections}, nil
}

func (e *fakeEngines) recognizer() (hearing.Recognizer, error) {
	if e.recognizerBroken.Load() {
		return nil, errors.New("no fake recogniser here; install one")
	}
	e.made.Add(1)
	return &fakeRecognizer{engines: e}, nil
}

// settler is a recogniser that computes its final text in a pause, and notes when.
type settler struct {
	*fakeRecognizer
	calls func(string)
}

func (s settler) Settle() (hearing.Result, error) {
	s.calls("settle")
	return hearing.Result{Text: s.Partial() + "."}, nil
}

func (s settler) Resume() error {
	s.calls("resume")
	return nil
}

func (s settler) Finish() (hearing.Result, error) {
	s.calls("finish")
	return s.fakeRecognizer.Finish()
}

func (e *fakeEngines) synthesizer() (voice.Synthesizer, error) {
	if e.synthesizerBroken.Load() {
		return nil, errors.New("no fake synthesiser here; install one")
	}
	e.made.Add(1)
	return &fakeSynthesizer{engines: e}, nil
}

// tone returns a loud sound of ms milliseconds.
func tone(ms, rate int) []int16 {
	pcm := make([]int16, ms*rate/1000)
	for i := range pcm {
		pcm[i] = int16(12000 * math.Sin(2*math.Pi*440*float64(i)/float64(rate)))
	}
	return pcm
}

// quiet returns ms milliseconds of silence at listenRate.
func quiet(ms int) []int16 { return make([]int16, ms*listenRate/1000) }
