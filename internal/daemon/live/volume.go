package live

import (
	"math"
	"sync/atomic"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// volume is the assistant's volume in a conversation; 1 leaves the synthesis unchanged.
type volume struct {
	inner func(*audio.Frame)
	bits  atomic.Uint64 // bits of the factor; 0 means 1
}

// SetVolume changes the assistant's volume until the conversation ends.
func (w *World) SetVolume(volume float64) { w.volume.bits.Store(math.Float64bits(volume)) }

// forget drops the volume of the conversation.
func (v *volume) forget() { v.bits.Store(0) }

// knee is the level above which amplified speech is compressed to avoid clipping.
const knee = 0.7 * math.MaxInt16

// render fills f with the inner function. It runs in the device callback: it takes no
// lock and does not allocate.
func (v *volume) render(f *audio.Frame) {
	v.inner(f)
	bits := v.bits.Load()
	if bits == 0 || *f == (audio.Frame{}) {
		return
	}
	factor := math.Float64frombits(bits)
	for i, s := range f {
		f[i] = louder(float64(s) * factor)
	}
}

// louder limits a sample: above the knee it approaches full scale asymptotically.
func louder(s float64) int16 {
	const room = math.MaxInt16 - knee
	over := math.Abs(s) - knee
	if over <= 0 {
		return int16(s)
	}
	return int16(math.Copysign(knee+room*over/(over+room), s))
}

// silencer drops all speech while it is on. The player's clock keeps running, so
// captions and what counts as heard advance with the speech.
type silencer struct {
	inner func(*audio.Frame)
	on    atomic.Bool
}

// render runs in the device callback: it takes no lock and does not allocate.
func (s *silencer) render(f *audio.Frame) {
	s.inner(f)
	if s.on.Load() {
		*f = audio.Frame{}
	}
}
