package audio

import "math"

// SilenceLevel is the level of digital silence, in dBFS: below the smallest
// 16-bit sample.
const SilenceLevel = -100

// Level is the level of a block of audio in dBFS: 0 is full scale, and a
// full-scale sine has a peak of 0 and an RMS of -3.
type Level struct {
	Peak float64
	RMS  float64
}

// LevelOf returns the level of pcm, for meters.
func LevelOf(pcm []int16) Level {
	peak, sum := 0.0, 0.0
	for _, s := range pcm {
		v := math.Abs(float64(s))
		peak = max(peak, v)
		sum += v * v
	}
	if peak == 0 {
		return Level{Peak: SilenceLevel, RMS: SilenceLevel}
	}
	return Level{Peak: decibels(peak), RMS: decibels(math.Sqrt(sum / float64(len(pcm))))}
}

func decibels(amplitude float64) float64 {
	return max(SilenceLevel, 20*math.Log10(amplitude/(1<<15)))
}
