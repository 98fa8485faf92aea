//go:build cgo

package vad

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/internal/assets"
)

// recordings returns human speech at 16 kHz from Debian's pocketsphinx-testdata.
const recordings = "/usr/share/pocketsphinx/test/data/librivox/*.wav"

func newDetector(tb testing.TB) Detector {
	tb.Helper()
	model, err := assets.Silero()
	if err != nil {
		tb.Fatal(err)
	}
	lib, err := assets.ONNXRuntime()
	if err != nil {
		tb.Fatal(err)
	}
	d, err := NewSilero(model, lib)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := d.Close(); err != nil {
			tb.Error(err)
		}
	})
	return d
}

func readSpeech(tb testing.TB) map[string][]int16 {
	tb.Helper()
	names, err := filepath.Glob(recordings)
	if err != nil || len(names) != 5 {
		tb.Fatalf("found %d recordings, want 5; install pocketsphinx-testdata with `make deps`", len(names))
	}
	speech := map[string][]int16{}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			tb.Fatal(err)
		}
		pcm := make([]int16, (len(b)-44)/2) // 44 bytes of RIFF header
		if _, err := binary.Decode(b[44:], binary.LittleEndian, pcm); err != nil {
			tb.Fatal(err)
		}
		speech[filepath.Base(name)] = pcm
	}
	return speech
}

// firstEnergy labels where the voice starts: the first 50 ms that stay above a
// twelfth of the loudest 10 ms. This excludes the breath and the edit before the
// first word, a quarter of a second in two of the recordings.
func firstEnergy(pcm []int16) int64 {
	const step = SampleRate / 100
	var levels []float64
	for at := 0; at+step <= len(pcm); at += step {
		var sum float64
		for _, v := range pcm[at : at+step] {
			sum += float64(v) * float64(v)
		}
		levels = append(levels, math.Sqrt(sum))
	}
	var peak float64
	for _, l := range levels {
		peak = max(peak, l)
	}
	loud := 0
	for i, l := range levels {
		if l <= peak/12 {
			loud = 0
		} else if loud++; loud == 5 {
			return int64((i - 4) * step)
		}
	}
	return -1
}

var usual = EndpointerConfig{
	Threshold: 0.5, PrefixPadding: 300 * time.Millisecond,
	Silence: 700 * time.Millisecond, MinSpeech: 96 * time.Millisecond,
}

func edgesOf(tb testing.TB, d Detector, cfg EndpointerConfig, pcm []int16) []Edge {
	tb.Helper()
	d.Reset()
	e := NewEndpointer(cfg)
	var edges []Edge
	for len(pcm) >= WindowSamples {
		p, err := d.Process(pcm[:WindowSamples])
		if err != nil {
			tb.Fatal(err)
		}
		if edge, ok := e.Push(p); ok {
			edges = append(edges, edge)
		}
		pcm = pcm[WindowSamples:]
	}
	return edges
}

func TestHumanSpeechHasOneOnsetWhereItBegins(t *testing.T) {
	const around = SampleRate // a second of silence before and after
	d := newDetector(t)
	for name, speech := range readSpeech(t) {
		pcm := make([]int16, around+len(speech)+2*around)
		copy(pcm[around:], speech)
		edges := edgesOf(t, d, usual, pcm)
		if len(edges) != 2 {
			t.Errorf("%s: edges %+v, want one utterance", name, edges)
			continue
		}
		want := firstEnergy(pcm)
		late := time.Duration(edges[0].Speech-want) * time.Second / SampleRate
		t.Logf("%s: onset %v after the first energy", name, late)
		if late.Abs() > 100*time.Millisecond {
			t.Errorf("%s: onset %v from the first energy", name, late)
		}
		if got := edges[0].Speech - edges[0].Pos; got != samples(usual.PrefixPadding) {
			t.Errorf("%s: padding of %d samples", name, got)
		}
	}
}

func TestNoOnsetWithoutAVoice(t *testing.T) {
	d := newDetector(t)
	random := rand.New(rand.NewPCG(1, 2))
	noise := make([]int16, 10*SampleRate)
	for i := range noise {
		noise[i] = int16(random.NormFloat64() * 100) // -50 dBFS
	}
	click := make([]int16, 3*SampleRate)
	for i := range 80 { // 5 ms
		click[SampleRate+i] = int16(random.IntN(40000) - 20000)
	}
	for name, pcm := range map[string][]int16{
		"digital silence": make([]int16, 10*SampleRate), "low noise": noise, "click": click,
	} {
		if edges := edgesOf(t, d, usual, pcm); len(edges) != 0 {
			t.Errorf("%s: %+v", name, edges)
		}
	}
}

