package live

import (
	"context"
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
	"github.com/agentvoice/agentvoice-daemon/internal/lease"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// reopenEvery is the pause between attempts to get a lost device back.
const reopenEvery = 500 * time.Millisecond

// levelFrames is how many frames a level stands for: 50 ms, 20 levels a second.
const levelFrames = 5

// devices is the microphone and the loudspeaker.
type devices struct {
	w     *World
	q     *daemon.Queue
	held  atomic.Bool // frames go nowhere: the conversation is suspended
	muted atomic.Bool // frames are silence
	meter meter
	ear   atomic.Pointer[ear] // of the devices that are open

	takeOver atomic.Bool // the next conversation may take the microphone from another window

	// Of the queue.
	source audio.Source
	sink   audio.Sink
	ctx    context.Context
	stop   context.CancelFunc
	run    sync.WaitGroup

	gone struct { // devices of this conversation that are lost
		sync.Mutex
		n int
	}

	echo echo // of the devices that were open last, of the queue

	disclaim func() // gives the microphone up to other windows; nil without a claim
}

// echo is what was learnt about the echo of two devices.
type echo struct {
	in, out string
	late    int64 // see dsp.Processor.Correction
	known   bool
}

func newDevices(w *World) *devices { return &devices{w: w, q: daemon.NewQueue()} }

// open acquires both devices and starts to render.
func (d *devices) open(instance uint32) {
	d.q.Do(func() {
		d.w.waker.conversation()
		d.release()
		err := d.claim()
		if err == nil {
			err = d.acquire()
		}
		if err != nil {
			d.release()
			d.w.cfg.Log.Error().Err(err).Msg("the audio devices cannot be opened")
			code := deviceCode(err)
			d.w.port.Detail(code, err.Error())
			d.w.port.Post(csm.AudioFailed{Instance: instance, Code: code})
			return
		}
		d.held.Store(false)
		sink, ctx, ear := d.sink, d.ctx, d.ear.Load()
		d.run.Go(func() { d.render(ctx, instance, sink, ear) })
		d.w.port.Post(csm.AudioPrimed{Instance: instance})
	})
}

// claim gets the microphone for this window. One that loses it to another ends the
// conversation.
func (d *devices) claim() error {
	if d.w.cfg.Holder == "" {
		return nil
	}
	get := lease.Acquire
	if d.takeOver.Swap(false) {
		get = lease.TakeOver
	}
	who := lease.Holder{Name: d.w.cfg.Holder}
	l, err := get(context.Background(), who)
	var held *lease.HeldError
	if errors.As(err, &held) && yields(held.Holder) {
		l, err = lease.TakeOver(context.Background(), who)
	}
	switch {
	case errors.As(err, &held):
		return &audio.DeviceError{
			Code: string(csm.CodeMicrophoneBusy), Device: "microphone", Err: err,
			Remedy: "end the conversation there, or take the microphone over here",
		}
	case err != nil: // no folder for it: better two windows than none
		d.w.cfg.Log.Warn().Err(err).Msg("other windows cannot be told that this one listens")
		return nil
	}
	ended := make(chan struct{})
	d.disclaim = func() { close(ended); l.Release() }
	go func() {
		select {
		case <-l.Lost():
			d.w.port.Post(csm.UserStop{Code: csm.CodeMicrophoneTaken})
		case <-ended:
		}
	}()
	return nil
}

// acquire makes and opens the devices that the settings name.
func (d *devices) acquire() (err error) {
	set := d.w.port.Settings()
	d.ctx, d.stop = context.WithCancel(context.Background())
	d.gone.Lock()
	d.gone.n = 0 // of the devices before
	d.gone.Unlock()
	if d.sink, err = d.w.cfg.Sink(set); err != nil {
		return err
	}
	if err = d.sink.Open(d.ctx); err != nil {
		return err
	}
	if d.source, err = d.w.cfg.Source(set); err != nil {
		return err
	}
	if err = d.source.Open(d.ctx); err != nil {
		return err
	}
	ear, err := newEar(d.w, set)
	if err != nil {
		return err
	}
	ear.delays(d.source, d.sink)
	d.recall(set, ear)
	d.ear.Store(ear)
	return nil
}

// recall has the ear begin with what was learnt about the same devices: what they
// report too little makes the assistant interrupt itself until it is found.
func (d *devices) recall(set protocol.Settings, ear *ear) {
	var now echo
	if d.w.cfg.Names != nil {
		now.in, now.out = d.w.cfg.Names(set)
	}
	if now.in == d.echo.in && now.out == d.echo.out {
		now = d.echo
	}
	d.echo = now
	if now.known {
		ear.correct(now.late)
	}
}

// render pulls from the player until the device is closed or gone.
func (d *devices) render(ctx context.Context, instance uint32, sink audio.Sink, ear *ear) {
	for lost := false; ; {
		err := sink.Run(ctx, func(f *audio.Frame) {
			if lost {
				lost = false
				d.restored(instance)
			}
			d.w.cues.mixer.Render(f) // and with it the player
			d.w.voice.rendered()
			ear.heardLoudspeaker(f)
			d.meter.rendered(f)
			if d.w.cfg.Tap != nil {
				d.w.cfg.Tap.Assistant(f)
			}
		})
		switch {
		case ctx.Err() != nil:
			return
		case reselected(ctx, err, sink):
			continue
		case !lost:
			lost = true
			d.lost(instance, err)
		}
		if !reopen(ctx, sink) {
			return
		}
	}
}

// startCapture lets the microphone's frames flow.
func (d *devices) startCapture(instance uint32) {
	d.q.Do(func() {
		source, ctx := d.source, d.ctx
		if source == nil {
			d.w.port.Post(csm.AudioFailed{Instance: instance, Code: csm.CodeAudioFailed})
			return
		}
		ear := d.ear.Load()
		d.run.Go(func() { d.capture(ctx, instance, source, ear) })
	})
}

// capture delivers frames until the device is closed or gone. After the end of a
// recording it delivers silence.
func (d *devices) capture(ctx context.Context, instance uint32, source audio.Source, ear *ear) {
	first, lost := true, false
	var base, last int64 // positions go on over a reopened device
	deliver := func(pos int64, f *audio.Frame) {
		if first {
			first = false
			d.w.port.Post(csm.AudioReady{Instance: instance})
		}
		if lost { // maybe before the first
			lost = false
			d.restored(instance)
		}
		last = base + pos
		d.captured(last, f, ear)
	}
	for {
		err := source.Run(ctx, deliver)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			if d.w.cfg.Ended != nil {
				d.w.cfg.Ended()
			}
			d.silence(ctx, last+audio.FrameSamples, ear)
			return
		case reselected(ctx, err, source):
		default:
			if !lost {
				lost = true
				d.lost(instance, err)
			}
			if !reopen(ctx, source) {
				return
			}
		}
		base = last + audio.FrameSamples
		ear.reopened()
	}
}

