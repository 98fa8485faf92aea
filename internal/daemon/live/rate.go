package live

import (
	"fmt"
	"math"
	"sync/atomic"

	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// rate is how fast the assistant speaks: as the setting says, or for a conversation as
// the user says in it. The synthesis speaks so, since a service sends its speech in
// real time and no player can be ahead of it.
type rate struct {
	conversation atomic.Uint64 // bits of the rate of this conversation; 0 without one
	limited      atomic.Bool   // the user knows that the service cannot speak so
}

// SetRate has the assistant speak at a rate from the next segment on, until the
// conversation ends.
func (w *World) SetRate(rate float64) { w.voice.rate.conversation.Store(math.Float64bits(rate)) }

// forget ends what holds for a conversation.
func (r *rate) forget() { r.conversation.Store(0) }

// of is the rate of the next segment, within what a service can do.
func (r *rate) of(w *World, slowest, fastest float64) float64 {
	wanted := w.port.Settings().Voice.Rate
	if bits := r.conversation.Load(); bits != 0 {
		wanted = math.Float64frombits(bits)
	}
	possible := min(max(wanted, slowest), fastest)
	if possible == wanted {
		r.limited.Store(false)
	} else if r.limited.CompareAndSwap(false, true) {
		w.port.Warn(protocol.CodeVoiceRateLimited, fmt.Sprintf("%g × → %g ×", wanted, possible))
	}
	return possible
}
