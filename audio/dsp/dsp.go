package dsp

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// ErrUnavailable says that the program was built without the library.
var ErrUnavailable = errors.New("audio processing is not in this build; build with cgo and webrtc-audio-processing (Debian: libwebrtc-audio-processing-dev), or switch echo cancellation, noise suppression, gain control and the high-pass off")

// Config switches the parts of the processing on. The zero value does nothing.
type Config struct {
	// EchoCancellation takes what Reference was given out of both outputs.
	EchoCancellation bool
	// HighPass takes rumble out of both outputs.
	HighPass bool
	// NoiseSuppression takes steady noise out of Uplink, moderately. It is for loud
	// fans only: with one at 10 dB PocketSphinx gets 48 % of the words wrong instead
	// of 62, but 32 instead of 21 in quiet, and 87 instead of 70 in babble
	// (BenchmarkUplink).
	NoiseSuppression bool
	// GainControl brings speech in Uplink to one level. PocketSphinx gains nothing
	// by it.
	GainControl bool
}

// Default is what measured best for speech in rooms that are not loud.
func Default() Config { return Config{EchoCancellation: true, HighPass: true} }

// Output is one frame of the microphone, processed for each of its listeners.
type Output struct {
	Trigger audio.Frame // for the voice detector
	Uplink  audio.Frame // for recognition
}

// Processor processes one microphone beside one loudspeaker. Reference belongs to
// the rendering goroutine, SetDelay and Stats to anybody, everything else to the
// capturing goroutine.
type Processor struct {
	front *apm // echo and rumble; nil when off
	back  *apm // noise and gain; nil when off
	echo  bool

	ring      ring
	reported  atomic.Int64 // delay of the devices, samples
	aligner   aligner
	corrector corrector
	learner   learner
	dither    dither
	restarts  int64 // of the canceller, for a new delay
	finder    *finder
	scout     *scout
	model     *pathModel
	modelled  int64 // Realigned of the model
	meter     meter

	far               audio.Frame
	farDown, nearDown *converter
	triggerUp, backUp *converter
	farSmall          [frameSamples]int16
	nearSmall, small  [frameSamples]int16 // before and after the canceller
	direct, late      [frameSamples]int16 // what the model leaves, as late as small, and what it left of the last frame
}

// New makes a Processor, and fails with ErrUnavailable in a build without cgo,
// unless cfg switches everything off. It must be closed.
func New(cfg Config) (*Processor, error) {
	front := apmConfig{echo: -1, noise: -1, highPass: cfg.HighPass, extended: true}
	if cfg.EchoCancellation {
		front.echo = low
	}
	back := apmConfig{echo: -1, noise: -1, gain: cfg.GainControl}
	if cfg.NoiseSuppression {
		back.noise = 1
	}
	return newProcessor(front, back)
}

// newProcessor makes the instances that do something.
func newProcessor(front, back apmConfig) (*Processor, error) {
	p := &Processor{echo: front.echo >= 0, finder: newFinder(), model: newPathModel()}
	p.aligner.ring = &p.ring
	p.aligner.reset()
	var err error
	if p.scout, err = newScout(&p.ring); err != nil {
		return nil, err
	}
	if front.echo >= 0 || front.highPass {
		if p.front, err = newAPM(front); err != nil {
			return nil, err
		}
		p.learner.lowest = front.echo
		if err = p.learner.restart(p.front); err != nil {
			p.Close()
			return nil, err
		}
	}
	if back.noise >= 0 || back.gain {
		if p.back, err = newAPM(back); err != nil {
			p.Close()
			return nil, err
		}
	}
	for _, c := range []struct {
		dst      **converter
		from, to int
	}{
		{&p.farDown, audio.SampleRate, rate}, {&p.nearDown, audio.SampleRate, rate},
		{&p.triggerUp, rate, audio.SampleRate}, {&p.backUp, rate, audio.SampleRate},
	} {
		if *c.dst, err = newConverter(c.from, c.to); err != nil {
			p.Close()
			return nil, err
		}
	}
	return p, nil
}

// Close frees the library's memory. It is safe to call twice; no other method may
// run or follow, except Reference, SetDelay and Stats.
func (p *Processor) Close() {
	for _, a := range []**apm{&p.front, &p.back} {
		if *a != nil {
			(*a).close()
			*a = nil
		}
	}
}

// What the library adds, in samples at 48 kHz: the canceller 7 ms by its blocks,
// noise suppression 6 by their overlap.
const (
	cancellerLatency = 7 * millisecond
	noiseLatency     = 6 * millisecond
)

