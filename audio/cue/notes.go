package cue

import (
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// Cue is one of the tones.
type Cue uint8

// The cues. None is silence; ordering it ends the current cue.
const (
	None      Cue = iota
	Listening     // the microphone is open for the user
	Thinking      // the answer is taking time; a loop
	Error         // the conversation has failed
	NeedsYou      // a decision by the user is pending
	Done          // the answer is complete
	NumCues
)

var cueNames = [NumCues]string{"none", "listening", "thinking", "error", "needsYou", "done"}

func (c Cue) String() string {
	if c < NumCues {
		return cueNames[c]
	}
	return fmt.Sprintf("cue(%d)", uint8(c))
}

// loops reports whether c plays until it is ended.
func (c Cue) loops() bool { return c == Thinking }

// asks reports whether c needs the user's attention, so that it must be heard in
// full, however late.
func (c Cue) asks() bool { return c == Error || c == NeedsYou }

// note is one tone of a cue.
type note struct {
	at, length time.Duration
	hertz      float64
	level      float64 // dB, relative to the other notes of the cue
}

// partial is one sine of a timbre.
type partial struct {
	ratio float64       // relative to the note's frequency
	level float64       // dB
	decay time.Duration // to 37 %
}

// timbre is the spectrum and envelope of a note.
type timbre struct {
	partials        []partial
	attack, release time.Duration // both are half a period of a cosine
}

const ms = time.Millisecond

var (
	pure = timbre{[]partial{{1, 0, 400 * ms}}, 90 * ms, 150 * ms}
	soft = timbre{[]partial{{1, 0, 120 * ms}, {2, -22, 60 * ms}}, 12 * ms, 40 * ms}
	// Two sines a semitone apart beat 47 and 33 times per second. An octave lower, or
	// with plain harmonics, the voice detector reports the same two notes as speech,
	// with a probability of up to 0.8.
	rough = timbre{[]partial{{1, 0, 100 * ms}, {1.06, -3, 100 * ms}, {3, -14, 60 * ms}}, 8 * ms, 30 * ms}
	// The partials of a struck tube that lie below 4 kHz.
	bell = timbre{[]partial{{1, 0, 130 * ms}, {2.756, -12, 70 * ms}}, 8 * ms, 40 * ms}
	// A marimba of dry wood: the overtone decays at once, and the note soon.
	wood = timbre{[]partial{{1, 0, 45 * ms}, {3, -12, 15 * ms}}, 8 * ms, 30 * ms}
)

// score is the definition of a cue.
type score struct {
	timbre timbre
	notes  []note
	length time.Duration
	peak   float64 // dBFS at volume 1
	drop   note    // a tone that falls to hertz; unused if its length is 0
}

// The pitches, in hertz, of equal temperament on A4 = 440.
const (
	cSharp5 = 554.37
	d5      = 587.33
	g5      = 783.99
	a5      = 880.00
	b5      = 987.77
	d6      = 1174.66
	e6      = 1318.51
)

// scores is the table of the package doc.
var scores = [NumCues]score{
	None:      {},
	Listening: {soft, []note{{0, 100 * ms, a5, -2}, {70 * ms, 160 * ms, d6, 0}}, 230 * ms, -20, note{150 * ms, 80 * ms, 90, -8}},
	Thinking:  {pure, []note{{0, 360 * ms, d5, 0}, {420 * ms, 360 * ms, a5, -5}}, 2000 * ms, -28, note{}},
	Error:     {rough, []note{{0, 130 * ms, g5, 0}, {150 * ms, 140 * ms, cSharp5, 0}}, 290 * ms, -20, note{}},
	NeedsYou:  {bell, []note{{0, 80 * ms, e6, -1}, {75 * ms, 80 * ms, b5, -1}, {150 * ms, 140 * ms, e6, 0}}, 290 * ms, -20, note{}},
	Done:      {wood, []note{{0, 80 * ms, d6, 0}, {70 * ms, 80 * ms, b5, 0}, {140 * ms, 130 * ms, g5, 0}}, 270 * ms, -20, note{}},
}

// synthesised returns all cues at volume 1 (300 KB), made once.
var synthesised = sync.OnceValue(func() (all [NumCues][]int16) {
	for c, s := range scores {
		all[c] = s.render()
	}
	return all
})

// Samples returns all of c at volume 1, mono at audio.SampleRate; for a loop, one
// round. It is empty for None. The caller must not modify it.
func Samples(c Cue) []int16 { return synthesised()[c] }

// render returns the samples of s, scaled to its peak.
func (s score) render() []int16 {
	mix := make([]float64, audio.Samples(s.length))
	for _, n := range s.notes {
		s.timbre.add(mix[audio.Samples(n.at):], n)
	}
	if d := s.drop; d.length > 0 {
		d.fall(mix[audio.Samples(d.at):])
	}
	return toPeak(mix, amplitude(s.peak))
}

// add adds n at the start of mix.
func (t timbre) add(mix []float64, n note) {
	const rate = audio.SampleRate
	length := min(int(audio.Samples(n.length)), len(mix))
	for i := range length {
		at, left := float64(i)/rate, float64(length-i)/rate
		v := 0.0
		for _, p := range t.partials {
			v += amplitude(p.level) * math.Exp(-at/p.decay.Seconds()) * math.Sin(2*math.Pi*n.hertz*p.ratio*at)
		}
		mix[i] += v * amplitude(n.level) * slope(at/t.attack.Seconds()) * slope(left/t.release.Seconds())
	}
}

// A drop falls from dropFrom. It covers all frequencies of speech, so that its echo
// shows how the assistant's words will arrive at the microphone (package dsp).
const (
	dropFrom = 3900.0 // Hz
	dropEdge = 10 * ms
)

// fall adds n at the start of mix, as a drop to its frequency.
func (n note) fall(mix []float64) {
	const rate = audio.SampleRate
	whole := n.length.Seconds()
	falls := math.Log(dropFrom / n.hertz)
	for i := range int(audio.Samples(n.length)) {
		at := float64(i) / rate
		phase := 2 * math.Pi * dropFrom * whole / falls * (1 - math.Exp(-at/whole*falls))
		mix[i] += amplitude(n.level) * math.Sin(phase) * slope(at/dropEdge.Seconds()) * slope((whole-at)/dropEdge.Seconds())
	}
}

// toPeak scales mix to a peak, relative to full scale.
func toPeak(mix []float64, peak float64) []int16 {
	loudest := 0.0
	for _, v := range mix {
		loudest = max(loudest, math.Abs(v))
	}
	pcm := make([]int16, len(mix))
	for i, v := range mix {
		pcm[i] = int16(math.Round(v / loudest * peak * math.MaxInt16))
	}
	return pcm
}

// slope rises smoothly from 0 to 1 as x does.
func slope(x float64) float64 { return (1 - math.Cos(math.Pi*min(max(x, 0), 1))) / 2 }

// amplitude converts dBFS to a fraction of full scale.
func amplitude(db float64) float64 { return math.Pow(10, db/20) }
