package smartturn

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"strconv"
	"testing"
)

// reference returns 3 s of an integer signal: a triangle, a square and noise.
func reference() []int16 {
	pcm, r := make([]int16, 48000), 12345
	for i := range pcm {
		r = (r*1103515245 + 12345) % (1 << 31)
		triangle := (i*7)%1600 - 800
		if triangle < 0 {
			triangle = -triangle
		}
		square := -1500
		if (i*3/100)%2 != 0 {
			square = 1500
		}
		pcm[i] = int16((triangle-400)*8 + square*((i/4000)%3) + (r>>16)%512 - 256)
	}
	return pcm
}

// TestLogMel compares the features with those that another program computed from the
// definition, without an FFT, for frames before, at and after the onset and at both
// ends.
func TestLogMel(t *testing.T) {
	text, err := os.ReadFile("testdata/mel.json")
	if err != nil {
		t.Fatal(err)
	}
	var want map[string][]float64
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	got := logMel(reference())
	if len(got) != melBins*melFrames || len(want) != 10 {
		t.Fatalf("%d features and %d frames to compare", len(got), len(want))
	}
	for frame, bins := range want {
		at, _ := strconv.Atoi(frame)
		for b, v := range bins {
			if g := float64(got[b*melFrames+at]); math.Abs(g-v) > 1e-5 {
				t.Errorf("frame %d bin %d is %.6f, want %.6f", at, b, g, v)
			}
		}
	}
	longer := append(slices.Repeat([]int16{9000, -9000}, turnSamples), slices.Concat(make([]int16, turnSamples-48000), reference())...)
	if !slices.Equal(logMel(longer), got) {
		t.Error("audio before the last 8 s changes the features")
	}
}
