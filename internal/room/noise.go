package room

import (
	"math"
	"math/rand/v2"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// ActiveLevel is how loud speech is while somebody speaks, in dBFS RMS: the mean
// power of those of its frames of 10 ms that are not 15.9 dB or more below it. It
// follows ITU-T P.56 with plain frames in place of the envelope. Silence has
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
	for range 20 { // it rises and settles within a few rounds
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

// noiseTime is how much noise is made; it then begins again.
const noiseSeconds = 20

// Fan makes the noise of a fan or an air conditioner, with an RMS of 1: broad, with
// its weight below 500 Hz, and the faint tone of its blades.
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

// babblers are how many people talk at once in a babble.
const babblers = 8

// Babble mixes people who all talk at once, with an RMS of 1. Each continues through
// speech, clips at 48 kHz, from a place of its own; clips are brought to the same
// active level first. It is nil when there is no speech.
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
