package wavio

import (
	"sync"
	"sync/atomic"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

const (
	// window is how far the two sides may be apart on the timeline. A side that falls
	// further behind was interrupted (a device that stopped), and continues at the
	// present when it returns.
	window = 2 * audio.SampleRate
	// trackFrames is how many frames are buffered per side: 2.5 s.
	trackFrames = 250
	// block is the minimum amount of audio per write.
	block = audio.SampleRate / 10
)

// Recorder writes both sides of a conversation to one stereo file at
// audio.SampleRate: the user on the left, the assistant on the right, aligned in
// time. A side without audio is silent.
//
// One goroutine, which may be a device callback, feeds each side. Feeding takes no
// lock and does not allocate; it drops frames (see Dropped) if the disk is more than
// two seconds behind. A third goroutine writes.
//
// The sides have separate clocks. When one starts or returns, its position is
// anchored at the latest position of either side; after that, its sample count is the
// time.
type Recorder struct {
	user, assistant track
	now             atomic.Int64 // end of the latest frame of either side, on the timeline
	dropped         atomic.Int64
	wakeup          chan struct{}
	quit            chan struct{}
	finished        chan struct{}
	closing         sync.Once

	// Used by the writing goroutine.
	w       *Writer
	err     error
	stereo  []int16 // the window, interleaved, starting at position flushed
	flushed int64
}

// track is a ring that carries one side to the writing goroutine, with one producer
// and one consumer.
type track struct {
	frames [trackFrames]struct {
		at int64
		f  audio.Frame
	}
	head, tail atomic.Int64

	// Used by the producer.
	begun  bool
	anchor int64 // position on the timeline of the side's position 0
	pos    int64 // position, for a side without positions of its own

	end int64 // end of what the writing goroutine has taken
}

// NewRecorder creates or replaces the file at path.
func NewRecorder(path string) (*Recorder, error) {
	w, err := Create(path, audio.SampleRate, 2)
	if err != nil {
		return nil, err
	}
	r := &Recorder{
		w: w, stereo: make([]int16, 2*(window+audio.FrameSamples)),
		wakeup: make(chan struct{}, 1), quit: make(chan struct{}), finished: make(chan struct{}),
	}
	go r.run()
	return r, nil
}

// User adds a captured frame. pos is the position from audio.Source.
func (r *Recorder) User(pos int64, f *audio.Frame) { r.push(&r.user, pos, f) }

// Assistant adds the next rendered frame.
func (r *Recorder) Assistant(f *audio.Frame) {
	r.push(&r.assistant, r.assistant.pos, f)
	r.assistant.pos += audio.FrameSamples
}

// Dropped returns how many frames were dropped because the disk was too slow.
func (r *Recorder) Dropped() int64 { return r.dropped.Load() }

func (r *Recorder) push(t *track, pos int64, f *audio.Frame) {
	now := r.now.Load()
	if at := t.anchor + pos; !t.begun || at < now-window || at > now+window {
		t.begun = true
		t.anchor = now - pos
	}
	at := t.anchor + pos
	for end := at + audio.FrameSamples; now < end && !r.now.CompareAndSwap(now, end); {
		now = r.now.Load()
	}
	head := t.head.Load()
	if head-t.tail.Load() == trackFrames {
		r.dropped.Add(1)
		return
	}
	slot := &t.frames[head%trackFrames]
	slot.at, slot.f = at, *f
	t.head.Store(head + 1)
	select {
	case r.wakeup <- struct{}{}:
	default:
	}
}

// Close writes the pending frames and completes the file. It returns the first error
// of the recording, and is safe to call twice.
func (r *Recorder) Close() error {
	r.closing.Do(func() { close(r.quit) })
	<-r.finished
	return r.err
}

func (r *Recorder) run() {
	defer close(r.finished)
	for {
		select {
		case <-r.wakeup:
			r.collect()
		case <-r.quit:
			r.collect()
			r.flush(max(r.user.end, r.assistant.end))
			r.keep(r.w.Close())
			return
		}
	}
}

// collect takes the pending frames in the order of time, and writes the part that
// both sides have.
func (r *Recorder) collect() {
	for {
		user, hasUser := r.user.peek()
		assistant, hasAssistant := r.assistant.peek()
		switch {
		case hasUser && (!hasAssistant || user <= assistant):
			r.place(&r.user, 0)
		case hasAssistant:
			r.place(&r.assistant, 1)
		default:
			if to := min(r.user.end, r.assistant.end); to-r.flushed >= block {
				r.flush(to)
			}
			return
		}
	}
}

// peek returns the position of the oldest frame.
func (t *track) peek() (at int64, ok bool) {
	tail := t.tail.Load()
	if tail == t.head.Load() {
		return 0, false
	}
	return t.frames[tail%trackFrames].at, true
}

// place moves the oldest frame of t into the window.
func (r *Recorder) place(t *track, channel int) {
	tail := t.tail.Load()
	slot := &t.frames[tail%trackFrames]
	end := slot.at + audio.FrameSamples
	r.flush(end - window)
	for i, s := range slot.f {
		if at := slot.at + int64(i) - r.flushed; at >= 0 {
			r.stereo[2*at+int64(channel)] = s
		}
	}
	t.end = max(t.end, end)
	t.tail.Store(tail + 1)
}

// flush writes the timeline up to a position.
func (r *Recorder) flush(to int64) {
	for r.flushed < to {
		n := int(min(to-r.flushed, window))
		r.keep(r.w.Write(r.stereo[:2*n]))
		kept := copy(r.stereo, r.stereo[2*n:])
		clear(r.stereo[kept:])
		r.flushed += int64(n)
	}
}

func (r *Recorder) keep(err error) {
	if r.err == nil {
		r.err = err
	}
}
