package audio

import "time"

const (
	// fadeSamples is the length of a fade: 5 ms, so that it completes within the
	// frame in which a pause takes effect.
	fadeSamples = FrameSamples / 2
	// maxFrameEvents and maxSegmentEvents bound the events of one frame and of one
	// segment within it. Without room for them, Render returns silence rather than
	// lose an event.
	maxFrameEvents   = 12
	maxSegmentEvents = 6
)

// renderer is the state of the rendering goroutine.
type renderer struct {
	order    *order // in effect
	playing  bool   // started, and neither drained nor in an underrun; may be paused
	rebuffer bool   // in an underrun, which ends without a Start
	drained  bool   // nothing happened since Drained
	starts   uint32 // order.starts consumed by the last Drained
	begun    bool   // SegmentStarted was sent for the segment at tail
	fadeIn   bool   // playback stopped within a segment
	held     bool   // a Hold is active
	sounds   bool   // output has audio, according to the last Sounded or Silenced
	last     int16  // the last sample rendered

	seg     SegmentID // the cursor
	samples int64
	of      int64
}

// Render fills the next frame. The device calls it from one goroutine at a time. It
// takes no lock and does not allocate.
func (p *Player) Render(f *Frame) {
	if !p.rendering.CompareAndSwap(false, true) {
		clear(f[:]) // the notifier is applying an order; see applyWithoutDevice
		p.clock.Add(FrameSamples)
		return
	}
	n := 0
	hold := p.clock.Load() < p.holdUntil.Load()
	switch o := p.order.Load(); {
	case p.events.free() < maxFrameEvents:
		p.r.stop()
	case o == p.r.order && hold && !p.r.held:
		n = p.fadeOut(f[:])
		p.r.held = true
	case o == p.r.order:
		p.r.held = hold
		n = p.play(f[:], false)
	default:
		n = p.follow(o, f[:])
	}
	p.r.silence(f, n)
	p.clock.Add(FrameSamples)
	p.cursor.store(p.r.seg, p.r.samples)
	p.rendering.Store(false)
	if !p.events.empty() {
		p.wake()
	}
}

// follow applies a new order and fills f with the available audio. f is empty when no
// device renders.
func (p *Player) follow(o *order, f []int16) (n int) {
	r := &p.r
	old := r.order
	flush := o.serial != old.serial
	pause := !flush && o.pauses != old.pauses
	if flush || pause && o.paused {
		n = p.fadeOut(f)
	}
	r.order = o
	switch {
	case flush:
		p.emit(Flushed, n)
		p.drop(o)
	case r.seg.Seq == 0:
		r.seg.Gen = o.gen // the first call may have set the generation
	}
	if pause && !(r.drained && p.current() == nil) {
		p.emit(Paused, n)
	}
	if !flush && !o.paused {
		n = p.play(f, false)
	}
	p.applied.Store(o)
	return n
}

// drop discards everything before order o.
func (p *Player) drop(o *order) {
	r := &p.r
	tail := p.tail.Load()
	for head := p.head.Load(); tail < head && p.records[tail%maxSegments].serial < o.serial; tail++ {
	}
	p.tail.Store(tail)
	p.read.Store(o.from)
	*r = renderer{order: o, held: r.held, last: r.last, seg: SegmentID{Gen: o.gen}}
	p.gate.open()
}

// current returns the segment to play, or nil.
func (p *Player) current() *record {
	tail := p.tail.Load()
	if tail == p.head.Load() {
		return nil
	}
	rec := &p.records[tail%maxSegments]
	if rec.serial != p.r.order.serial {
		return nil // written after a flush that is not applied yet
	}
	return rec
}

// play moves audio of the live generation into f and returns how many samples. With
// fading, playback is about to stop, so an empty buffer is not an underrun.
func (p *Player) play(f []int16, fading bool) (n int) {
	r := &p.r
	if r.order.paused || r.held {
		return 0
	}
	for p.events.free() >= maxSegmentEvents {
		rec := p.current()
		if rec == nil {
			if r.playing {
				p.drain(n)
			}
			break
		}
		if !r.playing && !p.begin(rec, n) {
			break
		}
		if !r.begun {
			r.begun = true
			r.seg, r.samples, r.of = rec.id, 0, 0
			p.emit(SegmentStarted, n)
		}
		k, ended := p.consume(f[n:], rec)
		if k > 0 && !r.sounds {
			r.sounds = true
			r.samples -= int64(k) // the cursor at n
			p.emit(Sounded, n)
			r.samples += int64(k)
		}
		n += k
		if ended {
			p.finish(n)
			continue
		}
		if n < len(f) && !fading {
			p.starve(n)
		}
		break
	}
	return n
}

