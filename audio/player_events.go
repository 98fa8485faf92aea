package audio

import (
	"sync/atomic"
	"time"
)

// deviceStall is how long an order waits for the device. After that the device counts
// as stalled, and the notifier applies the order itself.
const deviceStall = 100 * time.Millisecond

// dispatch calls notify until Close.
func (p *Player) dispatch() {
	defer close(p.finished)
	stall := time.NewTimer(deviceStall)
	stall.Stop()
	armed, clock := false, int64(0)
	for {
		select {
		case <-p.wakeup:
		case <-stall.C:
			armed = false
			if p.clock.Load() == clock {
				p.applyWithoutDevice()
			}
		case <-p.quit:
			p.deliver()
			return
		}
		p.deliver()
		pending := p.order.Load() != p.applied.Load()
		switch {
		case pending && !armed:
			clock = p.clock.Load()
			stall.Reset(deviceStall)
		case !pending:
			stall.Stop()
		}
		armed = pending
	}
}

// applyWithoutDevice applies the order while no device renders.
func (p *Player) applyWithoutDevice() {
	if !p.rendering.CompareAndSwap(false, true) {
		return
	}
	if p.events.free() >= maxFrameEvents {
		if o := p.order.Load(); o != p.r.order {
			p.follow(o, nil)
			p.cursor.store(p.r.seg, p.r.samples)
		}
	}
	p.rendering.Store(false)
}

// deliver calls notify for the pending events, in order.
func (p *Player) deliver() {
	for {
		// Loaded before the events, so that a gate that is still open afterwards was
		// opened by the last of them.
		gate := p.gate.load()
		for {
			ev, ok := p.events.pop()
			if !ok {
				break
			}
			if ev.Kind == Flushed {
				p.notifyFlushed(ev)
			} else {
				p.notify(ev.PlayerEvent)
			}
		}
		ev, ok := p.announce(gate)
		if !ok {
			return
		}
		p.notify(ev)
	}
}

// announce reports whether Buffered is due, and returns it. The renderer checks this
// too, but audio arrives between frames: not waiting for the next frame saves up to
// 10 ms before the first sound.
func (p *Player) announce(gate uint64) (PlayerEvent, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	serial := p.order.Load().serial
	if p.closed || p.applied.Load().serial != serial {
		return PlayerEvent{}, false
	}
	tail := p.tail.Load()
	if tail == p.head.Load() {
		return PlayerEvent{}, false
	}
	rec := &p.records[tail%maxSegments]
	if rec.serial != serial || !p.primed(rec) {
		return PlayerEvent{}, false
	}
	ev := p.buffered(rec, 0)
	return ev, p.gate.pass(gate)
}

// notifyFlushed reports every flush that ev covers. The cursor belongs to the oldest
// generation; the ones after it were never rendered.
func (p *Player) notifyFlushed(ev queued) {
	p.mu.Lock()
	n := 0
	for n < len(p.superseded) && p.superseded[n].serial < ev.serial {
		n++
	}
	flushed := p.superseded[:n:n]
	p.superseded = p.superseded[n:]
	p.mu.Unlock()
	for i, s := range flushed {
		out := ev.PlayerEvent
		if i > 0 {
			out.Seg, out.Samples, out.Of = SegmentID{}, 0, 0
		}
		out.Seg.Gen, out.NewGen = s.old, s.new
		p.notify(out)
	}
}

// queued is an event on its way from the renderer to the notifier. serial is that of
// the order in effect.
type queued struct {
	PlayerEvent
	serial uint64
}

// eventRing carries events from the renderer to the notifier without a lock.
type eventRing struct {
	events [256]queued
	head   atomic.Uint32 // pushed
	tail   atomic.Uint32 // popped
}

func (r *eventRing) free() int   { return len(r.events) - int(r.head.Load()-r.tail.Load()) }
func (r *eventRing) empty() bool { return r.head.Load() == r.tail.Load() }

// push adds an event. The caller has checked free.
func (r *eventRing) push(ev queued) {
	head := r.head.Load()
	r.events[head%uint32(len(r.events))] = ev
	r.head.Store(head + 1)
}

func (r *eventRing) pop() (queued, bool) {
	tail := r.tail.Load()
	if tail == r.head.Load() {
		return queued{}, false
	}
	ev := r.events[tail%uint32(len(r.events))]
	r.tail.Store(tail + 1)
	return ev, true
}

// gate makes Buffered fire once per stop of playback. The renderer opens it; the
// first to pass it, renderer or notifier, reports the event. Its value counts the
// openings; the lowest bit is set once it has been passed.
type gate struct{ v atomic.Uint64 }

func (g *gate) load() uint64 { return g.v.Load() }
func (g *gate) open()        { g.v.Store((g.v.Load()>>1 + 1) << 1) }

// pass reports whether the caller is the first to pass since load returned v.
func (g *gate) pass(v uint64) bool { return v&1 == 0 && g.v.CompareAndSwap(v, v|1) }

// sharedCursor is a sequence lock, written by the renderer and read by any goroutine.
// Its version is odd while the two values change.
type sharedCursor struct {
	version atomic.Uint32
	seg     atomic.Uint64
	samples atomic.Int64
}

func (c *sharedCursor) store(seg SegmentID, samples int64) {
	packed := uint64(seg.Gen)<<32 | uint64(seg.Seq)
	if c.samples.Load() == samples && c.seg.Load() == packed {
		return
	}
	c.version.Add(1)
	c.seg.Store(packed)
	c.samples.Store(samples)
	c.version.Add(1)
}

func (c *sharedCursor) load() (SegmentID, int64) {
	for {
		v := c.version.Load()
		seg, samples := c.seg.Load(), c.samples.Load()
		if v&1 == 0 && v == c.version.Load() {
			return SegmentID{Gen: uint32(seg >> 32), Seq: uint32(seg)}, samples
		}
	}
}
