package live

import (
	"cmp"
	"context"
	"sync/atomic"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/wake"
	"github.com/agentvoice/agentvoice-daemon/internal/miclock"
)

const (
	// beforePhrase is what is kept until the phrase is reported: the audio that waits for the
	// spotter, and some before it.
	beforePhrase = 3 * time.Second
	// settles is how much of the phrase the ear gets, for its detector. It is not sent.
	settles = time.Second
	// takenWithin is how long the start of a conversation may take until it takes the
	// microphone. Nothing is loaded before.
	takenWithin = 3 * time.Second
)

// overheard is the open microphone of the waker, which the conversation takes over when the
// phrase was said: closing and opening it again would lose what is said in the same breath. It
// keeps the audio from the phrase on, in memory only, until the conversation's ear is ready.
//
// The audio belongs to the source's goroutine, which also delivers it to the conversation.
type overheard struct {
	source audio.Source
	lease  *miclock.Lease // nil without one
	watch  func()         // ends the watch over the lease
	stop   context.CancelCauseFunc
	now    func() time.Duration
	muted  *atomic.Bool

	owner atomic.Int32  // nobody else, or one of the following
	taken chan struct{} // closed when a conversation took the microphone
	ended chan struct{} // closed when the source has ended, with err
	err   error

	said atomic.Pointer[wake.Heard] // nil until the phrase was said
	to   atomic.Pointer[receiver]   // nil until the conversation's ear is ready

	doubts doubts
	kept   keptFrames
	since  int  // frames since the phrase was reported
	full   bool // kept begins with the phrase
}

func newOverheard(w *World, phrase string, begin func(wake.Heard), stop context.CancelCauseFunc) *overheard {
	o := &overheard{
		stop: stop, watch: func() {}, now: w.now, muted: &w.devices.muted,
		taken: make(chan struct{}), ended: make(chan struct{}),
	}
	o.doubts = doubts{
		detected: make(chan wake.Heard, mostDoubts), question: wake.Question(cmp.Or(phrase, wake.DefaultPhrase)),
		compare: w.comparer.compare, begin: begin, rejected: func() { w.waker.rejected.Add(1) },
	}
	o.kept.resize(audio.Samples(beforePhrase) / audio.FrameSamples)
	return o
}

// The owners of an overheard.
const (
	ownerConversation int32 = iota + 1
	ownerNobody             // the waker has closed it
)

// receiver gets the kept and the current audio.
type receiver struct {
	frame func(pos int64, f *audio.Frame, arrived time.Duration)
	late  func() // called before each frame that arrived before now
}

// phrase returns where the wake phrase was said, in the source's positions.
func (o *overheard) phrase() (h wake.Heard, said bool) {
	if h := o.said.Load(); h != nil {
		return *h, true
	}
	return h, false
}

// heard records the phrase. It reports whether it is the first one.
func (o *overheard) heard(h wake.Heard) bool { return o.said.CompareAndSwap(nil, &h) }

// take makes a conversation the owner, unless the waker has closed the microphone.
func (o *overheard) take() bool {
	if !o.owner.CompareAndSwap(0, ownerConversation) {
		return false
	}
	o.watch()
	close(o.taken)
	return true
}

// run delivers each frame to hear until the phrase was said, and ends with the source.
func (o *overheard) run(ctx context.Context, hear func(pos int64, f *audio.Frame)) {
	defer close(o.ended)
	o.err = o.source.Run(ctx, func(pos int64, f *audio.Frame) {
		if o.said.Load() == nil {
			hear(pos, f)
		}
		o.captured(pos, f)
	})
}

// captured keeps a frame, and delivers what is due.
func (o *overheard) captured(pos int64, f *audio.Frame) {
	h, to := o.said.Load(), o.to.Load()
	muted := o.muted.Load()
	switch {
	case muted || h != nil && to == nil && o.overdue():
		o.forget()
	case h != nil && !o.full:
		o.full = true
		o.doubts.forget()
		o.kept.resize(audio.Samples(gapLimit) / audio.FrameSamples)
		o.kept.dropBefore(h.To - audio.Samples(settles))
	}
	switch {
	case to == nil && muted:
		return
	case muted:
		*f = audio.Frame{}
	}
	o.kept.push(pos, f, o.now())
	if to != nil {
		o.deliver(to, catchUp)
	}
	if h == nil && !muted {
		o.settle()
	}
}

