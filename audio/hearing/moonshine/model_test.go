//go:build cgo

package moonshine

import (
	"math"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/internal/assets"
	"github.com/agentvoice/agentvoice-daemon/internal/wer"
)

func loadModel(tb testing.TB, threads int) *Model {
	tb.Helper()
	lib, err := assets.ONNXRuntime()
	if err != nil {
		tb.Fatal(err)
	}
	m, err := Load(modelFiles(tb), lib, threads)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := m.Close(); err != nil {
			tb.Error(err)
		}
	})
	return m
}

func encode(tb testing.TB, m *Model, pcm []int16) *Sound {
	tb.Helper()
	s, err := m.Encode(pcm)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func mustTranscribe(tb testing.TB, m *Model, s *Sound, names *Names) Transcript {
	tb.Helper()
	t, err := m.Transcribe(s, names)
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

// TestNamesAreHeard: names correct what is about as probable. Processors round quantized
// numbers differently, so single words may differ.
func TestNamesAreHeard(t *testing.T) {
	m := loadModel(t, 1)
	var errs [2]int
	for _, r := range readRecordings(t, "testdata") {
		if r.name == "stop" { // not understood
			continue
		}
		s := encode(t, m, r.pcm)
		for i, names := range []*Names{nil, m.Names(Terms())} {
			got := mustTranscribe(t, m, s, names)
			wrong, _ := wer.Compute(r.words, got.Text)
			errs[i] += wrong
			if got.Cut || got.Text != textOf(got.Words) || got.Mean < -0.6 || math.Abs(got.Mean*float64(got.Tokens)-got.LogProb) > 1e-9 {
				t.Errorf("%s: %+v", r.name, got)
			}
			if wrong > 0 {
				t.Logf("%s: %s", r.name, got.Text)
			}
		}
	}
	if errs[0] > 4 || errs[1] > 1 || errs[0] < 2 {
		t.Errorf("%d errors without names, %d with names", errs[0], errs[1])
	}
}

// TestStop: a sentence that breaks off is less finished than the whole one.
func TestStop(t *testing.T) {
	m := loadModel(t, 1)
	r := readRecording(t, "archive")
	for _, tt := range []struct {
		part     float64
		finished bool
	}{{0.5, false}, {0.7, false}, {1, true}} { // "older than seven", "but keep"
		got := mustTranscribe(t, m, encode(t, m, r.pcm[:int(tt.part*float64(len(r.pcm)))]), nil)
		if tt.finished != (got.Stop > 0.7) {
			t.Errorf("%v of it: %s %.2f", tt.part, got.Text, got.Stop)
		}
	}
}
