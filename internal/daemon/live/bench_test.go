//go:build cgo

package live

import (
	"context"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/wavio"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// Measures the time from the user's start to Listening, and back to Idle, with the
// embedded server and its engines.
func BenchmarkIdleToListening(b *testing.B) {
	states := make(chan protocol.State, 16)
	d := daemon.New(daemon.Config{
		Clock: dispatch.NewClock(1), Started: time.Now(), Settings: protocol.DefaultSettings(),
		Adapter: &answers{send: says("")}, Log: zerolog.Nop(),
		Notify: func(_ string, params any) {
			if p, ok := params.(protocol.StateParams); ok {
				states <- p.State
			}
		},
		World: New(Config{
			Source:  func(protocol.Settings) (audio.Source, error) { return &mouth{}, nil },
			Sink:    func(protocol.Settings) (audio.Sink, error) { return wavio.Null{}, nil },
			Engines: engines, Detector: detector, Log: zerolog.Nop(),
		}),
	})
	ctx, stop := context.WithCancel(context.Background())
	finished := make(chan error, 1)
	go func() { finished <- d.Run(ctx) }()
	await := func(want protocol.State) {
		for s := range states {
			if s == want {
				return
			}
		}
	}
	var total time.Duration
	for b.Loop() {
		begin := time.Now()
		d.Post(csm.UserStart{})
		await(protocol.StateListening)
		total += time.Since(begin)
		d.Post(csm.UserStop{})
		await(protocol.StateIdle)
	}
	b.ReportMetric(float64(total.Microseconds())/1000/float64(b.N), "ms/listening")
	stop()
	if err := <-finished; err != nil {
		b.Error(err)
	}
}