// Latency is how many samples later than in the input a sample is in Trigger: 11 ms
// with echo cancellation, 4 without, nothing where nothing is processed. A position
// that was found in Trigger is that much too late. Uplink is 6 ms later than
// Trigger where noise is suppressed.
func (p *Processor) Latency() int64 {
	if p.front == nil && p.back == nil {
		return 0
	}
	n := int64(p.nearDown.delay*(audio.SampleRate/rate) + p.triggerUp.delay)
	if p.echo {
		n += cancellerLatency
	}
	return n
}

// Reference takes a frame on its way to the loudspeaker. It belongs to the
// rendering goroutine, takes no lock and allocates nothing. Frames that find no
// room, since nobody captures, are dropped.
func (p *Processor) Reference(f *audio.Frame) { p.ring.write(f) }

// SetDelay tells what the devices report: from a frame's Reference until it sounds,
// and from a sound until its frame's Process. It may be called often; it matters
// when the sum changes by more than 10 ms. Until then 0 is assumed. A DelayReporter
// calls it for the devices of a conversation. A sum that is
// too short by up to 40 ms does no harm, and other mistakes of up to 220 ms are
// found and made good, mostly within half a second of echo.
func (p *Processor) SetDelay(render, capture time.Duration) {
	p.reported.Store(audio.Samples(max(render, 0) + max(capture, 0)))
}

// Process processes the next frame of the microphone. It allocates nothing. After
// an error, which only the library can make, out holds the input.
func (p *Processor) Process(in *audio.Frame, out *Output) error {
	p.meter.microphone(in)
	p.nearDown.process(p.nearSmall[:], in[:])
	p.scout.push(p.nearSmall[:])
	p.scout.learn()
	if !p.echo { // else the aligner releases what it read
		p.ring.released.Store(p.scout.read)
	}
	if p.front == nil && p.back == nil {
		out.Trigger, out.Uplink = *in, *in
		return nil
	}
	if err := p.process(out); err != nil {
		out.Trigger, out.Uplink = *in, *in
		return fmt.Errorf("audio of the microphone was passed on unprocessed: %w", err)
	}
	return nil
}

func (p *Processor) process(out *Output) error {
	p.small = p.nearSmall
	if p.front != nil {
		var far []int16
		if p.echo {
			far = p.reference()
		}
		if err := p.front.process(far, p.small[:]); err != nil {
			return err
		}
		if p.echo {
			if err := p.measure(); err != nil {
				return err
			}
		}
	}
	trigger := &p.small
	if p.echo {
		p.predict()
		if p.Predicted() {
			trigger = &p.direct
			if p.model.state == pathNoEcho {
				p.small = p.direct
			}
		}
	}
	p.triggerUp.process(out.Trigger[:], trigger[:])
	if p.back != nil {
		if err := p.back.process(nil, p.small[:]); err != nil {
			return err
		}
	}
	p.backUp.process(out.Uplink[:], p.small[:])
	return nil
}

// predict has the model take the frame. What it leaves is as late as small.
func (p *Processor) predict() {
	if n := p.Realigned(); n != p.modelled {
		p.modelled = n
		p.model.forget()
	}
	if p.model.state != pathEcho || p.learner.learning() {
		p.model.push(p.farSmall[:], p.nearSmall[:], power(p.farSmall[:]) > heard)
	}
	const late = cancellerLatency * rate / audio.SampleRate
	n := copy(p.direct[:], p.late[frameSamples-late:])
	copy(p.direct[n:], p.model.left[:])
	p.late = p.model.left
}

// Predicted reports whether Trigger is the microphone minus a predicted echo instead of
// the canceller's output. It is while the canceller learns, and without an echo. The
// prediction uses the echo path estimated from a tone that was played before. Only the
// capturing goroutine may call it.
func (p *Processor) Predicted() bool {
	switch {
	case !p.echo || !p.model.known():
		return false
	case p.model.state == pathNoEcho:
		return !p.scout.present
	}
	return p.learner.learning()
}

// Person says, where the echo is Predicted, whether the last 40 ms hold more than that. It
// belongs to the capturing goroutine.
func (p *Processor) Person() bool { return p.model.person() }

// reference is the far end for the next frame of the near end, at rate.
func (p *Processor) reference() []int16 {
	if delay, changed := p.corrector.delay(p.reported.Load()); changed {
		p.aligner.setDelay(delay)
		p.model.forget()
	}
	p.aligner.next(&p.far)
	p.farDown.process(p.farSmall[:], p.far[:])
	if power(p.farSmall[:]) > heard {
		p.dither.add(p.farSmall[:])
	}
	return p.farSmall[:]
}

