package live

import (
	"context"
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/wavio"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
	"github.com/agentvoice/agentvoice-daemon/internal/miclock"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// reopenEvery is the interval between attempts to reopen a lost device.
const reopenEvery = 500 * time.Millisecond

// levelFrames is the number of frames per level: 50 ms, 20 levels a second.
const levelFrames = 5

// devices is the microphone and the speaker.
type devices struct {
	w      *World
	q      *daemon.Queue
	held   atomic.Bool // the user is not heard: frames are dropped or kept
	paused atomic.Bool // for a reason other than a lost connection
	speaks atomic.Bool // only the microphone is lost, so that the answer is still spoken
	muted  atomic.Bool // frames are replaced by silence
	absent atomic.Bool // there are no devices: the conversation is in writing
	meter  meter
	ear    atomic.Pointer[ear]      // of the open devices
	out    atomic.Pointer[playback] // of the open devices

	hearNap, playNap *nap       // of the microphone and of the speaker
	napping          sync.Mutex // held while both are changed

	// Used by the queue only.
	given  *overheard // the source, if the wake phrase began the conversation; or nil
	source audio.Source
	sink   audio.Sink
	cue    chan struct{} // closed when the conversation first listens
	ctx    context.Context
	stop   context.CancelFunc
	run    sync.WaitGroup

	echo echo // of the last opened devices; used by the queue only

	releaseClaim func() // releases the microphone to other windows; nil without a claim
}

// echo is what was learned about the echo of a pair of devices.
type echo struct {
	in, out string
	late    int64 // see dsp.Processor.Correction
	known   bool
}

func newDevices(w *World) *devices {
	return &devices{w: w, q: w.queue("the audio devices"), hearNap: newNap(), playNap: newNap()}
}

// hold stops or resumes the flow of frames when the conversation is suspended, or the
// microphone lost, and resumes. Devices of a suspended conversation nap after a while.
func (d *devices) hold(held bool) {
	d.held.Store(held)
	d.nap()
}

// because passes the reasons to suspend, before the effects of their step.
func (d *devices) because(why csm.SuspendReason) {
	d.paused.Store(why&^(csm.SuspendConnection|csm.SuspendRenewal|csm.SuspendSpeaker) != 0)
	if speaks := why == csm.SuspendMicrophone; d.speaks.Swap(speaks) != speaks {
		d.nap()
	}
}

// nap lets the devices nap while the conversation is suspended, except the microphone
// while its audio is kept, and the speaker while the answer is spoken.
func (d *devices) nap() {
	d.napping.Lock()
	defer d.napping.Unlock()
	nap, e := d.held.Load() && d.w.cfg.Naps, d.ear.Load()
	d.hearNap.allow(nap && (e == nil || e.backlog.gap.Load() == nil))
	d.playNap.allow(nap && !d.speaks.Load())
}

// open acquires both devices and starts rendering. takeOver takes the microphone from
// another window that is listening. A conversation that begins with typed text needs none.
func (d *devices) open(instance uint32, takeOver, typed bool) {
	d.q.Do(func() {
		given := d.w.waker.conversation(typed)
		d.release()
		d.take(given)
		err := d.claim(takeOver)
		d.absent.Store(false)
		if err == nil {
			err = d.acquire(d.w.cfg.Source, d.w.cfg.Sink)
		}
		if err != nil && typed {
			d.release()
			d.absent.Store(true)
			d.w.cfg.Log.Warn().Err(err).Msg("the conversation is in writing, because the audio devices cannot be opened")
			d.w.port.Warn(protocol.CodeTextOnly, err.Error())
			err = d.acquire(
				func(protocol.Settings) (audio.Source, error) { return wavio.Silence{Speed: d.w.cfg.Speed}, nil },
				func(protocol.Settings) (audio.Sink, error) { return wavio.Null{Speed: d.w.cfg.Speed}, nil })
		}
		if err != nil {
			d.release()
			d.w.cfg.Log.Error().Err(err).Msg("the audio devices cannot be opened")
			code := deviceCode(err)
			d.w.port.Fail(csm.AudioFailed{Instance: instance, Code: code}, err.Error())
			return
		}
		d.hold(false)
		out, ctx := newPlayback(d, instance, d.sink, d.ear.Load()), d.ctx
		d.out.Store(out)
		d.run.Go(func() { out.run(ctx) })
		d.w.port.Post(csm.AudioPrimed{Instance: instance})
	})
}

// take makes the open microphone of the waker that of the conversation; nil is allowed. From
// now on it is open for the conversation.
func (d *devices) take(given *overheard) {
	if given == nil {
		return
	}
	d.given, d.source = given, given.source
	d.w.port.Capturing(true)
	d.w.port.Waking(false)
}

// claim acquires the microphone lease for this window. Losing it to another window ends
// the conversation.
func (d *devices) claim(takeOver bool) error {
	if d.given != nil && d.given.lease != nil {
		if err := d.given.lease.Rename(d.w.cfg.Holder); err != nil {
			d.w.cfg.Log.Warn().Err(err).Msg("other windows think that this one waits for its wake phrase")
		}
		d.watch(d.given.lease)
		return nil
	}
	if d.w.cfg.Holder == "" {
		return nil
	}
	get := miclock.Acquire
	if takeOver {
		get = miclock.TakeOver
	}
	who := miclock.Holder{Name: d.w.cfg.Holder}
	l, err := get(context.Background(), who)
	var held *miclock.HeldError
	if errors.As(err, &held) && yields(held.Holder) {
		l, err = miclock.TakeOver(context.Background(), who)
	}
	switch {
	case errors.As(err, &held):
		return &audio.DeviceError{
			Code: string(csm.CodeMicrophoneBusy), Device: "microphone", Err: err,
			Remedy: "end the conversation there, or take the microphone over here",
		}
	case err != nil: // no folder for the lease; two windows at once are better than none
		d.w.cfg.Log.Warn().Err(err).Msg("other windows cannot be told that this one listens")
		return nil
	}
	d.watch(l)
	return nil
}

// watch ends the conversation when another window takes the lease, which release gives back.
func (d *devices) watch(l *miclock.Lease) {
	ended := make(chan struct{})
	d.releaseClaim = func() { close(ended); l.Release() }
	go func() {
		select {
		case <-l.Lost():
			d.w.port.Warn(protocol.CodeMicrophoneTaken, "")
			d.w.port.Post(csm.UserStop{Code: csm.CodeMicrophoneTaken})
		case <-ended:
		}
	}()
}

// acquire creates and opens the devices that the settings name.
func (d *devices) acquire(source func(protocol.Settings) (audio.Source, error), sink func(protocol.Settings) (audio.Sink, error)) (err error) {
	set := d.w.port.Settings()
	d.ctx, d.stop = context.WithCancel(context.Background())
	d.cue = make(chan struct{})
	if d.sink, err = sink(set); err != nil {
		return err
	}
	if err = d.sink.Open(d.ctx); err != nil {
		return err
	}
	if d.given == nil {
		if d.source, err = source(set); err != nil {
			return err
		}
		if err = d.source.Open(d.ctx); err != nil {
			return err
		}
	}
	ear, err := newEar(d.w, set)
	if err != nil {
		return err
	}
	ear.front.Attach(d.source, d.sink)
	d.recall(set, ear)
	d.ear.Store(ear)
	return nil
}

// recall initializes the ear with what was learned about the same devices.
// Underreported delay makes the assistant interrupt itself until it is measured.
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
		ear.front.Correct(now.late)
	}
}

