package audio

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// These tests run a producer, a controller and a device concurrently, and compare the
// device's output with what was written and reported.

// race is one such run with its recording.
type race struct {
	p *Player

	live    atomic.Uint32 // generation that the producer writes
	frames  atomic.Int64  // Render calls started
	stopped atomic.Bool

	mu      sync.Mutex
	lengths map[SegmentID]int64 // lengths of ended segments
	events  []PlayerEvent

	out     []Frame
	cursors []struct {
		seg     SegmentID
		samples int64
	}
	flushes []struct {
		gen   uint32
		frame int64 // the first frame that starts after Flush returned
	}
	pauses map[int64]bool // frames in which a Pause may take effect; used by the controller
}

func (r *race) produce(rng *rand.Rand) error {
	for !r.stopped.Load() {
		gen := r.live.Load()
		for seq := uint32(1); r.live.Load() == gen && !r.stopped.Load(); seq++ {
			if err := r.speak(rng, SegmentID{gen, seq}); err != nil {
				return err
			}
		}
	}
	return nil
}

// speak writes one segment in pieces.
func (r *race) speak(rng *rand.Rand, seg SegmentID) error {
	length := rng.Int64N(3000)
	for at := int64(0); at < length; {
		n := min(1+rng.Int64N(960), length-at)
		switch err := r.p.Write(seg, audioOf(seg, at, n)); {
		case err == nil:
			at += n
		case err != ErrFull:
			return fmt.Errorf("write to %v: %w", seg, err)
		case r.stopped.Load():
			length = at
		}
		if rng.IntN(4) == 0 {
			runtime.Gosched()
		}
	}
	r.mu.Lock()
	r.lengths[seg] = length
	r.mu.Unlock()
	if err := r.p.EndSegment(seg); err != nil && err != ErrFull {
		return fmt.Errorf("end of %v: %w", seg, err)
	}
	return nil
}

func (r *race) control(rng *rand.Rand, done int64) {
	for r.frames.Load() < done {
		gen := r.live.Load()
		switch rng.IntN(12) {
		case 0:
			r.p.Flush(gen + 1)
			r.flushes = append(r.flushes, struct {
				gen   uint32
				frame int64
			}{gen + 1, r.frames.Load()})
			r.live.Store(gen + 1)
		case 1, 2:
			from := r.frames.Load()
			r.p.Pause(gen)
			for i := from - 1; i <= r.frames.Load()+1; i++ {
				r.pauses[i] = true
			}
		case 3, 4, 5:
			r.p.Resume(gen)
		default:
			r.p.Start(gen)
		}
		for range rng.IntN(50) {
			runtime.Gosched()
		}
	}
}

func (r *race) render() {
	var f Frame
	r.frames.Add(1)
	r.p.Render(&f)
	seg, samples := r.p.Cursor()
	r.out = append(r.out, f)
	r.cursors = append(r.cursors, struct {
		seg     SegmentID
		samples int64
	}{seg, samples})
}

func newRace(prebuffer time.Duration) *race {
	r := &race{lengths: map[SegmentID]int64{}, pauses: map[int64]bool{}}
	r.p = NewPlayer(PlayerConfig{Capacity: 200 * time.Millisecond, Prebuffer: prebuffer}, func(ev PlayerEvent) {
		r.mu.Lock()
		r.events = append(r.events, ev)
		r.mu.Unlock()
	})
	r.live.Store(1)
	r.p.Start(1)
	return r
}

func runRace(t *testing.T, seed uint64, frames int64) *race {
	r := newRace(20 * time.Millisecond)
	var parties sync.WaitGroup
	parties.Go(func() {
		if err := r.produce(rand.New(rand.NewPCG(seed, 1))); err != nil {
			t.Error(err)
		}
	})
	parties.Go(func() {
		r.control(rand.New(rand.NewPCG(seed, 2)), frames)
		r.stopped.Store(true)
	})
	for !r.stopped.Load() {
		r.render()
		runtime.Gosched()
	}
	parties.Wait()
	for deadline := time.Now().Add(10 * time.Second); !r.p.Idle(); { // drain the rest
		if time.Now().After(deadline) {
			t.Error("not idle at the end")
			break
		}
		r.p.Resume(r.live.Load())
		r.p.Start(r.live.Load())
		r.render()
		runtime.Gosched()
	}
	r.render() // the last Drained may be one frame late
	if err := r.p.Close(); err != nil {
		t.Error(err)
	}
	return r
}

