package audio

import (
	"context"
	"math"
	"time"
)

// Pacer gives one tick for each frame of a device that has no clock of its own
// (a recording, or nothing), at real time multiplied by a speed. Tick n is due
// n frames after the first Wait, whatever the ticks before it took, so ticks do
// not drift, and after a stall the missed ones come at once. A Pacer is used by
// one goroutine.
type Pacer struct {
	period time.Duration // of a tick, 0 for no pacing
	start  time.Time
	ticks  int64
	timer  *time.Timer
}

// NewPacer returns a pacer for a speed: 1 is real time, 2 twice as fast, and
// math.Inf(1) does not wait at all. Zero and what is no speed mean 1.
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

// Wait blocks until the next tick is due, and returns ctx.Err() when ctx is done
// before.
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
