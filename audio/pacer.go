package audio

import (
	"context"
	"math"
	"time"
)

// Pacer ticks once per frame for devices without a clock (recordings, discarding
// sinks), at real time multiplied by a speed. Tick n is due n frames after the first
// Wait regardless of how long earlier ticks took, so ticks do not drift; after a stall
// the missed ticks fire at once. A Pacer is not safe for concurrent use.
type Pacer struct {
	period time.Duration // between ticks; 0 disables pacing
	start  time.Time
	ticks  int64
	timer  *time.Timer
}

// NewPacer returns a pacer for a speed: 1 is real time, 2 is twice as fast, and
// math.Inf(1) never waits. Zero, negative and NaN speeds mean 1.
func NewPacer(speed float64) *Pacer {
	if !(speed > 0) {
		speed = 1
	}
	p := &Pacer{}
	if !math.IsInf(speed, 1) {
		p.period = max(1, time.Duration(float64(FrameTime)/speed))
	}
	return p
}

// Wait blocks until the next tick is due. It returns ctx.Err() if ctx is done first.
func (p *Pacer) Wait(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if p.period == 0 {
		return nil
	}
	if p.start.IsZero() {
		p.start = time.Now()
	}
	p.ticks++
	wait := time.Until(p.start.Add(time.Duration(p.ticks) * p.period))
	if wait <= 0 {
		return nil
	}
	if p.timer == nil {
		p.timer = time.NewTimer(wait)
	} else {
		p.timer.Reset(wait)
	}
	select {
	case <-p.timer.C:
		return nil
	case <-ctx.Done():
		p.timer.Stop()
		return ctx.Err()
	}
}