// startCapture starts the flow of microphone frames.
func (d *devices) startCapture(instance uint32) {
	d.q.Do(func() {
		source, ctx := d.source, d.ctx
		if source == nil {
			d.w.port.Post(csm.AudioFailed{Instance: instance, Code: csm.CodeAudioFailed})
			return
		}
		ear, cue, given := d.ear.Load(), d.cue, d.given
		d.run.Go(func() { d.capture(ctx, instance, source, given, ear, cue) })
	})
}

// listening starts a recording and reports lost speech, because the conversation now
// listens.
func (d *devices) listening() {
	d.ear.Load().listen()
	d.q.Do(func() {
		if d.cue == nil {
			return
		}
		select {
		case <-d.cue:
		default:
			close(d.cue)
		}
	})
}

// capture delivers frames until the device is closed or lost, first those of given, if it is
// not nil. A recording starts with cue; silence is delivered before it and after its end.
func (d *devices) capture(ctx context.Context, instance uint32, source audio.Source, given *overheard, ear *ear, cue <-chan struct{}) {
	if !ear.ready(ctx) { // without a detector, the first word would be lost
		return
	}
	first, lost, flows := true, false, given != nil
	var base, last int64 // positions continue across a reopened device
	receive := func(pos int64, f *audio.Frame, arrived time.Duration) {
		if used := !d.w.aside.sounding() && !d.absent.Load(); used != flows {
			flows = used
			d.w.port.Capturing(used)
		}
		if first {
			first = false
			d.w.port.Post(csm.AudioReady{Instance: instance})
		}
		lost = d.works(instance, lost) // possibly it was lost before the first frame
		last = base + pos
		ear.clock.delivered(last+audio.FrameSamples, arrived)
		zero := *f == audio.Frame{}
		d.captured(last, f, ear)
		d.judgeMicrophone(source, ear, zero)
	}
	deliver := func(pos int64, f *audio.Frame) { receive(pos, f, d.w.now()) }
	restart := func() {
		base = last + audio.FrameSamples
		ear.clock.restart()
	}
	if _, recorded := source.(audio.Recording); recorded {
		d.silence(ctx, cue, deliver)
		restart()
	}
	run := runs(source, deliver, given, receive, ear)
	for {
		awake, stop := d.hearNap.awake(ctx)
		err := run(awake)
		napped := ctx.Err() == nil && context.Cause(awake) == errNap
		stop()
		switch {
		case ctx.Err() != nil:
			return
		case err == nil && !napped:
			if d.w.cfg.Ended != nil {
				d.w.cfg.Ended()
			}
			restart()
			d.silence(ctx, nil, deliver)
			return
		}
		flows = false
		d.w.port.Capturing(false)
		if napped {
			lost = d.works(instance, lost) // it was opened again, and delivers nothing before the conversation resumes
			err = d.sleep(ctx, source)
		}
		switch {
		case ctx.Err() != nil:
			return
		case napped && err == nil, reselected(ctx, err, source):
		default:
			if !lost {
				lost = true
				d.lost(instance, csm.Microphone, err)
			}
			if !reopen(ctx, source) {
				return
			}
		}
		restart()
		late, known := ear.correction()
		ear.reopened()
		d.forgetFault(ear)
		if napped && known { // the devices are the same
			ear.front.Correct(late)
		}
	}
}

