package roomsim

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/front"
	"github.com/agentvoice/agentvoice-daemon/audio/portaudio"
	"github.com/agentvoice/agentvoice-daemon/bench/room"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
	"github.com/agentvoice/agentvoice-daemon/internal/testutil/pulse"
)

// LiveResult is a Result with real devices.
type LiveResult struct {
	Result
	Sink, Source audio.Timing  // of the devices
	Unlabelled   int           // cases whose label the server dropped
	Losses       int64         // device losses and attempts to reopen them
	Underruns    int64         // far-end frames that came too late
	Reported     time.Duration // latency of output and input, as the devices report it
	Cushion      time.Duration // buffer of the server's microphone, part of the path from speaker to microphone
	LeftOut      time.Duration // microphone audio dropped after underruns of the server
}

// liveCushion is the buffer of the simulated microphone.
const liveCushion = 60 * time.Millisecond

// flag marks the onset of the room's first case in the label channel. Each case adds
// one, so that a label that the server drops affects only its own case.
const flag = 1000

// talk is the state of a conversation with real devices.
type talk struct {
	Cell
	server *pulse.Server
	world  *world
	front  *front.Front
	person *person
	room   *room.Room
	sink   *portaudio.Sink
	source *portaudio.Source

	pos    int64 // position of the room's microphone
	sounds atomic.Int64
	lost   atomic.Int64 // device losses and attempts to reopen them
	base   int64        // offset of the source's positions; used by its goroutine
	last   int64        // the end of its last frame
}

// Live runs the conversation of a cell with a private sound server in dir, in real
// time. The cell's Render, Capture and DriftPPM have no effect, because the devices
// have their own.
func Live(ctx context.Context, c Cell, says Assistant, noises Noises, dir string) (res LiveResult, err error) {
	server, err := pulse.Start(ctx, dir, pulse.Options{Cushion: liveCushion})
	if err != nil {
		return res, err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	for _, pair := range server.Env() {
		name, value, _ := strings.Cut(pair, "=")
		if err := os.Setenv(name, value); err != nil {
			return res, err
		}
	}
	c.Render, c.Capture, c.DriftPPM = 0, 0, 0
	t := &talk{Cell: c, server: server, person: newPerson(c)}
	cfg, err := c.config(noises)
	if err != nil {
		return res, err
	}
	if t.room, err = room.New(cfg); err != nil {
		return res, err
	}
	t.world = newWorld(dispatch.NewClock(1), says, c.Seed)
	t.world.where = server.Tape().Len
	t.person.where = func(int64) int64 { return server.Tape().Len() }
	t.world.player = audio.NewPlayer(audio.PlayerConfig{}, t.world.played)
	defer func() { err = errors.Join(err, t.world.player.Close()) }()
	t.sink, t.source = portaudio.NewSink(portaudio.Default), portaudio.NewSource(portaudio.Default)
	if t.front, err = c.front(t.world); err != nil {
		return res, err
	}
	defer func() { err = errors.Join(err, t.front.Close()) }()
	if err := t.hold(ctx, &res); err != nil {
		return res, err
	}
	return res, t.measure(&res)
}

// hold runs the conversation until all cases are over.
func (t *talk) hold(ctx context.Context, res *LiveResult) (err error) {
	if err := t.sink.Open(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.sink.Close()) }()
	if err := t.source.Open(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.source.Close()) }()
	t.front.Attach(t.source, t.sink)
	running, stop := context.WithCancel(ctx)
	var all sync.WaitGroup
	defer all.Wait()
	defer stop()
	all.Go(func() { t.world.loop.Run(running) })
	all.Go(func() {
		t.keep(running, t.sink, func() error { return t.sink.Run(running, t.render) }, func() { t.front.ReopenedSink(false) })
	})
	all.Go(func() {
		t.keep(running, t.source, func() error {
			t.base = t.last
			return t.source.Run(running, t.captured)
		}, t.reopened)
	})
	t.server.Connect(t.between)
	defer t.server.Connect(nil)
	core := csm.DefaultConfig()
	setProfile(&core, t.Profile)
	t.world.begin(core)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for !t.person.done() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
	res.Sink, res.Source = t.sink.Timing(), t.source.Timing()
	res.Losses = t.lost.Load()
	res.Reported = t.sink.Latency() + t.source.Latency()
	return nil
}

