package live

import (
	"fmt"
	"math"
	"sync/atomic"

	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// rate is the assistant's speech rate, from the setting or as the user asked during a
// conversation. It applies to synthesis, since a service sends its speech in real time
// and the player cannot run ahead of it.
type rate struct {
	conversation atomic.Uint64 // bits of this conversation's rate; 0 if unset
	limited      atomic.Bool   // the user knows about the service's limits
}

// SetRate sets the speech rate from the next segment until the end of the conversation.
func (w *World) SetRate(rate float64) { w.voice.rate.conversation.Store(math.Float64bits(rate)) }

// forget drops the rate of the conversation.
func (r *rate) forget() { r.conversation.Store(0) }

// of returns the rate of the next segment, within the service's limits.
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
