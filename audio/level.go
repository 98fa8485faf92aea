package audio

import "math"

// SilenceLevel is the level of digital silence, in dBFS: below the smallest
// 16-bit sample.
const SilenceLevel = -100

// Level is how loud a stretch of audio is, in dBFS: 0 is full scale, and a sine
// of full scale has a peak of 0 and an RMS of -3.
type Level struct {
	Peak float64
	RMS  float64
}

// LevelOf measures pcm, for display.
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