// reopenEvery is the interval of attempts to reopen a lost device, as on an
// overloaded machine.
const reopenEvery = 500 * time.Millisecond

// keep runs a device, and reopens it when it is lost.
func (t *talk) keep(ctx context.Context, device interface {
	Open(context.Context) error
	Close() error
}, run func() error, reopened func()) {
	for {
		err := run()
		for ctx.Err() == nil && err != nil {
			t.lost.Add(1)
			_ = device.Close() // fails for a lost device
			select {
			case <-ctx.Done():
			case <-time.After(reopenEvery):
				err = device.Open(ctx)
			}
			if err == nil {
				reopened()
			}
		}
		if ctx.Err() != nil {
			return
		}
	}
}

// render renders the next frame for the speaker.
func (t *talk) render(f *audio.Frame) {
	t.world.render(f)
	t.front.Rendered(f)
}

// reopened handles a reopened microphone.
func (t *talk) reopened() {
	if err := t.front.Reopened(); err != nil {
		t.world.complain(err.Error())
	}
}

// captured handles a captured frame.
func (t *talk) captured(pos int64, f *audio.Frame) {
	pos += t.base // positions continue after a device was reopened
	t.last = pos + audio.FrameSamples
	marks, err := t.front.Captured(pos, f)
	if err != nil {
		t.world.complain(err.Error())
	}
	t.person.hear(t.world, marks, pos+audio.FrameSamples+audio.Samples(t.source.Latency()))
	if !t.front.Speaking() {
		t.world.feed()
	}
}

// between is the server's room function, called every 10 ms.
func (t *talk) between(speaker, microphone, label *pulse.Frame) {
	var near, mic audio.Frame
	speaking := t.world.speaking() && t.world.sounding()
	if t.world.sounding() {
		t.sounds.Add(audio.FrameSamples)
	}
	t.person.near(t.pos, speaking, &near)
	t.room.Capture(func(f *audio.Frame) { copy(f[:], speaker[:]) }, &near, &mic)
	copy(microphone[:], mic[:])
	clear(label[:])
	if at, i := t.person.onsetAt(); at >= t.pos && at < t.pos+audio.FrameSamples {
		label[at-t.pos] = int16(flag + i)
	}
	t.pos += audio.FrameSamples
}

// measure evaluates the tape.
func (t *talk) measure(res *LiveResult) error {
	recorded := t.server.Tape()
	tape := NewTape(0)
	onsets := map[int]int64{}
	speaker, label := make([]int16, audio.SampleRate), make([]int16, audio.SampleRate)
	for pos, length := int64(0), recorded.Len(); pos < length; pos += audio.SampleRate {
		n := recorded.Copy(pulse.Speaker, pos, speaker)
		recorded.Copy(pulse.Label, pos, label)
		tape.Push(speaker[:n])
		for i, s := range label[:n] {
			if s >= flag {
				onsets[int(s)-flag] = pos + int64(i)
			}
		}
	}
	said := t.person.said
	for i := range said {
		onset, ok := onsets[i]
		if !ok {
			res.Unlabelled++
			continue
		}
		said[i].begin = onset - said[i].c.Onset
		said[i].first = never // in samples of the device, not of the tape
		res.Outcomes = append(res.Outcomes, outcome(&said[i], tape, t.world.happened, 0))
	}
	res.countFalse(said, t.world.happened)
	res.Sounding, res.DSP = audio.Duration(t.sounds.Load()), t.front.Stats()
	res.Errors, res.Software, res.Audio = t.world.errors, t.world.software, audio.Duration(t.pos)
	res.Underruns, res.Cushion, res.LeftOut = res.DSP.Underruns, liveCushion, t.server.LeftOut()
	return nil
}