// settle asks about detections and decides about them. What is said meanwhile is kept.
func (o *overheard) settle() {
	before := len(o.doubts.open) > 0
	o.doubts.settle(&o.kept)
	switch after := len(o.doubts.open) > 0; {
	case after && !before:
		o.kept.resize(audio.Samples(gapLimit) / audio.FrameSamples)
	case before && !after && o.said.Load() == nil:
		o.kept.shrink(audio.Samples(beforePhrase) / audio.FrameSamples)
	}
}

// overdue counts a frame after the phrase. If no conversation has taken the microphone in
// time, its start was refused: the phrase counts again from now on.
func (o *overheard) overdue() bool {
	if o.owner.Load() != 0 {
		return false
	}
	if o.since++; o.since < int(takenWithin/audio.FrameTime) {
		return false
	}
	o.since = 0
	o.said.Store(nil)
	return true
}

// forget drops what was kept.
func (o *overheard) forget() {
	o.kept.wipe()
	o.doubts.forget()
	if o.said.Load() == nil {
		o.full = false
		o.kept.shrink(audio.Samples(beforePhrase) / audio.FrameSamples)
	}
}

// deliver passes on up to limit frames, oldest first.
func (o *overheard) deliver(to *receiver, limit int) {
	for ; limit > 0 && o.kept.n > 0; limit-- {
		k := o.kept.pop()
		if o.kept.n > 0 {
			to.late()
		}
		to.frame(k.pos, &k.frame, k.arrived)
		*k = keptFrame{}
	}
}

// pass delivers the kept audio and then the current audio until ctx is done or the source
// has ended, like audio.Source's Run.
func (o *overheard) pass(ctx context.Context, to receiver) error {
	o.to.Store(&to)
	defer context.AfterFunc(ctx, func() { o.stop(nil) })()
	<-o.ended
	if ctx.Err() != nil {
		return ctx.Err()
	}
	o.deliver(&to, o.kept.n)
	return o.err
}

// end stops the source, which can then be closed, and forgets what was kept.
func (o *overheard) end() {
	if o == nil {
		return
	}
	o.stop(nil)
	<-o.ended
	o.kept.wipe()
}

// keptFrames is a queue that drops its oldest frame when it is full.
type keptFrames struct {
	frames   []keptFrame
	first, n int
}

type keptFrame struct {
	pos     int64
	arrived time.Duration // by the conversation's clock
	frame   audio.Frame
}

func (k *keptFrames) at(i int) *keptFrame { return &k.frames[(k.first+i)%len(k.frames)] }

func (k *keptFrames) push(pos int64, f *audio.Frame, arrived time.Duration) {
	if k.n == len(k.frames) {
		k.pop()
	}
	*k.at(k.n) = keptFrame{pos, arrived, *f}
	k.n++
}

// pop removes the oldest frame, which is valid until the next push.
func (k *keptFrames) pop() *keptFrame {
	oldest := k.at(0)
	k.first, k.n = (k.first+1)%len(k.frames), k.n-1
	return oldest
}

func (k *keptFrames) dropBefore(pos int64) {
	for k.n > 0 && k.at(0).pos+audio.FrameSamples <= pos {
		*k.pop() = keptFrame{}
	}
}

// between returns the audio from a position to another, as far as it is kept.
func (k *keptFrames) between(from, to int64) []int16 {
	pcm := make([]int16, 0, max(to-from, 0))
	for i := range k.n {
		if at := k.at(i); at.pos >= from && at.pos+audio.FrameSamples <= to {
			pcm = append(pcm, at.frame[:]...)
		}
	}
	return pcm
}

// shrink keeps the newest frames, as many as size.
func (k *keptFrames) shrink(size int64) {
	for int64(k.n) > size {
		*k.pop() = keptFrame{}
	}
	if int64(len(k.frames)) != size {
		k.resize(size)
	}
}

// resize makes room for a number of frames, at least as many as are kept.
func (k *keptFrames) resize(size int64) {
	frames := make([]keptFrame, size)
	for i := range k.n {
		frames[i] = *k.at(i)
	}
	n := k.n
	k.wipe()
	k.frames, k.n = frames, n
}

// wipe overwrites everything that is kept.
func (k *keptFrames) wipe() {
	clear(k.frames)
	k.first, k.n = 0, 0
}
