package roomsim

import (
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/dsp"
	"github.com/agentvoice/agentvoice-daemon/audio/front"
	"github.com/agentvoice/agentvoice-daemon/audio/vad"
	"github.com/agentvoice/agentvoice-daemon/bench/room"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
	"github.com/agentvoice/agentvoice-daemon/internal/assets"
)

// Cell is one conversation: a room, a profile, and the person's cases.
type Cell struct {
	Name    string
	Profile string // default, assertive, cautious or off
	Place
	Seed  uint64
	Cases []Case        // in this order
	Alone time.Duration // duration of the assistant's speech without a person; Cases must be empty
	// Asks is the question that the person speaks before the first answer. Without it
	// the question is typed as soon as the microphone is open.
	Asks *Case
	// WarmUp is how long the assistant talks before the first case; zero means the
	// constant WarmUp.
	WarmUp time.Duration
	// Known: a conversation with the same devices came before, and its delay
	// correction is recalled as in the daemon.
	Known bool
	// Jump is by how much the echo's delay changes once the assistant was audible for
	// JumpAfter.
	Jump, JumpAfter time.Duration
	// Tracker and DSP, if set, replace the defaults of a conversation.
	Tracker *vad.TrackerConfig
	DSP     *dsp.Config
	// Words, if set, replaces the oracle. It gets the audio that recognition hears of
	// an utterance, at audio.SampleRate, from leadIn before it.
	Words func(pcm []int16) (csm.Final, error)
}

// leadIn is how much audio recognition gets before an utterance.
const leadIn = 300 * time.Millisecond

// Place is a room with its devices.
type Place struct {
	Room     string        // of room.Shapes
	EchoGain float64       // dB
	Render   time.Duration // the output buffer
	Capture  time.Duration // the input buffer, in steps of 10 ms
	// Unreported is the part of Render and Capture that the devices do not report.
	Unreported time.Duration
	DriftPPM   float64
	Clip       float64 // clipping level of the speaker, relative to full scale; 0 for none
	Noise      string  // fan, babble or empty
	SNR        float64 // dB, relative to the person
	Headphones bool    // no echo; EchoGain is ignored
	Quieter    float64 // how far the person is below SpeechLevel, in dB, for a person further away
}

// Interruptions maps profiles to the core's setting, as in the daemon.
var Interruptions = map[string]csm.Interruption{
	"default": csm.Confirmed, "assertive": csm.Confirmed, "cautious": csm.ByWords, "off": csm.Never,
}

// setProfile sets what interrupts, as in the daemon.
func setProfile(core *csm.Config, profile string) {
	if core.Interruption = Interruptions[profile]; profile == "assertive" {
		core.Confirm = 0
	}
}

// noiseless is the noise floor of a room without noise, in dBFS: the microphone's own.
const noiseless = -70.0

// Noises are long noises with an RMS of 1, by name.
type Noises map[string][]float32

// config returns the room's configuration, with noise for the seed.
func (p Place) config(n Noises) (room.Config, error) {
	shape, ok := room.ShapeNamed(p.Room)
	if !ok {
		return room.Config{}, fmt.Errorf("unknown room %q", p.Room)
	}
	cfg := room.Config{
		Echo: shape.EchoResponse(), EchoGain: p.EchoGain, Delay: p.Render, DriftPPM: p.DriftPPM,
		SpeakerClip: p.Clip, Near: shape.NearResponse(), Noise: n["fan"], NoiseLevel: noiseless,
	}
	if p.Headphones {
		cfg.Echo = nil
	}
	if p.Noise != "" {
		if cfg.Noise, ok = n[p.Noise]; !ok {
			return cfg, fmt.Errorf("unknown noise %q", p.Noise)
		}
		cfg.NoiseLevel = SpeechLevel - p.Quieter - p.SNR
	}
	return cfg, nil
}

// front returns the front end of the cell.
func (c Cell) front(w *world) (*front.Front, error) {
	tracker, processing := vad.ProfileConfig(vad.Profile(c.Profile)), dsp.Default()
	if c.Tracker != nil {
		tracker = *c.Tracker
	}
	if c.DSP != nil {
		processing = *c.DSP
	}
	f, err := NewFront(processing, tracker, w.player.Hold)
	if err == nil {
		w.retracted = f.Retracted
	}
	return f, err
}

// NewFront returns a front end with the daemon's detectors.
func NewFront(processing dsp.Config, cfg vad.TrackerConfig, hold func(time.Duration)) (*front.Front, error) {
	model, err := assets.Silero()
	if err != nil {
		return nil, err
	}
	lib, err := assets.ONNXRuntime()
	if err != nil {
		return nil, err
	}
	tracker, err := vad.NewTracker(func() (vad.Detector, error) { return vad.NewSilero(model, lib) }, cfg)
	if err != nil {
		return nil, err
	}
	f, err := front.New(processing, hold)
	if err != nil {
		return nil, errors.Join(err, tracker.Close())
	}
	f.Track(tracker)
	return f, nil
}

// sim is the state of a conversation on a virtual clock.
type sim struct {
	Cell
	clock     dispatch.Virtual
	world     *world
	front     *front.Front
	person    *person
	room      *room.Room
	tape      *Tape
	late      []audio.Frame // captured, in the input buffer
	pos       int64         // of the microphone
	sounds    int64         // samples in which the assistant was audible
	cpu       time.Duration // of the media path
	jumped    int64         // position of the jump, refound of the new delay; 0 before
	refound   int64
	deaf      int     // frames in half duplex
	realigned int64   // last seen Realigned of the front end
	uplink    []int16 // all of it, if it is recognized
}