// TestPlayerUnderAnyInterleaving: the rendered audio of a generation is what was
// written to it, in order, with only pauses in between; one frame after Flush
// returned nothing older is rendered; and the events match the rendered audio.
func TestPlayerUnderAnyInterleaving(t *testing.T) {
	rendered := 0
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := runRace(t, seed, 1500)
			r.checkEvents(t)
			r.checkFlushes(t)
			rendered += r.checkAudio(t)
			if t.Failed() {
				t.Logf("%d frames, %d events, %d flushes", len(r.out), len(r.events), len(r.flushes))
			}
		})
	}
	if rendered == 0 {
		t.Error("nothing was rendered")
	}
}

// TestFlushInTheMiddleOfAFrame flushes as fast as it can, each time followed
// immediately by audio of the new generation, so that both take effect within one
// Render.
func TestFlushInTheMiddleOfAFrame(t *testing.T) {
	const generations = 5000
	r := newRace(time.Nanosecond)
	// The device renders when permitted, so that neither side runs far ahead; the
	// channel's buffer lets both run concurrently.
	ticks := make(chan struct{}, 4)
	var control sync.WaitGroup
	control.Go(func() {
		defer close(ticks)
		rng := rand.New(rand.NewPCG(1, 3))
		for gen := uint32(1); gen < generations; gen++ {
			seg := SegmentID{gen, 1}
			for at := int64(0); at < 2400; {
				n := 1 + rng.Int64N(1200)
				r.p.Start(gen)
				switch err := r.p.Write(seg, audioOf(seg, at, n)); {
				case err == ErrFull: // until the previous flush was applied
					ticks <- struct{}{}
					continue
				case err != nil:
					t.Errorf("write to %v: %v", seg, err)
					return
				}
				at += n
				if rng.IntN(2) == 0 {
					break
				}
			}
			for range rng.IntN(4) {
				ticks <- struct{}{}
			}
			r.p.Flush(gen + 1)
			r.live.Store(gen + 1)
		}
	})
	for range ticks {
		r.render()
	}
	control.Wait()
	for !r.p.Idle() { // wait for the last flush
		r.render()
	}
	if err := r.p.Close(); err != nil {
		t.Error(err)
	}
	r.checkEvents(t)
	if r.checkAudio(t) == 0 {
		t.Error("nothing was rendered")
	}
}

// checkFlushes: once Flush has returned, the cursor of an older generation does not
// move. It stays until the flush is applied, which may take more than a frame: a
// frame is silent while the notifier applies the flush, or when its events have no
// room.
func (r *race) checkFlushes(t *testing.T) {
	for _, flush := range r.flushes {
		for i := max(flush.frame, 1); i < int64(len(r.cursors)); i++ {
			if r.cursors[i].seg.Gen < flush.gen && r.cursors[i] != r.cursors[i-1] {
				t.Fatalf("frame %d belongs to %v, after the flush to %d before frame %d", i, r.cursors[i].seg, flush.gen, flush.frame)
			}
		}
	}
}

