package audio

import "time"

// Prebuffer sets how much audio must be buffered before playback starts, or resumes
// after an underrun. The configured prebuffer is the minimum, half of the capacity the
// maximum.
func (p *Player) Prebuffer(d time.Duration) {
	p.prebuffer.Store(min(Samples(d), int64(len(p.samples)/2)))
}

// Start lets generation gen play as soon as it has enough audio. It is needed once per
// generation, and again after each Drained. Start, Pause and Resume ignore a generation
// that is not live.
func (p *Player) Start(gen uint32) {
	p.change(gen, func(o *order) { o.starts++ })
}

// Pause stops playback with the next frame, which fades out. It also holds back a
// generation that has not started to play.
func (p *Player) Pause(gen uint32) {
	p.change(gen, func(o *order) {
		if !o.paused {
			o.paused = true
			o.pauses++
		}
	})
}

// Resume continues where Pause stopped.
func (p *Player) Resume(gen uint32) {
	p.change(gen, func(o *order) { o.paused = false })
}

// Hold suppresses playback for the duration d, whatever the controller requested; the
// suppressed audio plays afterwards. Callers use it as soon as they suspect that the
// user speaks. It starts and ends like a pause, but only Silenced and Sounded report
// it. A later Hold replaces an earlier one, and 0 ends it. It takes no lock and is
// safe for concurrent use.
func (p *Player) Hold(d time.Duration) { p.holdUntil.Store(p.clock.Load() + Samples(d)) }

// Flush makes newGen the live generation and drops everything older with the next
// frame, which fades out. It is a no-op if newGen is not newer than the live
// generation.
func (p *Player) Flush(newGen uint32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	if !p.named {
		p.live(newGen - 1)
	}
	if newGen > p.order.Load().gen {
		p.replace(newGen)
	}
}

// Reset drops everything and forgets the generation, so that the next call sets it.
// Use it for a new conversation, which numbers generations from the start. The
// producers of the old one must have ended.
func (p *Player) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || !p.named {
		return
	}
	p.replace(0)
	p.named = false
}

// Idle reports whether no audio is pending and every flush has taken effect.
func (p *Player) Idle() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.order.Load().serial == p.applied.Load().serial && p.head.Load() == p.tail.Load()
}

// Cursor returns the last rendered segment and how many of its samples Render has
// returned. Seq is 0 if nothing of the generation was rendered.
func (p *Player) Cursor() (SegmentID, int64) { return p.cursor.load() }

// Close delivers the pending events and stops the notifier. Afterwards Render returns
// silence. Close must not be called from notify, and is safe to call twice.
func (p *Player) Close() error {
	p.mu.Lock()
	if !p.closed {
		p.replace(p.order.Load().gen)
		p.closed = true
		close(p.quit)
	}
	p.mu.Unlock()
	<-p.finished
	return nil
}

// live returns the current order, with gen as its generation if no call has set one.
// The caller holds mu.
func (p *Player) live(gen uint32) *order {
	o := p.order.Load()
	if p.named {
		return o
	}
	p.named = true
	first := *o
	first.gen = gen
	p.order.Store(&first)
	return &first
}

// change replaces the order with an edited copy, if gen is live.
func (p *Player) change(gen uint32, edit func(*order)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if live, _ := p.accepts(gen); !live {
		return
	}
	next := *p.order.Load()
	edit(&next)
	p.order.Store(&next)
	p.wake()
}

// replace starts a new serial. The caller holds mu.
func (p *Player) replace(gen uint32) {
	old := p.order.Load()
	at := p.written.Load()
	p.superseded = append(p.superseded, superseded{serial: old.serial, old: old.gen, new: gen})
	p.endNewest(cutAt(at))
	p.newest = nil
	p.order.Store(&order{serial: old.serial + 1, gen: gen, from: at})
	p.wake()
}

// wake signals the notifier. It never blocks.
func (p *Player) wake() {
	select {
	case p.wakeup <- struct{}{}:
	default:
	}
}