// runs returns the function that delivers the frames of source: those of given to receive first,
// if it is not nil.
func runs(source audio.Source, deliver func(int64, *audio.Frame), given *overheard, receive func(int64, *audio.Frame, time.Duration), ear *ear) func(context.Context) error {
	if given != nil {
		ear.called(given)
	}
	return func(ctx context.Context) error {
		if given == nil {
			return source.Run(ctx, deliver)
		}
		first := given
		given = nil
		return first.pass(ctx, receiver{receive, ear.front.Late})
	}
}

// sleep closes the source until the nap is over, and opens it again.
func (d *devices) sleep(ctx context.Context, source audio.Source) error {
	d.w.port.Notify(protocol.NotifyLevel, protocol.LevelParams{}) // the last level until the device wakes
	_ = source.Close()
	if !d.hearNap.over(ctx) {
		return ctx.Err()
	}
	return source.Open(ctx)
}

// speakerNeeded wakes the speaker, because sound follows.
func (d *devices) speakerNeeded() {
	d.playNap.wake()
	if out := d.out.Load(); out != nil {
		out.needed()
	}
}

// voiceless reports whether the speaker is lost.
func (d *devices) voiceless() bool {
	out := d.out.Load()
	return out != nil && out.lost.Load()
}

func (d *devices) captured(pos int64, f *audio.Frame, ear *ear) {
	d.out.Load().captured()
	if d.muted.Load() || d.w.aside.sounding() {
		*f = audio.Frame{}
	}
	if user, assistant, ok := d.meter.captured(f); ok {
		d.w.port.Level(user, assistant)
		d.w.port.Notify(protocol.NotifyLevel, protocol.LevelParams{Input: share(user), Output: share(assistant)})
	}
	if d.w.cfg.Tap != nil {
		d.w.cfg.Tap.User(pos, f)
	}
	if !d.held.Load() || ear.keeps() {
		ear.hear(pos, f)
	}
}

