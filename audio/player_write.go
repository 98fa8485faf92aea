package audio

// Write appends decoded audio to seg. It silently discards audio of an older
// generation. The first sample of a segment ends the segment before it. The errors
// are ErrFull, ErrSegment, ErrGeneration and ErrClosed.
func (p *Player) Write(seg SegmentID, pcm []int16) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if live, err := p.accepts(seg.Gen); !live || len(pcm) == 0 {
		return err
	}
	at, capacity := p.written.Load(), int64(len(p.samples))
	if int64(len(pcm)) > capacity-(at-p.read.Load()) {
		return ErrFull
	}
	rec, err := p.segment(seg, at)
	if err != nil {
		return err
	}
	n := copy(p.samples[at%capacity:], pcm)
	copy(p.samples, pcm[n:])
	p.written.Store(at + int64(len(pcm)))
	p.publish(rec)
	return nil
}

// EndSegment marks seg as complete, possibly without any audio. Ending a segment
// twice, or one of an older generation, is a no-op. It returns the errors of Write;
// ErrFull only for a segment without audio.
func (p *Player) EndSegment(seg SegmentID) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if live, err := p.accepts(seg.Gen); !live {
		return err
	}
	if p.newest != nil && seg.Seq < p.newest.id.Seq {
		return nil
	}
	if p.newest == nil || seg != p.newest.id {
		rec, err := p.segment(seg, p.written.Load())
		if err != nil {
			return err
		}
		rec.end.Store(rec.start)
		p.publish(rec)
		return nil
	}
	p.endNewest(p.written.Load())
	p.wake()
	return nil
}

// accepts reports whether gen is the live generation. An older generation is not an
// error. The caller holds mu.
func (p *Player) accepts(gen uint32) (live bool, err error) {
	if p.closed {
		return false, ErrClosed
	}
	o := p.live(gen)
	if gen > o.gen {
		return false, ErrGeneration
	}
	return gen == o.gen, nil
}

// segment returns the open record of seg, or a new one that publish makes visible. The
// caller holds mu.
func (p *Player) segment(seg SegmentID, at int64) (*record, error) {
	if last := p.newest; last != nil {
		if seg == last.id && last.end.Load() == openEnd {
			return last, nil
		}
		if seg.Seq <= last.id.Seq {
			return nil, ErrSegment
		}
	}
	head := p.head.Load()
	if head-p.tail.Load() == maxSegments {
		return nil, ErrFull
	}
	p.endNewest(at)
	rec := &p.records[head%maxSegments]
	rec.id, rec.serial, rec.start = seg, p.order.Load().serial, at
	rec.end.Store(openEnd)
	p.newest = rec
	return rec, nil
}

// endNewest ends the newest segment at a position, unless it has ended. The caller
// holds mu.
func (p *Player) endNewest(at int64) {
	if p.newest != nil {
		p.newest.end.CompareAndSwap(openEnd, at)
	}
}

// publish makes rec visible to the renderer once its first samples are written, and
// wakes the notifier. The caller holds mu.
func (p *Player) publish(rec *record) {
	if head := p.head.Load(); rec == &p.records[head%maxSegments] {
		p.head.Store(head + 1)
	}
	p.wake()
}