// checkEvents checks the order of the events.
func (r *race) checkEvents(t *testing.T) {
	gen, next := uint32(1), uint32(1) // live generation, and next segment
	var started, buffered, drained bool
	for i, ev := range r.events {
		ok := ev.Seg.Gen == gen
		switch ev.Kind {
		case Buffered:
			ok = ok && !buffered && ev.Seg.Seq == next
			buffered, drained = true, false
		case SegmentStarted:
			ok = ok && buffered && !started && ev.Seg.Seq == next && ev.Samples == 0
			started = true
		case SegmentPlayed:
			ok = ok && started && ev.Seg.Seq == next && ev.Samples == ev.Of && ev.Of == r.lengths[ev.Seg]
			started = false
			next++
		case Drained:
			ok = ok && buffered && !started && ev.Seg.Seq == next-1
			buffered, drained = false, true
		case Underrun:
			ok = ok && buffered && started && ev.Seg.Seq == next
			buffered = false
		case Paused:
			ok = ok && (ev.Seg.Seq == next && started || ev.Seg.Seq == next-1 && !started)
		case Flushed:
			ok = ok && (ev.Seg.Seq == next && started || ev.Seg.Seq == next-1 && !started) && ev.NewGen == gen+1
			gen, next, started, buffered, drained = gen+1, 1, false, false, false
		}
		if !ok {
			t.Fatalf("event %d of generation %d (next segment %d): %v %+v, after %+v", i, gen, next, ev.Kind, ev, r.events[max(0, i-3):i])
		}
	}
	if gen != r.live.Load() {
		t.Errorf("generation %d was never flushed", gen)
	}
	if last := uint32(len(r.segmentsOf(gen))); last > 0 && (!drained || next != last+1) {
		t.Errorf("generation %d ended at segment %d of %d, drained: %v", gen, next-1, last, drained)
	}
}

func (r *race) segmentsOf(gen uint32) (segs []SegmentID) {
	for seq := uint32(1); ; seq++ {
		if _, ok := r.lengths[SegmentID{gen, seq}]; !ok {
			return segs
		}
		segs = append(segs, SegmentID{gen, seq})
	}
}

// checkAudio compares each frame with the samples that the cursor passed in it, and
// returns their number.
func (r *race) checkAudio(t *testing.T) (rendered int) {
	flushedAt := map[uint32]PlayerEvent{}
	faded := map[int64]bool{} // frames in which playback stopped
	for _, ev := range r.events {
		switch ev.Kind {
		case Flushed:
			flushedAt[ev.Seg.Gen] = ev
			fallthrough
		case Paused, Underrun:
			faded[ev.At/FrameSamples] = true
			faded[(ev.At-1)/FrameSamples] = true
		case Drained: // replaces the Paused of a fade that reached the end
			if frame := (ev.At - 1) / FrameSamples; r.pauses[frame] {
				faded[frame] = true
			}
		}
	}
	seg, at := SegmentID{Gen: 1}, int64(0)
	silent := true // since the last sample
	for i := range r.out {
		now := r.cursors[i]
		var want []int16
		for seg.Gen < now.seg.Gen { // flushed in this frame
			ev := flushedAt[seg.Gen]
			want = append(want, r.between(seg, at, ev.Seg, ev.Samples)...)
			seg, at = SegmentID{Gen: seg.Gen + 1}, 0
		}
		want = append(want, r.between(seg, at, now.seg, now.samples)...)
		seg, at = now.seg, now.samples
		if len(want) > FrameSamples {
			t.Fatalf("frame %d: the cursor advanced by %d", i, len(want))
		}
		rendered += len(want)
		exact := !faded[int64(i)] && !silent
		for j, w := range want {
			if got := r.out[i][j]; got > w || got < 0 || exact && got != w {
				t.Fatalf("frame %d, sample %d is %d, want %d (exactly: %v)", i, j, got, w, exact)
			}
		}
		tail := r.out[i][len(want):]
		for j := range tail {
			if j >= fadeSamples && tail[j] != 0 || j > 0 && tail[j] > tail[j-1] {
				t.Fatalf("frame %d: sample %d of the silence is %d", i, j, tail[j])
			}
		}
		silent = len(want) < FrameSamples
	}
	return rendered
}

// between returns the audio written between two cursors of a generation.
func (r *race) between(from SegmentID, at int64, to SegmentID, upTo int64) (pcm []int16) {
	for seq := max(from.Seq, 1); seq <= to.Seq; seq++ {
		seg := SegmentID{from.Gen, seq}
		begin, end := int64(0), upTo
		if seq == from.Seq {
			begin = at
		}
		if seq < to.Seq {
			end = r.lengths[seg]
		}
		pcm = append(pcm, audioOf(seg, begin, end-begin)...)
	}
	return pcm
}
