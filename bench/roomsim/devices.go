package roomsim

import (
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// claimedSource and claimedSink report the delays of the simulated devices. The room
// moves their frames, so they do not run.
type (
	claimedSource struct {
		audio.Source
		delay time.Duration
	}
	claimedSink struct {
		audio.Sink
		delay time.Duration
	}
)

// Timing implements audio.Timed.
func (s claimedSource) Timing() audio.Timing { return audio.Timing{Reported: s.delay} }

// Latency implements audio.Sink.
func (s claimedSink) Latency() time.Duration { return s.delay }