// knownTime is how long the assistant was audible with known devices.
const knownTime = 20 * time.Second

// Run simulates the conversation of a cell on a virtual clock.
func Run(c Cell, says Assistant, noises Noises) (Result, error) {
	var learnt *int64
	if c.Known {
		first := c
		first.Cases, first.Asks, first.Alone = nil, nil, knownTime
		var err error
		if _, learnt, err = hold(first, says, noises, nil); err != nil {
			return Result{}, err
		}
	}
	res, _, err := hold(c, says, noises, learnt)
	return res, err
}

// hold simulates a conversation. It starts with the delay correction found earlier
// and returns the one that it found; nil means none.
func hold(c Cell, says Assistant, noises Noises, before *int64) (res Result, learnt *int64, err error) {
	runtime.LockOSThread() // to measure its CPU time
	defer runtime.UnlockOSThread()
	cfg, err := c.config(noises)
	if err != nil {
		return res, nil, err
	}
	r, err := room.New(cfg)
	if err != nil {
		return res, nil, err
	}
	s := &sim{Cell: c, room: r, person: newPerson(c), tape: NewTape(audio.Samples(c.Render))}
	s.late = make([]audio.Frame, c.Capture/audio.FrameTime)
	s.world = newWorld(&s.clock, says, c.Seed)
	s.world.player = audio.NewManualPlayer(audio.PlayerConfig{}, s.world.played)
	s.world.said = func(f *audio.Frame) { s.tape.Push(f[:]) }
	if s.front, err = c.front(s.world); err != nil {
		return res, nil, err
	}
	s.front.Attach(claimedSource{delay: c.Capture}, claimedSink{delay: c.Render - c.Unreported})
	if c.Words != nil {
		s.person.words = s.recognise
	}
	defer func() { err = errors.Join(err, s.front.Close(), s.world.player.Close()) }()
	if before != nil {
		s.front.Correct(*before)
	}
	core := csm.DefaultConfig()
	setProfile(&core, c.Profile)
	s.world.begin(core)
	s.settle()
	for !s.over() {
		if err := s.step(); err != nil {
			return res, nil, err
		}
	}
	if late, found := s.front.Correction(); found {
		learnt = &late
	}
	return s.result(), learnt, nil
}

// over reports whether all cases are over and the assistant was audible for long enough.
func (s *sim) over() bool {
	if len(s.Cases) == 0 {
		return audio.Duration(s.sounds) >= s.Alone || audio.Duration(s.pos) > 3*s.Alone+time.Minute
	}
	if audio.Duration(s.pos) > time.Minute+time.Duration(len(s.Cases))*maxCaseTime {
		s.world.complain(fmt.Sprintf("given up after %d of %d cases, in %v", len(s.person.said), len(s.Cases), s.world.loop.State().Phase()))
		return true
	}
	return s.person.done()
}

// maxCaseTime is the maximum average time per case, after which a stuck conversation is
// abandoned.
const maxCaseTime = 20 * time.Second

// step simulates 10 ms.
func (s *sim) step() error {
	var near, mic audio.Frame
	speaking := s.world.speaking() && s.world.sounding()
	s.person.near(s.pos, speaking, &near)
	s.room.Capture(func(f *audio.Frame) {
		used := cpuTime()
		s.world.render(f)
		s.front.Rendered(f)
		s.cpu += cpuTime() - used
	}, &near, &mic)
	if s.world.sounding() {
		s.sounds += audio.FrameSamples
	}
	s.jump()
	s.settle()
	s.clock.Advance(audio.FrameTime, s.settle)
	pos := s.pos - int64(len(s.late))*audio.FrameSamples
	s.pos += audio.FrameSamples
	if len(s.late) > 0 {
		first := s.late[0]
		copy(s.late, s.late[1:])
		s.late[len(s.late)-1] = mic
		mic = first
	}
	if pos < 0 {
		return nil
	}
	used := cpuTime()
	marks, err := s.front.Captured(pos, &mic)
	s.cpu += cpuTime() - used
	if err != nil {
		return err
	}
	if s.front.HalfDuplex() {
		s.deaf++
	}
	if s.Words != nil {
		s.uplink = append(s.uplink, s.front.Uplink()[:]...)
	}
	s.person.hear(s.world, marks, s.pos)
	if !s.front.Speaking() && !s.person.asking() {
		s.world.feed()
	}
	s.settle()
	return nil
}

// jump changes the echo's delay at its time, and records when the new delay was found.
func (s *sim) jump() {
	switch {
	case s.JumpAfter == 0 || audio.Duration(s.sounds) < s.JumpAfter:
	case s.jumped == 0:
		s.jumped = s.pos + 1
		s.room.Jump(s.Jump)
		s.realigned = s.front.Realigned()
	case s.front.Realigned() != s.realigned:
		s.realigned, s.refound = s.front.Realigned(), s.pos
	}
}

// recognise recognizes the utterance that started at pos and ends now.
func (s *sim) recognise(pos int64) csm.Final {
	f, err := s.Words(s.uplink[max(0, min(pos-audio.Samples(leadIn), int64(len(s.uplink)))):])
	if err != nil {
		s.world.complain(err.Error())
	}
	return f
}

// settle processes everything that is due now.
func (s *sim) settle() {
	for {
		s.world.loop.Drain()
		s.world.player.Settle()
		if s.world.loop.Idle() {
			return
		}
	}
}