// share converts a level in dBFS to a fraction of full scale.
func share(db float64) float64 {
	if db <= audio.SilenceLevel {
		return 0
	}
	return min(1, math.Pow(10, db/20))
}

// silence delivers silent frames until ctx or until is done.
func (d *devices) silence(ctx context.Context, until <-chan struct{}, deliver func(int64, *audio.Frame)) {
	pacer := audio.NewPacer(d.w.cfg.Speed)
	for pos := int64(0); pacer.Wait(ctx) == nil; pos += audio.FrameSamples {
		deliver(pos, &audio.Frame{})
		select {
		case <-until:
			return
		default:
		}
	}
}

// lost reports a lost device. Each has a stream of its own, so that the other stays open.
// A sound server that dies takes both with it, one after the other.
func (d *devices) lost(instance uint32, which csm.Device, err error) {
	d.w.cfg.Log.Warn().Err(err).Msg("an audio device is lost; it is opened again as soon as it is back")
	d.w.port.Fail(csm.AudioLost{Instance: instance, Device: which}, err.Error())
}

// works reports that the microphone works again, if it was lost. It returns false: it is not lost.
func (d *devices) works(instance uint32, lost bool) bool {
	if lost {
		d.restored(instance, csm.Microphone)
	}
	return false
}

// restored reports that a lost device delivers or accepts frames again.
func (d *devices) restored(instance uint32, which csm.Device) {
	d.w.port.Post(csm.AudioRestored{Instance: instance, Device: which})
}

// configure switches the open devices to those that the settings name.
func (d *devices) configure(set protocol.Settings) {
	d.q.Latest("waker", func() { d.w.waker.configure(set) })
	if d.w.cfg.Names == nil {
		return
	}
	in, out := d.w.cfg.Names(set)
	d.q.Latest("names", func() {
		if in != d.echo.in || out != d.echo.out { // from now on, the echo of these devices is learned
			d.echo = echo{in: in, out: out}
		}
		if s, ok := d.source.(audio.Selector); ok {
			s.Select(in)
		}
		if s, ok := d.sink.(audio.Selector); ok {
			s.Select(out)
		}
	})
}

// openable is the part of Source and Sink that opens and closes them.
type openable interface {
	Open(context.Context) error
	Close() error
}

// reselected reports whether a device ended because another one was selected, which is
// now open.
func reselected(ctx context.Context, err error, device openable) bool {
	if !errors.Is(err, audio.ErrReselected) {
		return false
	}
	return device.Close() == nil && device.Open(ctx) == nil
}

// reopen tries to reopen a device until ctx is done.
func reopen(ctx context.Context, device openable) bool {
	for {
		_ = device.Close() // a lost device cannot close cleanly
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

// release stops and closes the open devices. It runs on the queue.
func (d *devices) release() {
	if d.stop != nil {
		d.stop()
	}
	d.run.Wait()
	d.given.end()
	var err error
	if d.source != nil {
		err = errors.Join(err, d.source.Close())
		d.w.port.Capturing(false)
	}
	if d.sink != nil {
		err = errors.Join(err, d.sink.Close())
	}
	d.out.Store(nil)
	ear := d.ear.Swap(nil)
	d.forgetFault(ear)
	if late, known := ear.correction(); known {
		d.echo.late, d.echo.known = late, true
	}
	err = errors.Join(err, ear.close())
	if err != nil {
		d.w.cfg.Log.Warn().Err(err).Msg("an audio device did not close cleanly")
	}
	if d.releaseClaim != nil {
		d.releaseClaim()
		d.releaseClaim = nil
	}
	d.given, d.source, d.sink, d.stop, d.cue = nil, nil, nil, nil, nil
}

func (d *devices) shut() {
	d.q.Close(d.w.waker.shut, d.release)
}

func deviceCode(err error) csm.Code {
	var e *audio.DeviceError
	if errors.As(err, &e) {
		return csm.Code(e.Code)
	}
	return csm.CodeAudioFailed
}

// meter measures both voices over levelFrames captured frames. The rendered side is
// passed as a running maximum, without a lock.
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

// captured returns both levels once it has enough frames.
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
