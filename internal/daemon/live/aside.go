package live

import (
	"sync"
	"sync/atomic"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/realtime"
)

// asides is the first sequence number of texts that belong to no turn: segments of
// a conversation count from 1.
const asides = 1 << 31

// aside speaks short texts that belong to no turn, such as that a dialog waits for
// the user. The core does not know of them: they are not captions, and no answer.
// While one is heard, the microphone is not, so that it is not taken for a
// question.
type aside struct {
	w     *World
	inner func(*audio.Frame)
	wake  func() // wakes the loudspeaker

	mu        sync.Mutex
	gen       uint32 // the newest generation of speech: an interruption ends the aside too
	last      uint32
	collected []int16

	ready atomic.Pointer[[]int16] // what is to be heard, whole
	heard int                     // samples of it; of the sink's goroutine
}

func newAside(w *World, inner func(*audio.Frame)) *aside {
	return &aside{w: w, inner: inner, wake: func() {}, last: asides}
}

// say has a text synthesised; it is heard as soon as all of it is there.
func (a *aside) say(text string) {
	c := a.w.link.live.Load()
	if c == nil {
		return // it is shown as well
	}
	a.mu.Lock()
	a.last++
	a.collected = nil
	seg := audio.SegmentID{Gen: a.gen, Seq: a.last}
	a.mu.Unlock()
	c.voice.Speak(realtime.Segment{ID: seg, Text: text})
}

// stop silences what is heard and forgets what is on its way: speech of generation
// gen goes before it.
func (a *aside) stop(gen uint32) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.gen = max(a.gen, gen)
	a.last++
	a.collected = nil
	a.ready.Store(nil)
}

// of says whether a segment is an aside.
func (a *aside) of(seg audio.SegmentID) bool { return seg.Seq >= asides }

func (a *aside) audio(seg audio.SegmentID, pcm []int16) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if seg.Seq == a.last {
		a.collected = append(a.collected, pcm...)
	}
}

func (a *aside) ended(seg audio.SegmentID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if seg.Seq == a.last && len(a.collected) > 0 {
		pcm := a.collected
		a.collected = nil
		a.wake()
		a.ready.Store(&pcm)
	}
}

// sounding says whether an aside is being heard.
func (a *aside) sounding() bool { return a.ready.Load() != nil }

// render fills f with the inner function; where that is silent, with the aside. It
// is the device's side: it takes no lock and allocates nothing.
func (a *aside) render(f *audio.Frame) {
	a.inner(f)
	pcm := a.ready.Load()
	if pcm == nil {
		a.heard = 0
		return
	}
	if *f != (audio.Frame{}) {
		return
	}
	n := copy(f[:], (*pcm)[min(a.heard, len(*pcm)):])
	if a.heard += n; a.heard >= len(*pcm) {
		a.ready.CompareAndSwap(pcm, nil)
		a.heard = 0
	}
}