// measure looks at what the canceller did to a frame, and for the echo in it.
func (p *Processor) measure() error {
	p.meter.last.push(p.nearSmall[:], p.small[:])
	far := power(p.farSmall[:])
	if p.meter.echo(far, power(p.nearSmall[:]), power(p.small[:])) {
		if err := p.learner.hear(p.front, p.scout.absent()); err != nil {
			return err
		}
	}
	if delay, moved := p.scout.relocate(p.corrector.total(), p.corrector.known(), p.meter.last.decibels(longCut)); moved && delay != p.corrector.total() {
		p.corrector.recall(delay - p.corrector.reported)
		p.restarts++
		p.finder.reset()
		return p.resetAdaptation()
	}
	moved := false // the finder takes a second and a half to know
	if echo, certain := p.scout.behind(p.aligner.read); certain && !p.corrector.known() && p.aligner.live {
		moved = p.corrector.observe(echo)
	}
	echo, found, done := p.finder.push(p.farSmall[:], p.nearSmall[:], far > heard)
	if !done && !moved {
		return nil
	}
	moved = moved || found && p.corrector.observe(echo)
	if done {
		p.aligner.hold(echo, found && p.corrector.known())
	}
	p.meter.alignment(p)
	if moved {
		p.restarts++
		p.finder.reset()
		return p.resetAdaptation()
	}
	return nil
}

// resetAdaptation lets the canceller forget what it learnt.
func (p *Processor) resetAdaptation() error {
	p.meter.last = cut{} // it was of another filter
	if err := p.front.reset(); err != nil {
		return err
	}
	return p.learner.restart(p.front)
}

// Realigned counts realignments of the streams: for a
// while after each, more of the echo is left. It belongs to the capturing goroutine.
func (p *Processor) Realigned() int64 { return p.aligner.resyncs + p.restarts }

// The least that EchoTail is, and what it allows for the room.
const (
	leastTail = 300 * time.Millisecond
	roomTail  = 200 * time.Millisecond
)

// EchoTail is for how long after the loudspeaker fell silent its sound may still be
// in what is captured, with devices that report so much latency, out and in together:
// they report too little more often than too much.
func EchoTail(reported time.Duration) time.Duration {
	return max(leastTail, reported+roomTail)
}

// Found says whether the echo was found where the far end is laid beside it. It
// belongs to the capturing goroutine.
func (p *Processor) Found() bool { return p.corrector.known() }

// Foreign reports whether the sound of the last quarter of a second is not an echo: it
// holds nothing of the far end, at any delay. It works from the first word on, with
// and without echo cancellation. It belongs to the capturing goroutine, and costs
// three transforms; a second call for the same frame costs nothing.
func (p *Processor) Foreign() bool { return p.scout.foreign() }

// Elsewhere reports whether the sound of the last frames, so many, may be an echo that is
// not where it was, as after a jump of its delay. Of a sound that has just begun it
// cannot be told yet, and it may. It belongs to the capturing goroutine, and costs
// three transforms.
func (p *Processor) Elsewhere(frames int) bool { return p.echo && p.scout.elsewhere(frames) }

// Cut is how many dB the canceller took off the last 30 ms, and off the last 120: few
// of a person, many of an echo; none without echo cancellation. It belongs to the
// capturing goroutine.
func (p *Processor) Cut() (short, long float64) {
	return p.meter.last.decibels(shortCut), p.meter.last.decibels(longCut)
}

// Correction is how much longer the echo takes than the devices report, in samples,
// as far as that was found. It belongs to the capturing goroutine, and to whoever
// knows that it ended.
func (p *Processor) Correction() int64 { return p.corrector.correction }

// Correct begins with the Correction that another Processor found for the same
// devices. It is for before the first frame.
func (p *Processor) Correct(samples int64) { p.corrector.recall(samples) }

// Gap tells that the microphone lost samples before the next frame: their far end
// is skipped. Without it the loss is noticed after half a second.
func (p *Processor) Gap(samples int64) { p.aligner.skip(samples) }

// Reset forgets everything that was heard, for a device that was reopened. What
// SetDelay told stays.
func (p *Processor) Reset() error {
	p.aligner.reset()
	p.corrector = corrector{}
	p.finder.reset()
	p.scout.reset()
	p.model.reset()
	p.meter.reset()
	for _, c := range []*converter{p.farDown, p.nearDown, p.triggerUp, p.backUp} {
		c.reset()
	}
	if p.back != nil {
		if err := p.back.reset(); err != nil {
			return err
		}
	}
	if p.front != nil {
		return p.resetAdaptation()
	}
	return nil
}

// Stats is what the Processor sees. It may be called from any goroutine.
func (p *Processor) Stats() Stats {
	s := p.meter.stats()
	s.Reported = audio.Duration(p.reported.Load())
	s.Learning = s.Learning && p.echo
	return s
}
