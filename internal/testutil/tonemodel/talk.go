package tonemodel

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// Pauses of Talk, in seconds: before the first sentence, and within one.
const (
	leadPause   = 2.5
	withinPause = 0.9
)

// Talk returns the microphone signal of a person who speaks sentences in the tone
// language, with a pause of the given length in seconds after each, and a short one
// at each "|".
//
// A voice detector does not detect tones. So each sentence is mixed with the part of
// a human recording below the lowest letter: the detector hears a person, and the
// recognizer only the tones. human is that recording, at SampleRate.
func Talk(human []int16, pause float64, sentences ...string) []int16 {
	hum := lowPart(human)
	pcm := make([]int16, seconds(leadPause))
	for _, sentence := range sentences {
		for i, part := range strings.Split(sentence, "|") {
			if i > 0 {
				pcm = append(pcm, make([]int16, seconds(withinPause))...)
				part = " " + part
			}
			pcm = append(pcm, over(part, hum)...)
		}
		pcm = append(pcm, make([]int16, seconds(pause))...)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range pcm { // noise of a quiet room
		pcm[i] += int16(random.IntN(9) - 4)
	}
	return pcm
}

func seconds(s float64) int { return int(s * SampleRate) }

// over returns a sentence without the silence around it, mixed with the person.
func over(text string, hum []int16) []int16 {
	pcm := Say(text)
	voiced := func(v int16) bool { return v != 0 }
	pcm = pcm[slices.IndexFunc(pcm, voiced):]
	last := len(pcm)
	for pcm[last-1] == 0 {
		last--
	}
	pcm = pcm[:last]
	for i := range pcm {
		pcm[i] = pcm[i]/10*9 + hum[i%len(hum)]
	}
	return pcm
}

// lowest is the cut-off frequency for the person, in Hz: below the lowest letter.
const lowest = 340.0

// lowPart returns a low-pass filtered recording.
func lowPart(speech []int16) []int16 {
	const half = 600 // half filter length: the transition band is 70 Hz
	filter := make([]float64, 2*half+1)
	for i := range filter {
		x := float64(i - half)
		filter[i] = 2 * lowest / SampleRate
		if x != 0 {
			filter[i] = math.Sin(math.Pi*filter[i]*x) / (math.Pi * x)
		}
		blackman := 0.42 - 0.5*math.Cos(math.Pi*float64(i)/half) + 0.08*math.Cos(2*math.Pi*float64(i)/half)
		filter[i] *= blackman
	}
	low := make([]int16, len(speech))
	for i := range low {
		sum := 0.0
		for k, h := range filter {
			sum += h * float64(speech[(i-k+len(speech))%len(speech)])
		}
		low[i] = int16(sum)
	}
	return low
}
