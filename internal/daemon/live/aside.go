package live

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/realtime"
)

// asides is the first sequence number for texts outside of a turn. Segments of a
// conversation count from 1.
const asides = 1 << 31

// aside speaks short texts that belong to no turn, for example that a dialog waits for
// the user. The core does not know them: they are neither captions nor an answer. The
// microphone is muted while one plays, so that it is not mistaken for a question. One that is said
// while another is on its way or plays is heard after it.
type aside struct {
	w     *World
	inner func(*audio.Frame)
	wake  func() // wakes the speaker
	// voiceless reports whether the speaker is lost. An aside does not wait for it, because the
	// microphone is muted while one plays.
	voiceless func() bool

	mu          sync.Mutex
	gen         uint32             // newest speech generation; an interruption also ends the asides
	first, last uint32             // of those that are still to be heard
	paused      bool               // the voice is paused
	collected   map[uint32][]int16 // audio of those that are on their way

	ready atomic.Pointer[[]int16] // the audio to play, complete
	heard int                     // samples played; used by the sink's goroutine only
}

func newAside(w *World, inner func(*audio.Frame)) *aside {
	return &aside{w: w, inner: inner, wake: func() {}, voiceless: func() bool { return false }, first: asides, last: asides, collected: map[uint32][]int16{}}
}

// say has a text synthesised. It plays once all of its audio has arrived.
func (a *aside) say(text string) {
	c := a.w.link.live.Load()
	if c == nil || a.voiceless() {
		return // the text is also shown
	}
	a.mu.Lock()
	a.last++
	seg := audio.SegmentID{Gen: a.gen, Seq: a.last}
	a.mu.Unlock()
	c.voice.Speak(realtime.Segment{ID: seg, Text: text, Next: true})
}

// pause says that the voice is paused: segments that arrive until stop are not heard.
func (a *aside) pause() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.paused = true
}

// segment makes room for a segment of generation gen, unless the voice is paused.
func (a *aside) segment(gen uint32) {
	a.mu.Lock()
	paused := a.paused
	a.gen = max(a.gen, gen)
	a.mu.Unlock()
	if !paused {
		a.stop(gen)
	}
}

// stop silences the current aside and drops a pending one, because speech of generation
// gen takes precedence.
func (a *aside) stop(gen uint32) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.gen, a.paused = max(a.gen, gen), false
	a.last++
	a.first = a.last
	clear(a.collected)
	a.ready.Store(nil)
}

// of reports whether a segment is an aside.
func (a *aside) of(seg audio.SegmentID) bool { return seg.Seq >= asides }

func (a *aside) audio(seg audio.SegmentID, pcm []int16) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if seg.Seq >= a.first && seg.Seq <= a.last {
		a.collected[seg.Seq] = append(a.collected[seg.Seq], pcm...)
	}
}

func (a *aside) ended(seg audio.SegmentID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	pcm := a.collected[seg.Seq]
	delete(a.collected, seg.Seq)
	if len(pcm) == 0 || a.voiceless() {
		return
	}
	a.wake()
	// The callback may finish the one that plays at any moment.
	for {
		playing := a.ready.Load()
		next := pcm
		if playing != nil {
			next = slices.Concat(*playing, make([]int16, betweenAsides), pcm)
		}
		if a.ready.CompareAndSwap(playing, &next) {
			return
		}
	}
}

// betweenAsides is the silence between two texts, in samples.
var betweenAsides = int(audio.Samples(300 * time.Millisecond))

// sounding reports whether an aside is playing.
func (a *aside) sounding() bool { return a.ready.Load() != nil }

// render fills f with the inner function or, where that is silent, with the aside. It
// runs in the device callback: it takes no lock and does not allocate.
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
		if a.ready.CompareAndSwap(pcm, nil) { // otherwise it goes on with the next one
			a.heard = 0
		}
	}
}