func TestResetDiscardsTheHistory(t *testing.T) {
	d := newDetector(t)
	var speech []int16
	for _, speech = range readSpeech(t) {
		break
	}
	first := edgesOf(t, d, usual, speech)
	if again := edgesOf(t, d, usual, speech); len(first) == 0 || first[0] != again[0] {
		t.Errorf("first %+v, after reset %+v", first, again)
	}
}

func TestDetectorsShareTheRuntime(t *testing.T) {
	speech := readSpeech(t)
	var wg sync.WaitGroup
	for _, pcm := range speech {
		d := newDetector(t)
		wg.Go(func() {
			e := NewEndpointer(usual)
			began := false
			for at := 0; at+WindowSamples <= len(pcm); at += WindowSamples {
				p, err := d.Process(pcm[at : at+WindowSamples])
				if err != nil {
					t.Error(err)
					return
				}
				_, ok := e.Push(p)
				began = began || ok
			}
			if !began {
				t.Error("no onset in speech")
			}
		})
	}
	wg.Wait()
}

func TestMisuse(t *testing.T) {
	d := newDetector(t)
	if _, err := d.Process(make([]int16, WindowSamples-1)); err == nil {
		t.Error("took a short window")
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
	d.Reset()
	if _, err := d.Process(make([]int16, WindowSamples)); err == nil {
		t.Error("worked after close")
	}
}

func TestBadFiles(t *testing.T) {
	model, err := assets.Silero()
	if err != nil {
		t.Fatal(err)
	}
	lib, err := assets.ONNXRuntime()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	junk := filepath.Join(dir, "junk.bin")
	if err := os.WriteFile(junk, []byte("neither model nor library"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, files := range map[string][2]string{
		"no model": {filepath.Join(dir, "none.onnx"), lib}, "bad model": {junk, lib},
		"no library": {model, filepath.Join(dir, "none.so")}, "bad library": {model, junk},
	} {
		_, err := NewSilero(files[0], files[1])
		if err == nil {
			t.Errorf("%s: loaded", name)
			continue
		}
		if msg := err.Error(); strings.Contains(msg, dir) || !strings.Contains(msg, "make deps") {
			t.Errorf("%s: %q shows a folder or no remedy", name, msg)
		}
	}
	newDetector(t) // a failure must not leave a runtime loaded
}

// TestDetectorsShareTheModel: a conversation needs four detectors, and loading the
// model for each of them delayed Listening by a third of a second. Their states are
// separate.
func TestDetectorsShareTheModel(t *testing.T) {
	first := newDetector(t)
	before := models.loads
	others := []Detector{newDetector(t), newDetector(t), newDetector(t)}
	if n := models.loads - before; n != 0 {
		t.Errorf("three more detectors loaded the model %d times, want 0", n)
	}
	var speech []int16
	for _, speech = range readSpeech(t) {
		break
	}
	alone := probabilities(t, first, speech)
	var wg sync.WaitGroup
	for i, d := range others {
		wg.Go(func() {
			own := speech
			if i == 0 {
				own = make([]int16, len(speech)) // silence, which must not affect the others
			}
			if got := probabilities(t, d, own); (i > 0) != slices.Equal(got, alone) {
				t.Errorf("detector %d hears the same as the first: %v", i, i == 0)
			}
		})
	}
	wg.Wait()
}

func probabilities(t *testing.T, d Detector, pcm []int16) (ps []float32) {
	d.Reset()
	for ; len(pcm) >= WindowSamples; pcm = pcm[WindowSamples:] {
		p, err := d.Process(pcm[:WindowSamples])
		if err != nil {
			t.Error(err)
			return nil
		}
		ps = append(ps, p)
	}
	return ps
}

// Four detectors, as in a conversation, while a fifth keeps the model loaded.
func BenchmarkConversationDetectors(b *testing.B) {
	newDetector(b)
	path, err := assets.Silero()
	if err != nil {
		b.Fatal(err)
	}
	lib, err := assets.ONNXRuntime()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		for range 4 {
			d, err := NewSilero(path, lib)
			if err != nil {
				b.Fatal(err)
			}
			if err := d.Close(); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkSileroWindow(b *testing.B) {
	d := newDetector(b)
	var speech []int16
	for _, speech = range readSpeech(b) {
		break
	}
	b.ReportAllocs()
	at := 0
	for b.Loop() {
		if _, err := d.Process(speech[at : at+WindowSamples]); err != nil {
			b.Fatal(err)
		}
		if at += WindowSamples; at+WindowSamples > len(speech) {
			at = 0
		}
	}
}
