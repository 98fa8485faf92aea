package tonemodel

import (
	"fmt"
	"math"
	"strings"
)

// SampleRate is the sample rate of the tone language, in Hz.
const SampleRate = 16000

// The alphabet: a to z and the space.
const (
	letters = 27
	blank   = letters // the blank token
	tokens  = letters + 1
)

// Length of a letter and of the pause after it, in milliseconds.
const (
	letterTime = 120
	pauseTime  = 120
)

// mels is the number of mel bins of all models.
const mels = 80

// scale maps a frequency in Hz to the fractional mel bin of a front end; an integer
// is the centre of a bin.
type scale func(hz float64) float64

// kaldi is the scale of streaming recognizers: 20 to 7600 Hz.
func kaldi(hz float64) float64 {
	mel := func(f float64) float64 { return 1127 * math.Log(1+f/700) }
	return (mel(hz)-mel(20))/(mel(7600)-mel(20))*(mels+1) - 1
}

// slaney is the scale of librosa, from 0 Hz up to a limit.
func slaney(limit float64) scale {
	mel := func(f float64) float64 {
		if f < 1000 {
			return f * 3 / 200
		}
		return 15 + math.Log(f/1000)*27/math.Log(6.4)
	}
	return func(hz float64) float64 { return mel(hz)/mel(limit)*(mels+1) - 1 }
}

// frequency returns a letter's frequency. The frequencies are centres of every second
// or third bin of kaldi, which keeps them at least two bins apart in the other
// scales.
func frequency(letter int) float64 {
	bin := 14 + letter*61/26
	top, bottom := 1127*math.Log(1+7600.0/700), 1127*math.Log(1+20.0/700)
	return 700 * (math.Exp((bottom+float64(bin+1)*(top-bottom)/(mels+1))/1127) - 1)
}

// Say returns text in the tone language as 16-bit samples, with a quarter of a second
// of silence before it and half a second after it. Text consists of lower-case
// letters and spaces.
func Say(text string) []int16 {
	pcm := make([]int16, SampleRate/4)
	for _, r := range text {
		letter := strings.IndexRune("abcdefghijklmnopqrstuvwxyz ", r)
		if letter < 0 {
			panic(fmt.Sprintf("the tone language has no letter %q", r))
		}
		f := frequency(letter)
		for i := range SampleRate * letterTime / 1000 {
			pcm = append(pcm, int16(9800*math.Sin(2*math.Pi*f*float64(i)/SampleRate)))
		}
		pcm = append(pcm, make([]int16, SampleRate*pauseTime/1000)...)
	}
	return append(pcm, make([]int16, SampleRate/2)...)
}

// tokenFile returns the file that maps tokens to numbers.
func tokenFile() string {
	var b strings.Builder
	for k := range 26 {
		fmt.Fprintf(&b, "%c %d\n", 'a'+k, k)
	}
	return b.String() + "▁ 26\n<blk> 27\n"
}

// weights sets each letter's score to the energy in its bin of a scale, and the
// blank's to a threshold between silence and a tone.
func (g *graph) weights(bins scale) {
	w := make([]float32, mels*tokens)
	for k := range letters {
		w[int(math.Round(bins(frequency(k))))*tokens+k] = 1
	}
	g.floats("weights", w, mels, tokens)
	bias := make([]float32, tokens)
	bias[blank] = threshold
	g.floats("bias", bias, tokens)
}

// threshold is a log energy between that of silence and that of a tone.
const threshold = float32(-1)

// letterScores adds nodes from features (batch, mels, time) to scores (batch, time
// divided by the subsampling, tokens). pool is the operator that subsamples.
func (g *graph) letterScores(pool string, subsampling int, bins scale) {
	g.weights(bins)
	g.node(pool, []string{"audio_signal"}, []string{"pooled"}, attributes{"kernel_shape": []int{subsampling}, "strides": []int{subsampling}})
	g.node("Transpose", []string{"pooled"}, []string{"frames"}, attributes{"perm": []int{0, 2, 1}})
	g.node("MatMul", []string{"frames", "weights"}, []string{"energies"}, nil)
	g.node("Add", []string{"energies", "bias"}, []string{"scores"}, nil)
}
