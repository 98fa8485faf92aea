package kokoro

import (
	"math"
	"slices"
	"time"
)

// Edges of the speech in a piece.
const (
	window     = SampleRate / 200       // 5 ms
	keepBefore = SampleRate * 15 / 1000 // a soft consonant can be below the threshold
	keepAfter  = SampleRate * 30 / 1000 // the end of a word fades
	fadeIn     = SampleRate * 3 / 1000
	fadeOut    = SampleRate * 15 / 1000
	// floor is the level in relation to the loudest window below which there is silence.
	floor = 0.006 // -44 dB
	// The model sometimes clicks after the end: a short sound after a long silence.
	click       = 60 / 5  // windows
	beforeClick = 120 / 5 // silent windows
)

// pauses are the silences after punctuation at normal speed.
var pauses = map[string]time.Duration{
	"":  40 * time.Millisecond, // within a clause
	",": 120 * time.Millisecond, "—": 180 * time.Millisecond, ":": 180 * time.Millisecond, ";": 180 * time.Millisecond,
	"…": 350 * time.Millisecond, ".": 350 * time.Millisecond, "!": 350 * time.Millisecond, "?": 350 * time.Millisecond,
	"\n": 500 * time.Millisecond,
}

// pauseAfter returns the number of silent samples after punctuation.
func pauseAfter(mark string, speed float64) int {
	return int(pauses[mark].Seconds() * SampleRate / speed)
}

// trim cuts the silence around speech and fades the edges. Audio without speech becomes
// empty.
func trim(audio []float32) []float32 {
	levels := make([]float64, len(audio)/window)
	loudest := 0.0
	for i := range levels {
		sum := 0.0
		for _, v := range audio[i*window : (i+1)*window] {
			sum += float64(v) * float64(v)
		}
		levels[i] = math.Sqrt(sum / window)
		loudest = max(loudest, levels[i])
	}
	if loudest < 1e-4 {
		return nil
	}
	first, last := speechIn(levels, floor*loudest)
	from, to := max(0, first*window-keepBefore), min(len(audio), (last+1)*window+keepAfter)
	audio = audio[from:to]
	for i := range min(fadeIn, len(audio)) {
		audio[i] *= float32(i) / fadeIn
	}
	for i := range min(fadeOut, len(audio)) {
		audio[len(audio)-1-i] *= float32(i) / fadeOut
	}
	return audio
}

// speechIn returns the first and the last window above a threshold, without a click at the
// end. At least one window is above.
func speechIn(levels []float64, threshold float64) (first, last int) {
	first = slices.IndexFunc(levels, func(v float64) bool { return v > threshold })
	begin, before := first, first // the last sound, and the end of the one before it
	last = first
	for i := first; i < len(levels); i++ {
		if levels[i] <= threshold {
			continue
		}
		if i-last > beforeClick {
			begin, before = i, last
		}
		last = i
	}
	if begin > first && last-begin < click {
		last = before
	}
	return first, last
}

// samples converts audio to 16 bits and appends silence.
func samples(audio []float32, silence int) []int16 {
	pcm := make([]int16, len(audio), len(audio)+silence)
	for i, v := range audio {
		pcm[i] = int16(min(max(v, -1), 1) * math.MaxInt16)
	}
	return pcm[:len(audio)+silence]
}