func (d *devices) captured(pos int64, f *audio.Frame, ear *ear) {
	if d.muted.Load() {
		*f = audio.Frame{}
	}
	if user, assistant, ok := d.meter.captured(f); ok {
		d.w.port.Level(user, assistant)
		d.w.port.Notify(protocol.NotifyLevel, protocol.LevelParams{Input: share(user), Output: share(assistant)})
	}
	if d.w.cfg.Tap != nil {
		d.w.cfg.Tap.User(pos, f)
	}
	if d.held.Load() {
		return
	}
	c := d.w.link.live.Load()
	send, latency := ear.hear(pos, f, c)
	if c != nil {
		c.frame(pos-latency, send)
	}
}

// share is a level in dBFS as a share of full scale.
func share(db float64) float64 {
	if db <= audio.SilenceLevel {
		return 0
	}
	return min(1, math.Pow(10, db/20))
}

// silence goes on where a recording ended.
func (d *devices) silence(ctx context.Context, pos int64, ear *ear) {
	pacer := audio.NewPacer(d.w.cfg.Speed)
	for ; pacer.Wait(ctx) == nil; pos += audio.FrameSamples {
		d.captured(pos, &audio.Frame{}, ear)
	}
}

// lost says that a device is gone. A sound server that dies takes both with it: the
// core is told of the first, and of the end when both are back.
func (d *devices) lost(instance uint32, err error) {
	d.w.cfg.Log.Warn().Err(err).Msg("an audio device is lost; it is opened again as soon as it is back")
	d.gone.Lock()
	defer d.gone.Unlock()
	if d.gone.n++; d.gone.n == 1 {
		d.w.port.Detail(csm.CodeDeviceLost, err.Error())
		d.w.port.Post(csm.AudioLost{Instance: instance})
	}
}

