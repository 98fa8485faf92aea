package watch

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// samples is the number of measured events, some milliseconds apart: more frequent than
// in a conversation.
const samples = 300

// Measures what watchers cost the conversation: the time from an event to the end of
// its step, in which the editor was notified of the transition. A stuck watcher never
// reads; the others read everything.
func BenchmarkStepWithWatchers(b *testing.B) {
	for _, c := range []struct{ watchers, stuck int }{{0, 0}, {1, 0}, {100, 0}, {0, 1}, {100, 10}} {
		b.Run(fmt.Sprintf("watchers=%d/stuck=%d", c.watchers, c.stuck), func(b *testing.B) {
			told := make(chan struct{}, 64)
			h := begin(b, protocol.PrivacyWatchStates, func(_ string, params any) {
				if p, ok := params.(protocol.StateParams); ok && (p.State == protocol.StateSuspended || p.State == protocol.StateListening) {
					told <- struct{}{}
				}
			})
			h.daemon.Post(csm.UserStart{})
			<-told
			for range c.watchers {
				w := h.follow(protocol.WatchParams{Levels: true})
				_ = w.SetDeadline(time.Time{})
				go func() {
					for {
						if _, err := w.Next(); err != nil {
							return
						}
					}
				}()
			}
			for range c.stuck {
				h.follow(protocol.WatchParams{Levels: true})
			}
			for n := range 4 * maxQueued * min(c.stuck, 1) { // until they are stuck
				h.port.Notify(protocol.NotifyLevel, protocol.LevelParams{Input: float64(n)})
				time.Sleep(50 * time.Microsecond)
			}
			var took []time.Duration
			events := []csm.Event{csm.Suspend{Reason: csm.SuspendUser}, csm.Resume{Reason: csm.SuspendUser}}
			for b.Loop() {
				for n := range samples {
					time.Sleep(5*time.Millisecond + rand.N(10*time.Millisecond))
					begun := time.Now()
					h.daemon.Post(events[n%2])
					<-told
					took = append(took, time.Since(begun))
				}
			}
			slices.Sort(took)
			at := func(share float64) float64 {
				return float64(took[int(share*float64(len(took)-1))].Nanoseconds()) / 1e3
			}
			b.ReportMetric(at(0.5), "us/p50")
			b.ReportMetric(at(0.95), "us/p95")
			b.ReportMetric(at(0.99), "us/p99")
			b.ReportMetric(0, "ns/op") // it would include the pauses
		})
	}
}
