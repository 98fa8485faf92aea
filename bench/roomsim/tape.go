package roomsim

import (
	"math"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// SilenceLevel is the level below which the speaker counts as silent, in dBFS RMS over 10 ms.
const SilenceLevel = -50.0

// Hold is the minimum length of a silence that counts as a reaction. The assistant's
// pauses are shortened to speechGap.
const Hold = 100 * time.Millisecond

// perMs is samples per millisecond, the resolution of a tape.
const perMs = audio.SampleRate / 1000

// Tape records the level of a speaker per millisecond.
type Tape struct {
	first  int64     // position of the first sample, which includes the output delay
	energy []float32 // sum of squares of each millisecond
}

// NewTape returns a tape whose first sample is audible at position first.
func NewTape(first int64) *Tape { return &Tape{first: first} }

// Push adds samples, a whole number of milliseconds.
func (t *Tape) Push(pcm []int16) {
	for ; len(pcm) >= perMs; pcm = pcm[perMs:] {
		sum := float32(0)
		for _, s := range pcm[:perMs] {
			sum += float32(s) * float32(s)
		}
		t.energy = append(t.energy, sum)
	}
}

// window is the length of audio per level, in ms.
const window = 10

var silentEnergy = float32(math.Pow(32768*math.Pow(10, SilenceLevel/20), 2) * perMs * window)

// loud reports whether the window that starts at millisecond i is not silent.
func (t *Tape) loud(i int) bool {
	sum := float32(0)
	for _, e := range t.energy[i:min(i+window, len(t.energy))] {
		sum += e
	}
	return sum >= silentEnergy
}

// index returns the first millisecond that starts at or after a position.
func (t *Tape) index(pos int64) int { return max(0, int((pos-t.first+perMs-1)/perMs)) }

// Silent returns the first position at or after pos where the speaker falls silent
// for Hold, or false if there is none before limit.
func (t *Tape) Silent(pos, limit int64) (int64, bool) {
	hold := int(Hold / time.Millisecond)
	end := min(t.index(limit), len(t.energy)-window)
	for i := t.index(pos); i < end; i++ {
		quiet := 0
		for quiet <= hold-window && i+quiet < len(t.energy)-window && !t.loud(i+quiet) {
			quiet++
		}
		if quiet > hold-window {
			return t.first + int64(i)*perMs, true
		}
		i += quiet
	}
	return 0, false
}

// Sounds returns the first position at or after pos where the speaker is not silent.
func (t *Tape) Sounds(pos, limit int64) (int64, bool) {
	for i, end := t.index(pos), min(t.index(limit), len(t.energy)-window); i < end; i++ {
		if t.loud(i) {
			return t.first + int64(i)*perMs, true
		}
	}
	return 0, false
}
