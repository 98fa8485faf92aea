package live

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/csm"
)

// playback is the speaker side of a conversation. render runs in the device callback:
// it takes no lock, does not allocate and reports nothing, but wakes goroutines that
// do. internal/archtest checks everything that it calls.
type playback struct {
	d        *devices
	instance uint32
	sink     audio.Sink
	ear      *ear

	lost atomic.Bool   // the core knows that the speaker is lost
	back chan struct{} // capacity 1; it renders again

	rester  audio.Rester // the sink; nil if it cannot rest
	resting sync.Mutex   // held while the sink is sent to rest, woken, or at rest and rendered
	busy    int          // captured frames before the sink may rest
	unheard audio.Frame
}

// restAfter is how many frames must be silent before the speaker rests: 1 s.
const restAfter = 100

func newPlayback(d *devices, instance uint32, sink audio.Sink, ear *ear) *playback {
	p := &playback{d: d, instance: instance, sink: sink, ear: ear, back: make(chan struct{}, 1), busy: restAfter}
	p.rester, _ = sink.(audio.Rester)
	return p
}

// needed wakes the speaker, because sound follows.
func (p *playback) needed() {
	if p.rester == nil {
		return
	}
	p.resting.Lock()
	defer p.resting.Unlock()
	p.busy = restAfter
	p.rester.Wake()
}

// captured lets a silent speaker rest and renders what it plays at rest, so that the
// echo canceller's reference goes on. It is called for each captured frame.
func (p *playback) captured() {
	if p.rester == nil {
		return
	}
	p.resting.Lock()
	defer p.resting.Unlock()
	for range p.rester.Rested() {
		p.render(&p.unheard)
	}
	switch {
	case p.busy > 0:
		p.busy--
	case p.ear.front.Quiet() >= restAfter*audio.FrameTime && p.d.w.voice.player.Idle():
		p.rester.Rest()
	}
}

// render fills the next frame. It runs on the device's thread, or for a speaker at rest
// on the microphone's goroutine.
func (p *playback) render(f *audio.Frame) {
	if p.lost.Load() && p.lost.CompareAndSwap(true, false) {
		select {
		case p.back <- struct{}{}:
		default:
		}
	}
	w := p.d.w
	w.cues.mixer.Render(f) // also renders the player
	w.voice.rendered()
	p.ear.front.Rendered(f)
	p.d.meter.rendered(f)
	if w.cfg.Tap != nil {
		w.cfg.Tap.Assistant(f)
	}
}

// run pulls from the player until ctx is done.
func (p *playback) run(ctx context.Context) {
	p.d.run.Go(func() { p.tell(ctx) })
	for {
		awake, stop := p.d.playNap.awake(ctx)
		err := p.sink.Run(awake, p.render)
		napped := context.Cause(awake) == errNap
		stop()
		if napped && ctx.Err() == nil && p.lost.CompareAndSwap(true, false) { // it was opened again
			p.d.restored(p.instance, csm.Speaker)
		}
		switch {
		case ctx.Err() != nil:
			return
		case napped && p.nap(ctx):
			p.ear.front.ReopenedSink(false)
			continue
		case napped:
			return
		case reselected(ctx, err, p.sink):
			p.ear.front.ReopenedSink(true)
			continue
		default:
			p.lose(err)
		}
		if !reopen(ctx, p.sink) {
			return
		}
		p.ear.front.ReopenedSink(errors.Is(err, audio.ErrReselected))
	}
}

// lose reports once that the speaker is lost. What it would have said beside the conversation is
// dropped.
func (p *playback) lose(err error) {
	if p.lost.CompareAndSwap(false, true) {
		p.d.w.aside.stop(0)
		p.d.lost(p.instance, csm.Speaker, err)
	}
}

// nap closes the speaker until it is needed, and reports whether it is open again. One that does not
// open is lost.
func (p *playback) nap(ctx context.Context) bool {
	_ = p.sink.Close()
	if !p.d.playNap.over(ctx) {
		return false
	}
	err := p.sink.Open(ctx)
	if err == nil {
		return true
	}
	p.lose(err)
	return reopen(ctx, p.sink)
}

// tell reports that the speaker is back, on behalf of the callback that noticed.
func (p *playback) tell(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.back:
			p.d.restored(p.instance, csm.Speaker)
		}
	}
}
