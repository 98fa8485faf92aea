package main

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/internal/testutil/speechdata"
)

// Parameters of the search for a word boundary.
const (
	dipFrames     = 6          // the level of a dip is the mean of so many frames, so that longer dips win
	earliestPause = 0.3        // of the voiced part
	latestPause   = 0.7        // of the voiced part
	perSecond     = 100.0      // dB by which a dip is less likely per second between it and the expected end of a word
	fadeSamples   = int64(240) // 5 ms on each side of the pause
	silentLevel   = -120.0     // dBFS of digital silence
)

// insertPause returns a recording of words with a pause of faint noise between two of them, and
// the sample at which the pause begins. It returns false if there is no place for a pause: the
// recording is silent or has fewer than two words. The same arguments give the same result.
func insertPause(pcm []int16, words string, pause time.Duration, seed uint64) (out []int16, at int64, ok bool) {
	label, voiced := speechdata.LabelOf(pcm)
	ends := wordEnds(words)
	if !voiced || len(ends) == 0 {
		return nil, 0, false
	}
	at = quietestBoundary(frameLevels(pcm), label.Onset, label.End, ends)
	before, after := slices.Clone(pcm[:at]), slices.Clone(pcm[at:])
	for i := range min(fadeSamples, at, int64(len(after))) {
		before[at-1-i] = int16(int64(before[at-1-i]) * i / fadeSamples)
		after[i] = int16(int64(after[i]) * i / fadeSamples)
	}
	return slices.Concat(before, noise(audio.Samples(pause), floorOf(pcm), seed), after), at, true
}

// wordEnds estimates where the words end, except the last, as shares of the whole, by their letters.
func wordEnds(words string) []float64 {
	fields := strings.Fields(words)
	var ends []float64
	total := 0
	for _, f := range fields {
		total += len(f)
		ends = append(ends, float64(total))
	}
	for i := range ends {
		ends[i] /= float64(total)
	}
	return ends[:max(len(ends)-1, 0)]
}

// quietestBoundary returns the sample in the middle of the deepest dip of a voice, where a dip far
// from the expected end of a word counts as less deep.
func quietestBoundary(levels []float64, onset, end int64, ends []float64) int64 {
	best, at := math.Inf(1), (onset+end)/2
	length := float64(end - onset)
	for i := range levels[:max(len(levels)-dipFrames, 0)] {
		middle := int64(i+dipFrames/2) * audio.FrameSamples
		share := float64(middle-onset) / length
		if share < earliestPause || share > latestPause {
			continue
		}
		distance := math.Inf(1)
		for _, e := range ends {
			distance = min(distance, math.Abs(share-e))
		}
		sum := 0.0
		for _, l := range levels[i : i+dipFrames] {
			sum += l
		}
		if depth := sum/dipFrames + perSecond*distance*length/audio.SampleRate; depth < best {
			best, at = depth, middle
		}
	}
	return at
}

// frameLevels returns the levels of the frames of 10 ms, in dBFS.
func frameLevels(pcm []int16) []float64 {
	var levels []float64
	for f := range slices.Chunk(pcm, audio.FrameSamples) {
		sum := 0.0
		for _, v := range f {
			sum += float64(v) * float64(v)
		}
		level := silentLevel
		if sum > 0 {
			level = max(level, 10*math.Log10(sum/float64(len(f))/(1<<30)))
		}
		levels = append(levels, level)
	}
	return levels
}

// floorOf returns the noise floor of a recording in dBFS: that of its quietest tenth.
func floorOf(pcm []int16) float64 {
	levels := slices.Sorted(slices.Values(frameLevels(pcm)))
	if len(levels) == 0 {
		return silentLevel
	}
	return levels[len(levels)/10]
}

// noise returns white noise of a level in dBFS.
func noise(samples int64, level float64, seed uint64) []int16 {
	r := rand.New(rand.NewPCG(seed, 0))
	peak := math.Sqrt(3) * math.Pow(10, level/20) * (1 << 15)
	out := make([]int16, samples)
	for i := range out {
		out[i] = int16(math.Round(peak * (2*r.Float64() - 1)))
	}
	return out
}
