package roomsim

import (
	"math"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// SilenceLevel is what a loudspeaker is silent below, in dBFS RMS of 10 ms.
const SilenceLevel = -50.0

// Hold is how long silence lasts that somebody made. The gaps in the assistant's
// speech are cut to speechGap.
const Hold = 100 * time.Millisecond

// perMs is how many samples a millisecond is, the grain of a tape.
const perMs = audio.SampleRate / 1000

// Tape is how loud a loudspeaker was, by the millisecond.
type Tape struct {
	first  int64     // position of the first sample, for a loudspeaker that sounds later
	energy []float32 // sum of squares of each millisecond
}

// NewTape is a tape whose first sample is heard at position first.
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

// window is how long the audio is that a level belongs to, in ms.
const window = 10

var silentEnergy = float32(math.Pow(32768*math.Pow(10, SilenceLevel/20), 2) * perMs * window)

// loud says whether the window that begins at millisecond i is not silent.
func (t *Tape) loud(i int) bool {
	sum := float32(0)
	for _, e := range t.energy[i:min(i+window, len(t.energy))] {
		sum += e
	}
	return sum >= silentEnergy
}

// index is the millisecond of a position, the one that begins at or after it.
func (t *Tape) index(pos int64) int { return max(0, int((pos-t.first+perMs-1)/perMs)) }

// Silent is the first position from pos on where the loudspeaker falls silent for
// Hold, and false when it does not until the position limit.
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

// Sounds is the first position from pos on where the loudspeaker is not silent.
func (t *Tape) Sounds(pos, limit int64) (int64, bool) {
	for i, end := t.index(pos), min(t.index(limit), len(t.energy)-window); i < end; i++ {
		if t.loud(i) {
			return t.first + int64(i)*perMs, true
		}
	}
	return 0, false
}