// fadeOut plays the first samples of f, faded to silence, and stops.
func (p *Player) fadeOut(f []int16) (n int) {
	if p.r.playing {
		n = p.play(f[:min(len(f), fadeSamples)], true)
		fadeOut(f[:n])
	}
	p.silenced(n)
	p.r.stop()
	return n
}

// silenced reports that output ends n samples into the frame, if it had audio.
func (p *Player) silenced(n int) {
	if p.r.sounds {
		p.r.sounds = false
		p.emit(Silenced, n)
	}
}

// begin starts playback if rec is primed and started, and reports whether it did.
func (p *Player) begin(rec *record, n int) bool {
	r := &p.r
	if !p.primed(rec) {
		return false
	}
	if p.gate.pass(p.gate.load()) {
		p.events.push(queued{PlayerEvent: p.buffered(rec, int64(n))})
	}
	if !r.rebuffer && r.starts == r.order.starts {
		return false
	}
	r.playing, r.rebuffer, r.drained = true, false, false
	return true
}

// primed reports whether enough audio is buffered to start with rec.
func (p *Player) primed(rec *record) bool {
	return rec.end.Load() >= 0 || p.written.Load()-p.read.Load() >= max(p.least, p.prebuffer.Load())
}

// buffered returns the Buffered event for rec, offset samples into the frame.
func (p *Player) buffered(rec *record, offset int64) PlayerEvent {
	return PlayerEvent{
		Kind: Buffered, Seg: rec.id, Samples: p.read.Load() - rec.start, Of: rec.length(),
		At: p.clock.Load() + offset, Rendered: time.Now(),
	}
}

// consume moves audio of rec to f. It returns how many samples, and whether they were
// the last of rec.
func (p *Player) consume(f []int16, rec *record) (n int, ended bool) {
	read, capacity := p.read.Load(), int64(len(p.samples))
	// Order matters: everything written while rec was open belongs to rec.
	written := p.written.Load()
	limit, ended := rec.limit(written)
	n = int(min(limit-read, int64(len(f))))
	i := read % capacity
	k := copy(f[:n], p.samples[i:])
	copy(f[k:n], p.samples)
	p.read.Store(read + int64(n))
	p.r.samples += int64(n)
	if p.r.fadeIn && n > 0 {
		p.r.fadeIn = false
		fadeIn(f[:min(n, fadeSamples)])
	}
	return n, ended && read+int64(n) == limit
}

// finish advances past the segment at tail.
func (p *Player) finish(n int) {
	p.r.begun = false
	p.r.of = p.r.samples
	p.tail.Add(1)
	p.emit(SegmentPlayed, n)
}

// drain stops after the last segment.
func (p *Player) drain(n int) {
	p.r.playing, p.r.drained, p.r.fadeIn = false, true, false
	p.r.starts = p.r.order.starts
	p.silenced(n)
	p.emit(Drained, n)
	p.gate.open()
}

// starve stops playback on an underrun in the middle of a segment.
func (p *Player) starve(n int) {
	p.r.stop()
	p.r.playing, p.r.rebuffer = false, true
	p.silenced(n)
	p.emit(Underrun, n)
	p.gate.open()
}

// emit queues an event with the cursor, n samples into the frame.
func (p *Player) emit(kind PlayerEventKind, n int) {
	r := &p.r
	of := r.of
	if r.begun {
		of = p.records[p.tail.Load()%maxSegments].length()
	}
	p.events.push(queued{
		PlayerEvent: PlayerEvent{Kind: kind, Seg: r.seg, Samples: r.samples, Of: of, At: p.clock.Load() + int64(n), Rendered: time.Now()},
		serial:      r.order.serial,
	})
}

// stop arranges a fade-in for a segment that continues later.
func (r *renderer) stop() { r.fadeIn = r.begun && r.samples > 0 }

// silence fills f from n. Where audio ends abruptly (an underrun, or the end of a
// segment), the last sample decays to prevent a click.
func (r *renderer) silence(f *Frame, n int) {
	if n > 0 {
		r.last = f[n-1]
	}
	rest := f[n:]
	clear(rest)
	if len(rest) == 0 || r.last == 0 {
		return
	}
	tail := rest[:min(len(rest), fadeSamples)]
	for i := range tail {
		tail[i] = r.last
	}
	fadeOut(tail)
	r.last = 0
}

// fadeOut applies a linear fade that reaches zero at the last sample.
func fadeOut(pcm []int16) {
	n := int32(len(pcm))
	for i := range pcm {
		pcm[i] = int16(int32(pcm[i]) * (n - 1 - int32(i)) / n)
	}
}

// fadeIn applies a linear fade that starts from zero before the first sample.
func fadeIn(pcm []int16) {
	n := int32(len(pcm)) + 1
	for i := range pcm {
		pcm[i] = int16(int32(pcm[i]) * (int32(i) + 1) / n)
	}
}
