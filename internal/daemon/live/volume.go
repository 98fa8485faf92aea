package live

import (
	"math"
	"sync/atomic"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// volume is how loud the assistant speaks in a conversation: 1 as it is synthesised.
type volume struct {
	inner func(*audio.Frame)
	bits  atomic.Uint64 // of the factor; 0 for 1
}

// SetVolume has the assistant speak louder or more quietly, until the conversation ends.
func (w *World) SetVolume(volume float64) { w.volume.bits.Store(math.Float64bits(volume)) }

// forget ends what holds for a conversation.
func (v *volume) forget() { v.bits.Store(0) }

// knee is the level from which on loud speech is compressed, so that it is not clipped.
const knee = 0.7 * math.MaxInt16

// render fills f with the inner function. It is the device's side: it takes no lock and
// allocates nothing.
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

// louder bounds a sample: above the knee it comes ever closer to full scale.
func louder(s float64) int16 {
	const room = math.MaxInt16 - knee
	over := math.Abs(s) - knee
	if over <= 0 {
		return int16(s)
	}
	return int16(math.Copysign(knee+room*over/(over+room), s))
}

// silencer drops all speech while it is on. The player's clock runs on, so captions and
// what counts as heard keep the pace of speech.
type silencer struct {
	inner func(*audio.Frame)
	on    atomic.Bool
}

// render is the device's side: it takes no lock and allocates nothing.
func (s *silencer) render(f *audio.Frame) {
	s.inner(f)
	if s.on.Load() {
		*f = audio.Frame{}
	}
}
