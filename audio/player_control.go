package audio

import "time"

// Prebuffer sets how much audio must be there before playback begins, or continues
// after an underrun: at least what the configuration says, and at most half of what the
// player holds.
func (p *Player) Prebuffer(d time.Duration) {
	p.prebuffer.Store(min(Samples(d), int64(len(p.samples)/2)))
}

// Start lets generation gen play as soon as it has enough audio. It is needed
// once for a generation, and again after each Drained. A generation that is not
// live is ignored, here and in Pause and Resume.
func (p *Player) Start(gen uint32) {
	p.change(gen, func(o *order) { o.starts++ })
}

// Pause stops playback with the next frame, which fades out. It also holds a
// generation that does not play yet.
func (p *Player) Pause(gen uint32) {
	p.change(gen, func(o *order) {
		if !o.paused {
			o.paused = true
			o.pauses++
		}
	})
}

// Resume continues from where Pause stopped.
func (p *Player) Resume(gen uint32) {
	p.change(gen, func(o *order) { o.paused = false })
}

// Hold is the reflex of whoever suspects that the user speaks: for the duration d
// from now on nothing is played, whatever the control side wants, and what would
// have been is played afterwards. It begins and ends like a pause, and only
// Silenced and Sounded tell of it. A later Hold takes the place of an earlier one; 0 ends it. It takes
// no lock, and may be called from any goroutine.
func (p *Player) Hold(d time.Duration) { p.holdUntil.Store(p.clock.Load() + Samples(d)) }

// Flush makes newGen the live generation and drops everything older, with the
// next frame, which fades out. A generation that is not newer than the live one
// changes nothing.
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

// Reset drops everything and forgets the generation, so that the next call names
// a new one: for a new conversation, whose generations restart. The producers
// of the old one must have ended.
func (p *Player) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || !p.named {
		return
	}
	p.replace(0)
	p.named = false
}

// Idle says whether nothing waits to be played and each flush took effect.
func (p *Player) Idle() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.order.Load().serial == p.applied.Load().serial && p.head.Load() == p.tail.Load()
}

// Cursor is the segment that was rendered last and how many samples of it have
// left Render. Seq is 0 when nothing of the generation was rendered.
func (p *Player) Cursor() (SegmentID, int64) { return p.cursor.load() }

// Rendered is the position on the device's time line: the samples that have left
// Render since NewPlayer, silence included.
func (p *Player) Rendered() int64 { return p.clock.Load() }

// Close stops the notifier after the events that have happened. Render gives
// silence from then on. It must not be called from notify, and is safe to call
// twice.
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

// live is the order in force. gen becomes its generation if no call has named
// one. It holds mu.
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

// change replaces the order by a changed copy, if gen is live.
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

// replace begins a new serial. It holds mu.
func (p *Player) replace(gen uint32) {
	old := p.order.Load()
	at := p.written.Load()
	p.superseded = append(p.superseded, superseded{serial: old.serial, old: old.gen, new: gen})
	p.endNewest(cutAt(at))
	p.newest = nil
	p.order.Store(&order{serial: old.serial + 1, gen: gen, from: at})
	p.wake()
}

// wake makes the notifier look. It never blocks.
func (p *Player) wake() {
	select {
	case p.wakeup <- struct{}{}:
	default:
	}
}