// restored says that a device that was lost gives or takes frames again.
func (d *devices) restored(instance uint32) {
	d.gone.Lock()
	defer d.gone.Unlock()
	if d.gone.n--; d.gone.n == 0 {
		d.w.port.Post(csm.AudioRestored{Instance: instance})
	}
}

// configure points the devices that are open at those that the settings name.
func (d *devices) configure(set protocol.Settings) {
	d.q.Do(func() { d.w.waker.configure(set) })
	if d.w.cfg.Names == nil {
		return
	}
	in, out := d.w.cfg.Names(set)
	d.q.Do(func() {
		if s, ok := d.source.(audio.Selector); ok {
			s.Select(in)
		}
		if s, ok := d.sink.(audio.Selector); ok {
			s.Select(out)
		}
	})
}

// openable is a Source or a Sink, as far as opening it goes.
type openable interface {
	Open(context.Context) error
	Close() error
}

// reselected says whether a device ended because another one was chosen, which is
// open now.
func reselected(ctx context.Context, err error, device openable) bool {
	if !errors.Is(err, audio.ErrReselected) {
		return false
	}
	return device.Close() == nil && device.Open(ctx) == nil
}

// reopen tries to get a device back until ctx is done.
func reopen(ctx context.Context, device openable) bool {
	for {
		_ = device.Close() // what is lost cannot be closed in order
		if device.Open(ctx) == nil {
			return true
		}
		if !pause(ctx, reopenEvery) {
			return false
		}
	}
}

// close releases both devices.
func (d *devices) close(instance uint32) {
	d.q.Do(func() {
		d.release()
		d.w.port.Post(csm.AudioClosed{Instance: instance})
	})
}

// release stops and closes what is open. It runs on the queue.
func (d *devices) release() {
	if d.stop != nil {
		d.stop()
	}
	d.run.Wait()
	var err error
	if d.source != nil {
		err = errors.Join(err, d.source.Close())
	}
	if d.sink != nil {
		err = errors.Join(err, d.sink.Close())
	}
	ear := d.ear.Swap(nil)
	if late, known := ear.correction(); known {
		d.echo.late, d.echo.known = late, true
	}
	err = errors.Join(err, ear.close())
	if err != nil {
		d.w.cfg.Log.Warn().Err(err).Msg("an audio device was not closed in order")
	}
	if d.disclaim != nil {
		d.disclaim()
		d.disclaim = nil
	}
	d.source, d.sink, d.stop = nil, nil, nil
}

func (d *devices) shut() {
	d.q.Do(d.w.waker.shut)
	d.q.Do(d.release)
	d.q.Close()
}

func deviceCode(err error) csm.Code {
	var e *audio.DeviceError
	if errors.As(err, &e) {
		return csm.Code(e.Code)
	}
	return csm.CodeAudioFailed
}

// meter measures both voices over levelFrames frames of the captured one. The
// rendered side is handed over as a running maximum, without a lock.
type meter struct {
	assistant atomic.Uint64 // bits of the loudest RMS since the last level, in dBFS
	rendering atomic.Bool   // assistant holds a level
	n         int
	user      float64
}

func (m *meter) rendered(f *audio.Frame) {
	level := audio.LevelOf(f[:]).RMS
	if !m.rendering.Load() || level > math.Float64frombits(m.assistant.Load()) {
		m.assistant.Store(math.Float64bits(level))
		m.rendering.Store(true)
	}
}

// captured returns both levels when it has seen enough frames.
func (m *meter) captured(f *audio.Frame) (user, assistant float64, ok bool) {
	level := audio.LevelOf(f[:]).RMS
	if m.n == 0 || level > m.user {
		m.user = level
	}
	if m.n++; m.n < levelFrames {
		return 0, 0, false
	}
	m.n = 0
	assistant = audio.SilenceLevel
	if m.rendering.Swap(false) {
		assistant = math.Float64frombits(m.assistant.Load())
	}
	return m.user, assistant, true
}
