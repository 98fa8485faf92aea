package room

import (
	"math"
	"math/rand/v2"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// ActiveLevel returns the level of speech without its pauses, in dBFS RMS: the mean
// power of the 10 ms frames that are less than 15.9 dB below it. It follows ITU-T
// P.56 with plain frames instead of the envelope. For silence it returns
// audio.SilenceLevel.
func ActiveLevel(pcm []int16) float64 {
	var powers []float64
	total := 0.0
	for ; len(pcm) >= audio.FrameSamples; pcm = pcm[audio.FrameSamples:] {
		p := 0.0
		for _, s := range pcm[:audio.FrameSamples] {
			p += float64(s) * float64(s)
		}
		powers = append(powers, p/audio.FrameSamples)
		total += p / audio.FrameSamples
	}
	if total == 0 {
		return audio.SilenceLevel
	}
	active := total / float64(len(powers))
	for range 20 { // converges within a few rounds
		floor, sum, n := active*math.Pow(10, -1.59), 0.0, 0
		for _, p := range powers {
			if p >= floor {
				sum += p
				n++
			}
		}
		active = sum / float64(n)
	}
	return max(audio.SilenceLevel, 10*math.Log10(active/(1<<30)))
}

// noiseTime is the length of generated noise, which then repeats.
const noiseSeconds = 20

// Fan generates the noise of a fan or an air conditioner, with an RMS of 1:
// broadband, mostly below 500 Hz, plus the weak tone of its blades.
func Fan(seed uint64) []float32 {
	rng := rand.New(rand.NewPCG(seed, 2))
	x := make([]float32, noiseSeconds*audio.SampleRate)
	slow := 1 - math.Exp(-2*math.Pi*350/audio.SampleRate)
	rumble := math.Exp(-2 * math.Pi * 40 / audio.SampleRate)
	blades := 2 * math.Pi * (90 + 60*rng.Float64()) / audio.SampleRate
	low, lower, high, last := 0.0, 0.0, 0.0, 0.0
	for i := range x {
		white := rng.NormFloat64()
		low += slow * (white - low)
		lower += slow * (low - lower)
		v := lower + 0.15*low + 0.01*white
		high, last = rumble*(high+v-last), v
		x[i] = float32(high + 0.01*math.Sin(blades*float64(i)) + 0.005*math.Sin(2*blades*float64(i)))
	}
	return toUnit(x)
}

// babblers is the number of simultaneous talkers in babble.
const babblers = 8

// Babble mixes simultaneous talkers, with an RMS of 1. Each plays the speech clips
// (48 kHz) from a different position, normalized to the same active level. It returns
// nil without speech.
func Babble(seed uint64, speech ...[]int16) []float32 {
	var all []float32
	for _, clip := range speech {
		level := ActiveLevel(clip)
		if level <= audio.SilenceLevel {
			continue
		}
		gain := float32(math.Pow(10, -level/20) / (1 << 15))
		for _, s := range clip {
			all = append(all, float32(s)*gain)
		}
	}
	if len(all) == 0 {
		return nil
	}
	rng := rand.New(rand.NewPCG(seed, 3))
	x := make([]float32, noiseSeconds*audio.SampleRate)
	for range babblers {
		at := rng.IntN(len(all))
		gain := float32(0.6 + 0.8*rng.Float64())
		for i := range x {
			x[i] += gain * all[(at+i)%len(all)]
		}
	}
	return toUnit(x)
}

// toUnit scales x to an RMS of 1.
func toUnit(x []float32) []float32 {
	sum := 0.0
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	gain := float32(1 / math.Sqrt(sum/float64(len(x))))
	for i := range x {
		x[i] *= gain
	}
	return x
}
