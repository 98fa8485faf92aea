package dsp

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// ErrUnavailable is returned for noise suppression and gain control in a build without
// the native library.
var ErrUnavailable = errors.New("this build has no noise suppression and no gain control; disable them, or build with cgo and webrtc-audio-processing (Debian: libwebrtc-audio-processing-dev)")

// Config enables the stages of the processing. The zero value disables all.
type Config struct {
	// EchoCancellation removes the echo of Reference from both outputs.
	EchoCancellation bool
	// HighPass removes rumble from both outputs.
	HighPass bool
	// NoiseSuppression removes steady noise from Uplink, moderately. Enable it only
	// with loud fans: in quiet and in babble it increases the word errors of
	// PocketSphinx (BenchmarkUplink).
	NoiseSuppression bool
	// GainControl normalizes the level of speech in Uplink. It does not improve
	// PocketSphinx.
	GainControl bool
}

// Essential returns the configuration without the stages that need the native library.
func (c Config) Essential() Config {
	return Config{EchoCancellation: c.EchoCancellation, HighPass: c.HighPass}
}

// Default returns the configuration with the best results for speech in rooms that are not loud.
func Default() Config { return Config{EchoCancellation: true, HighPass: true} }

// Output is one frame of the microphone, processed for each consumer.
type Output struct {
	Trigger audio.Frame // for the voice detector
	Uplink  audio.Frame // for recognition
}

// Processor processes one microphone and one speaker. Reference belongs to the
// rendering goroutine, SetDelay and Stats are safe for concurrent use, everything
// else belongs to the capturing goroutine.
type Processor struct {
	front apm // echo and rumble; nil when off
	back  apm // noise and gain; nil when off
	echo  bool

	ring      ring
	reported  atomic.Int64 // delay of the devices, in samples
	aligner   aligner
	corrector corrector
	learner   learner
	dither    dither
	restarts  int64 // restarts of the canceller because of a new delay
	finder    *finder
	scout     *scout
	model     *pathModel
	modelled  int64 // value of Realigned that the model has seen
	meter     meter

	far               audio.Frame
	farDown, nearDown *converter
	triggerUp, backUp *converter
	farSmall          [frameSamples]int16
	nearSmall, small  [frameSamples]int16 // before and after the canceller
	direct, late      [frameSamples]int16 // residual of the model: delayed like small, and of the last frame
}

// New returns a Processor, which must be closed. In a build without the native library it
// fails with ErrUnavailable if cfg enables noise suppression or gain control.
func New(cfg Config) (*Processor, error) {
	front, back := cfg.stages()
	return newProcessor(newAPM, front, back)
}

// stages returns the configurations of the two instances.
func (c Config) stages() (front, back apmConfig) {
	front = apmConfig{echo: -1, noise: -1, highPass: c.HighPass, extended: true}
	if c.EchoCancellation {
		front.echo = low
	}
	back = apmConfig{echo: -1, noise: -1, gain: c.GainControl}
	if c.NoiseSuppression {
		back.noise = 1
	}
	return front, back
}

