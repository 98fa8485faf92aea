package realtime

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/pion/rtp"
)

// The target follows the delays of the latest 10 s, within its limits. A new stretch of
// speech starts with the target of the previous one.
func TestTargetFollowsTheDelays(t *testing.T) {
	var d delays
	feed := func(n int, transit func(i int) time.Duration) (target time.Duration) {
		for i := range n {
			target = d.add(transit(i))
		}
		return target
	}
	steady := func(int) time.Duration { return 40 * time.Millisecond }
	late := func(i int) time.Duration { return 40*time.Millisecond + time.Duration(i%5)*30*time.Millisecond }
	if got := feed(2*delaysKept, steady); got != jitterLeast {
		t.Errorf("without jitter %v, want %v", got, jitterLeast)
	}
	if got := feed(2*delaysKept, late); got != 120*time.Millisecond {
		t.Errorf("with packets up to 120 ms late %v", got)
	}
	if got := feed(2*delaysKept, func(i int) time.Duration { return time.Duration(i%2) * time.Second }); got != jitterMost {
		t.Errorf("with packets 1 s late %v, want %v", got, jitterMost)
	}
	if got := feed(2*delaysKept, steady); got != jitterLeast {
		t.Errorf("after the jitter %v, want %v", got, jitterLeast)
	}
	feed(2*delaysKept, late)
	d.begin()
	if got := feed(delaysKept-1, steady); got != 120*time.Millisecond {
		t.Errorf("a new stretch of speech begins with %v, want that of the one before", got)
	}
	if got := feed(1, steady); got != jitterLeast {
		t.Errorf("after 10 s of it %v, want %v", got, jitterLeast)
	}
}

// arrival is a packet as delivered by a network.
type arrival struct {
	at  time.Duration
	seq uint16
}

// network simulates n packets of 20 ms over a network that loses and delays them, from
// a seed. One packet in a hundred starts a burst, which is late by spike together with
// the packets after it.
func network(seed uint64, n int, loss float64, jitter, spike time.Duration) (all []arrival) {
	r := rand.New(rand.NewPCG(seed, 0))
	var burst time.Duration
	for i := range n {
		burst = max(0, burst-20*time.Millisecond)
		if r.Float64() < 0.01 {
			burst = spike
		}
		if r.Float64() >= loss {
			all = append(all, arrival{time.Duration(i)*20*time.Millisecond + burst + time.Duration(r.ExpFloat64()*float64(jitter)), uint16(i)})
		}
	}
	slices.SortStableFunc(all, func(a, b arrival) int { return int(a.at - b.at) })
	return all
}

// BenchmarkJitterDelay reports the cost of a network: how long packets wait in the
// jitter buffer, how much speech is concealed, and how often playback underruns per
// minute, with a playback buffer that follows the target and with a fixed one of 60 ms,
// in stretches of 5 s. The clock is virtual.
func BenchmarkJitterDelay(b *testing.B) {
	const minutes = 10
	for _, loss := range []float64{0, 0.05, 0.15} {
		b.Run(fmt.Sprintf("loss=%.0f%%", loss*100), func(b *testing.B) {
			var held []time.Duration
			var lost, redundant, dry, dryFixed int
			for b.Loop() {
				held, lost, redundant, dry, dryFixed = nil, 0, 0, 0, 0
				play(network(1, minutes*60*50, loss, 8*time.Millisecond, 120*time.Millisecond), func(waited time.Duration, missing int) {
					held = append(held, waited)
					lost += missing
					if missing > 0 {
						redundant++ // the FEC of the next packet contains it
					}
				}, &dry, &dryFixed)
			}
			slices.Sort(held)
			b.ReportMetric(float64(held[len(held)/2].Microseconds())/1000, "ms/p50")
			b.ReportMetric(float64(held[len(held)*95/100].Microseconds())/1000, "ms/p95")
			b.ReportMetric(100*float64(lost)/float64(minutes*60*50), "%concealed")
			b.ReportMetric(100*float64(redundant)/float64(max(lost, 1)), "%byFEC")
			b.ReportMetric(float64(dry)/minutes, "underruns/min")
			b.ReportMetric(float64(dryFixed)/minutes, "underruns-fixed/min")
		})
	}
}

// play runs packets through the jitter buffer and two players: one that waits for the
// target before it plays, and one that waits for jitterLeast.
func play(packets []arrival, out func(waited time.Duration, missing int), dry, dryFixed *int) {
	var j jitter
	var d delays
	begin := time.Unix(1000, 0)
	came := map[uint16]time.Duration{}
	var follows, fixed time.Duration // when the next packet is due
	const stretch = 5 * 50           // packets
	due := func(at *time.Duration, first bool, now, ahead time.Duration, missing int, underruns *int) {
		*at += time.Duration(missing+1) * 20 * time.Millisecond
		switch {
		case first:
			*at = now + ahead
		case now > *at: // it underran and buffers again
			*at = now + ahead
			*underruns++
		}
	}
	at, heard := 0, 0 // the stretch being played, and the next one
	drain := func(now time.Duration) {
		for {
			p, missing, _ := j.pop(begin.Add(now))
			if p.Packet == nil {
				return
			}
			out(now-came[p.SequenceNumber], missing)
			first := int(p.SequenceNumber)/stretch != at
			at = int(p.SequenceNumber) / stretch
			due(&follows, first, now, max(jitterLeast, j.bound), missing, dry)
			due(&fixed, first, now, jitterLeast, missing, dryFixed)
		}
	}
	for _, a := range packets {
		for at := j.deadline(); at.Before(begin.Add(a.at)); at = j.deadline() {
			drain(at.Sub(begin))
		}
		came[a.seq] = a.at
		if int(a.seq)/stretch != heard {
			heard = int(a.seq) / stretch
			d.begin()
		}
		j.bound = d.add(a.at - time.Duration(a.seq)*20*time.Millisecond)
		j.push(&rtp.Packet{Header: rtp.Header{SequenceNumber: a.seq}}, begin.Add(a.at))
		drain(a.at)
	}
}