// newProcessor creates the instances that are enabled.
func newProcessor(newAPM func(apmConfig) (apm, error), front, back apmConfig) (*Processor, error) {
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

// Close frees the library's memory. It is safe to call twice. No other method may run
// concurrently or afterwards, except Reference, SetDelay and Stats.
func (p *Processor) Close() {
	for _, a := range []*apm{&p.front, &p.back} {
		if *a != nil {
			(*a).Close()
			*a = nil
		}
	}
}

// noiseLatency is the overlap of noise suppression, in samples at 48 kHz.
const noiseLatency = 6 * millisecond

// Latency returns the delay of Trigger in samples: 11 or 12 ms with echo cancellation, 4 ms
// without, 0 if nothing is enabled. Subtract it from positions found in Trigger. With
// noise suppression Uplink is delayed by another 6 ms.
func (p *Processor) Latency() int64 {
	if p.front == nil && p.back == nil {
		return 0
	}
	n := int64(p.nearDown.delay*(audio.SampleRate/rate) + p.triggerUp.delay)
	if p.echo {
		n += int64(p.front.Latency() * (audio.SampleRate / rate))
	}
	return n
}

// Reference takes a frame on its way to the speaker. It belongs to the rendering
// goroutine, takes no lock and does not allocate. It drops frames while the ring is
// full because nothing captures.
func (p *Processor) Reference(f *audio.Frame) { p.ring.write(f) }

// SetDelay sets the delays that the devices report: from a frame's Reference until it
// sounds, and from a sound until its frame's Process. The default is 0. It may be
// called often; only changes of the sum by more than 10 ms have an effect.
// DelayReporter calls it for the devices of a conversation. A sum that is too short
// by up to 40 ms is harmless. Other errors of up to 220 ms are detected and
// corrected, mostly within half a second of echo.
func (p *Processor) SetDelay(render, capture time.Duration) {
	p.reported.Store(audio.Samples(max(render, 0) + max(capture, 0)))
}

// Process processes the next microphone frame. It does not allocate. On an error, which
// only the library can cause, out holds the input.
func (p *Processor) Process(in *audio.Frame, out *Output) error {
	p.meter.microphone(in)
	p.nearDown.process(p.nearSmall[:], in[:])
	p.scout.push(p.nearSmall[:])
	p.scout.learn()
	if !p.echo { // otherwise the aligner releases what it has read
		p.ring.released.Store(p.scout.read)
	}
	if p.front == nil && p.back == nil {
		out.Trigger, out.Uplink = *in, *in
		return nil
	}
	if err := p.process(out); err != nil {
		p.meter.last = cut{} // nothing is reduced
		out.Trigger, out.Uplink = *in, *in
		return fmt.Errorf("microphone audio passed through unprocessed: %w", err)
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
		if err := p.front.Process(far, p.small[:]); err != nil {
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
		if err := p.back.Process(nil, p.small[:]); err != nil {
			return err
		}
	}
	p.backUp.process(out.Uplink[:], p.small[:])
	return nil
}

// predict runs the model on the frame. Its output has the delay of small.
func (p *Processor) predict() {
	if n := p.Realigned(); n != p.modelled {
		p.modelled = n
		p.model.forget()
	}
	if p.model.state != pathEcho || p.learner.learning() {
		p.model.push(p.farSmall[:], p.nearSmall[:], power(p.farSmall[:]) > heard)
	}
	late := p.front.Latency()
	n := copy(p.direct[:], p.late[frameSamples-late:])
	copy(p.direct[n:], p.model.left[:])
	p.late = p.model.left
}

// Predicted reports whether Trigger is the microphone minus a predicted echo instead
// of the canceller's output, which is the case while the canceller adapts and where
// there is no echo. The prediction uses the echo path estimated from an earlier tone.
// Only the capturing goroutine may call it.
func (p *Processor) Predicted() bool {
	switch {
	case !p.echo || !p.model.known():
		return false
	case p.model.state == pathNoEcho:
		return !p.scout.present
	}
	return p.learner.learning()
}

// Person reports, while the echo is Predicted, whether the last 40 ms contain more than
// the echo. Only the capturing goroutine may call it.
func (p *Processor) Person() bool { return p.model.person() }

// reference returns the far end for the next near-end frame, at rate.
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

// measure updates the figures after the canceller, and looks for the echo in the frame.
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
	moved := false // the finder needs 1.5 s
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

// resetAdaptation makes the canceller adapt from scratch.
func (p *Processor) resetAdaptation() error {
	p.meter.last = cut{} // measured with the old filter
	if err := p.front.Reset(); err != nil {
		return err
	}
	return p.learner.restart(p.front)
}

// Realigned counts realignments of the streams. After each one the residual echo is
// higher for a while. Only the capturing goroutine may call it.
func (p *Processor) Realigned() int64 { return p.aligner.resyncs + p.restarts }

// The minimum of EchoTail, and its allowance for the room.
const (
	minTail  = 300 * time.Millisecond
	roomTail = 200 * time.Millisecond
)

// EchoTail returns how long after the speaker has fallen silent its sound may still
// be captured, given the reported latency of output and input together. The margin is
// there because devices report too little more often than too much.
func EchoTail(reported time.Duration) time.Duration {
	return max(minTail, reported+roomTail)
}

// Found reports whether the echo was found at the current alignment. Only the capturing
// goroutine may call it.
func (p *Processor) Found() bool { return p.corrector.known() }

// Foreign reports whether the sound of the last quarter of a second is not an echo,
// that is, contains nothing of the far end at any delay. It works from the first
// word, with and without echo cancellation. It costs three FFTs; a second call for
// the same frame is free. Only the capturing goroutine may call it.
func (p *Processor) Foreign() bool { return p.scout.foreign() }

// EchoMayHaveMoved reports whether the sound of the last frames may be an echo at
// another delay than before. For a sound that has just started this cannot be
// excluded, so it returns true. It costs three FFTs. Only the capturing goroutine may
// call it.
func (p *Processor) EchoMayHaveMoved(frames int) bool { return p.echo && p.scout.elsewhere(frames) }

// EchoReduction returns how many dB the canceller removed from the last 30 ms and
// from the last 120 ms: little for a person, much for an echo, 0 without echo
// cancellation. Only the capturing goroutine may call it.
func (p *Processor) EchoReduction() (short, long float64) {
	return p.meter.last.decibels(shortCut), p.meter.last.decibels(longCut)
}

// Correction returns by how many samples the echo's delay exceeds the reported one,
// as far as known. Only the capturing goroutine may call it, or any goroutine after
// it has ended.
func (p *Processor) Correction() int64 { return p.corrector.correction }

// Correct sets the initial correction to one that another Processor found for the same
// devices. Call it before the first frame.
func (p *Processor) Correct(samples int64) { p.corrector.recall(samples) }

// Gap reports that the microphone lost samples before the next frame, and skips their
// far end. Without it the loss is detected after half a second.
func (p *Processor) Gap(samples int64) { p.aligner.skip(samples) }

// Late reports that the next frame was captured before now, so that the far end rendered
// now is not aligned with it.
func (p *Processor) Late() { p.aligner.reset() }

// Reset discards all state except SetDelay's, for a device that was reopened.
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
		if err := p.back.Reset(); err != nil {
			return err
		}
	}
	if p.front != nil {
		return p.resetAdaptation()
	}
	return nil
}

// Stats returns the current figures. It is safe for concurrent use.
func (p *Processor) Stats() Stats {
	s := p.meter.stats()
	s.Reported = audio.Duration(p.reported.Load())
	s.Learning = s.Learning && p.echo
	return s
}
