//go:build cgo && linux

package portaudio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/internal/testutil/pulse"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const toneHz = 500

// tone renders an endless tone.
func tone() func(*audio.Frame) {
	n := 0
	return func(f *audio.Frame) {
		for i := range f {
			f[i] = int16(12000 * math.Sin(2*math.Pi*toneHz*float64(n)/audio.SampleRate))
			n++
		}
	}
}

// amplitude returns that of the tone in pcm, whose length is a multiple of its period.
func amplitude(pcm []int16) float64 {
	re, im := 0.0, 0.0
	for i, s := range pcm {
		a := 2 * math.Pi * toneHz * float64(i) / audio.SampleRate
		re += float64(s) * math.Cos(a)
		im += float64(s) * math.Sin(a)
	}
	return 2 * math.Hypot(re, im) / float64(len(pcm))
}

func isTone(pcm []int16) bool { return math.Abs(amplitude(pcm)-12000) < 600 }

func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// inRoom makes a server's microphone hear the tone.
func inRoom(server *pulse.Server) {
	render := tone()
	server.Connect(func(_, microphone, _ *pulse.Frame) { render((*audio.Frame)(microphone)) })
}

// hear captures until it has received the tone for half a second.
func hear(t *testing.T, source audio.Source) {
	t.Helper()
	ctx, cancel := context.WithCancel(bounded(t))
	defer cancel()
	heard, frames := 0, 0
	err := source.Run(ctx, func(_ int64, f *audio.Frame) {
		frames++
		if isTone(f[:]) {
			heard++
		}
		if heard == 50 {
			cancel()
		}
	})
	if heard < 50 || !errors.Is(err, context.Canceled) {
		t.Fatalf("capture ended with %v after %d frames, %d of them the tone", err, frames, heard)
	}
}

// play plays the tone until the server has recorded half a second of it.
func play(t *testing.T, server *pulse.Server, sink audio.Sink) {
	t.Helper()
	ctx, cancel := context.WithCancel(bounded(t))
	defer cancel()
	played := make(chan error, 1)
	go func() { played <- sink.Run(ctx, tone()) }()
	heard := 0
	for pos := server.Tape().Len(); heard < 50; pos += audio.FrameSamples {
		if err := server.Tape().Wait(ctx, pos+audio.FrameSamples); err != nil {
			t.Fatalf("the speaker played %d frames of the tone: %v", heard, err)
		}
		var pcm [audio.FrameSamples]int16
		if server.Tape().Copy(pulse.Speaker, pos, pcm[:]); isTone(pcm[:]) {
			heard++
		}
	}
	cancel()
	if err := <-played; !errors.Is(err, context.Canceled) {
		t.Errorf("playback ended with %v", err)
	}
}

func openedHere[D interface{ Open(context.Context) error }](t *testing.T, device D) D {
	t.Helper()
	if err := device.Open(bounded(t)); err != nil {
		t.Fatal(err)
	}
	if c, ok := any(device).(io.Closer); ok {
		t.Cleanup(func() {
			if err := errors.Join(c.Close(), c.Close()); err != nil {
				t.Error(err)
			}
		})
	}
	return device
}

//test:realtime
func TestCaptureAndPlayback(t *testing.T) {
	server := pulse.ForTest(t)
	inRoom(server)
	source, sink := openedHere(t, NewSource(Default)), openedHere(t, NewSink(Default))
	hear(t, source)
	play(t, server, sink)
	for name, timing := range map[string]audio.Timing{"microphone": source.Timing(), "speaker": sink.Timing()} {
		t.Logf("%s: %+v", name, timing)
		if timing.Reported <= 0 || timing.Reported > time.Second || timing.Measured <= 0 || timing.Measured > time.Second || timing.Callbacks < 50 {
			t.Errorf("the %s has %+v", name, timing)
		}
	}
}

// TestRest: a speaker at rest plays silence without calling render, for longer than
// missing callbacks are tolerated. It calls render for the frames that Rested did not
// return, and then for those it plays. A speaker at rest can be stopped.
//
//test:realtime
func TestRest(t *testing.T) {
	server := pulse.ForTest(t)
	sink := openedHere(t, NewSink(Default))
	ctx, cancel := context.WithCancel(bounded(t))
	defer cancel()
	var rendered, played int // orders the calls for the race detector, as the state of a player would
	render, beeps := tone(), atomic.Bool{}
	ended := make(chan error, 1)
	go func() {
		ended <- sink.Run(ctx, func(f *audio.Frame) {
			rendered++
			if *f = (audio.Frame{}); beeps.Load() {
				render(f)
			}
		})
	}()
	time.Sleep(300 * time.Millisecond)
	sink.Rest()
	before := rendered
	for begun := time.Now(); time.Since(begun) < patience+suspectTime; time.Sleep(20 * time.Millisecond) {
		n := sink.Rested()
		played += n
		rendered += n
	}
	if rendered != before+played {
		t.Errorf("%d frames rendered at rest", rendered-before-played)
	}
	if want := int((patience + suspectTime) / audio.FrameTime); played < want*8/10 || played > want*12/10 {
		t.Errorf("%d frames played at rest, want about %d", played, want)
	}
	time.Sleep(100 * time.Millisecond) // some 10 frames that Rested does not return
	pos := server.Tape().Len()
	beeps.Store(true)
	sink.Wake()
	for heard := 0; heard < 10; pos += audio.FrameSamples {
		if err := server.Tape().Wait(ctx, pos+audio.FrameSamples); err != nil {
			t.Fatal(err)
		}
		var pcm [audio.FrameSamples]int16
		if server.Tape().Copy(pulse.Speaker, pos, pcm[:]); isTone(pcm[:]) {
			heard++
		}
	}
	if n := sink.Rested(); n != 0 {
		t.Errorf("awake, it has rested for %d frames", n)
	}
	sink.Rest()
	if made := sink.Timing().Callbacks; int64(rendered) < made+int64(played) {
		t.Errorf("%d frames rendered, with %d callbacks and %d frames at rest", rendered, made, played)
	}
	cancel()
	select {
	case err := <-ended:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("playback ended with %v", err)
		}
	case <-time.After(5 * time.Second):
		t.Error("a speaker at rest did not stop")
	}
}

// TestOtherFormats: devices without 48 kHz or without mono work the same.
//
//test:realtime
func TestOtherFormats(t *testing.T) {
	server := pulse.ForTest(t)
	inRoom(server)
	for _, rate := range []int{44100, 16000} {
		source, sink := NewSource(Default), NewSink(Default)
		source.tune.rates, sink.tune.rates = []int{rate}, []int{rate}
		hear(t, openedHere(t, source))
		play(t, server, openedHere(t, sink))
	}
}

// TestSelect: devices have stable ids, and another one can be selected while one runs.
//
//test:realtime
func TestSelect(t *testing.T) {
	server, ctx := pulse.ForTest(t), bounded(t)
	ids := func() (ids []string) {
		t.Helper()
		devices, err := Devices()
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range devices {
			ids = append(ids, d.ID)
			if want := d.server == pulse.MicrophoneName; d.DefaultInput != want {
				t.Errorf("%s is the default microphone: %v", d.ID, d.DefaultInput)
			}
			if want := d.server == pulse.SpeakerName; d.DefaultOutput != want {
				t.Errorf("%s is the default speaker: %v", d.ID, d.DefaultOutput)
			}
		}
		return ids
	}
	before := ids()
	if want := []string{"pulse:microphone", "pulse:echo", "pulse:room", "pulse:speaker", "pulse:voice"}; !slices.Equal(before, want) {
		t.Errorf("the devices are %q, want %q", before, want)
	}
	inRoom(server)
	var device *audio.DeviceError
	unplugged, since := make(chan error, 1), int64(0)
	source := openedHere(t, NewSource("pulse:echo"))
	unplug, err := server.AddSource(ctx, "headset.mic") // while the library's list is frozen
	if err != nil {
		t.Fatal(err)
	}
	if after := ids(); !slices.Contains(after, "pulse:headset.mic") {
		t.Errorf("the devices are %q", after)
	}
	err = source.Run(ctx, func(pos int64, f *audio.Frame) {
		if isTone(f[:]) {
			t.Error("the wrong microphone is open")
		}
		if pos == 20*audio.FrameSamples {
			source.Select("pulse:headset.mic")
		}
	})
	if !errors.Is(err, audio.ErrReselected) {
		t.Fatalf("after Select, Run ends with %v", err)
	}
	hear(t, openedHere(t, source))
	// When the device disappears the server moves the stream to another one, and it continues.
	running, stop := context.WithCancel(ctx)
	defer stop()
	err = source.Run(running, func(pos int64, f *audio.Frame) {
		if pos%(20*audio.FrameSamples) == 0 && unplug != nil {
			go func(unplug func(context.Context) error) { unplugged <- unplug(ctx) }(unplug)
			unplug = nil
		}
		select {
		case err := <-unplugged:
			since = pos
			if err != nil {
				t.Error(err)
			}
		default:
		}
		if since > 0 && pos > since+100*audio.FrameSamples && isTone(f[:]) {
			stop()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("without its microphone, capture ends with %v", err)
	}
	if err := source.Run(ctx, nil); !errors.As(err, &device) {
		t.Errorf("on a removed microphone, Run returns %v", err)
	}
	if err := source.Close(); err != nil {
		t.Fatal(err)
	}
	if err := source.Open(ctx); !errors.As(err, &device) || device.Code != "deviceUnavailable" || device.Device != "pulse:headset.mic" {
		t.Errorf("opening a removed microphone returned %v", err)
	}
}

// TestFollowsDefault: a stream on the default device moves with it.
//
//test:realtime
func TestFollowsDefault(t *testing.T) {
	server, ctx := pulse.ForTest(t), bounded(t)
	inRoom(server)
	if err := server.SetDefault(ctx, pulse.Source, pulse.EchoName); err != nil {
		t.Fatal(err)
	}
	source := openedHere(t, NewSource(Default))
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	heard := 0
	err := source.Run(ctx, func(pos int64, f *audio.Frame) {
		if pos == 20*audio.FrameSamples {
			go func() { _ = server.SetDefault(ctx, pulse.Source, pulse.MicrophoneName) }()
		}
		if isTone(f[:]) {
			heard++
		}
		if heard == 20 {
			cancel()
		}
	})
	if heard < 20 {
		t.Errorf("capture ended with %v before it heard the new default", err)
	}
}

// TestLossAndRecovery: the end of the server is detected in both directions, Open
// fails at once without it, and a new server at the same address is used.
//
//test:realtime
func TestLossAndRecovery(t *testing.T) {
	server, ctx := pulse.ForTest(t), bounded(t)
	inRoom(server)
	source, sink := openedHere(t, NewSource(Default)), openedHere(t, NewSink(Default))
	ended := make(chan error, 2)
	heard := make(chan struct{}, 1000)
	go func() {
		ended <- source.Run(ctx, func(int64, *audio.Frame) { heard <- struct{}{} })
	}()
	go func() { ended <- sink.Run(ctx, tone()) }()
	for range 50 {
		<-heard
	}
	killed := time.Now()
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	var device *audio.DeviceError
	for range 2 {
		err := <-ended
		t.Logf("after %v: %v", time.Since(killed), err)
		if !errors.As(err, &device) || device.Code != "deviceLost" || device.Remedy == "" {
			t.Errorf("after its server ended, a device returned %v", err)
		}
	}
	for range 2 {
		begun := time.Now()
		if err := errors.Join(source.Close(), sink.Close()); err != nil {
			t.Error(err)
		}
		t.Logf("closed in %v", time.Since(begun))
		begun = time.Now()
		if err := source.Open(ctx); !errors.As(err, &device) || device.Code != "deviceUnavailable" {
			t.Errorf("without a server, Open gives %v", err)
		}
		t.Logf("failed to open in %v", time.Since(begun))
	}
	if err := server.Restart(ctx); err != nil {
		t.Fatal(err)
	}
	inRoom(server)
	begun := time.Now()
	if err := errors.Join(source.Open(ctx), sink.Open(ctx)); err != nil {
		t.Fatal(err)
	}
	t.Logf("opened both in %v", time.Since(begun))
	hear(t, source)
	play(t, server, sink)
}

// TestGoneBeforeRun: Run reports a device that disappears between Open and Run as lost.
//
//test:realtime
func TestGoneBeforeRun(t *testing.T) {
	server := pulse.ForTest(t)
	source, sink := openedHere(t, NewSource(Default)), openedHere(t, NewSink(Default))
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	var device *audio.DeviceError
	if err := source.Run(bounded(t), nil); !errors.As(err, &device) || device.Code != "deviceLost" {
		t.Errorf("capture ends with %v", err)
	}
	if err := sink.Run(bounded(t), tone()); !errors.As(err, &device) || device.Code != "deviceLost" {
		t.Errorf("playback ends with %v", err)
	}
}

// TestAbandoned: a call that never returns blocks its own goroutine but no other call.
func TestAbandoned(t *testing.T) {
	hangs := make(chan struct{})
	defer close(hangs)
	_, err := within(time.Millisecond, func() (int, error) {
		<-hangs
		return 0, nil
	}, nil)
	if !errors.Is(err, errNoAnswer) {
		t.Fatalf("a call that hangs ends with %v", err)
	}
	library.abandon()
	if n, err := within(openTime, func() (int, error) { return 1, nil }, nil); n != 1 || err != nil {
		t.Errorf("the next call gives %d, %v", n, err)
	}
}

// TestServerHangs: a server that hangs with its connections open counts as lost too,
// and blocks no caller.
//
//test:realtime
func TestServerHangs(t *testing.T) {
	server, ctx := pulse.ForTest(t), bounded(t)
	inRoom(server)
	source := openedHere(t, NewSource(Default))
	t.Cleanup(func() { _ = server.Thaw() }) // otherwise nothing could be closed
	var frozen, last time.Time
	err := source.Run(ctx, func(pos int64, _ *audio.Frame) {
		last = time.Now()
		if pos == 50*audio.FrameSamples {
			if err := server.Freeze(); err != nil {
				t.Error(err)
			}
			frozen = last
		}
	})
	t.Logf("%v after the freeze, %v after the last frame: %v", time.Since(frozen), time.Since(last), err)
	var device *audio.DeviceError
	if !errors.As(err, &device) || device.Code != "deviceLost" {
		t.Errorf("when the server hangs, capture ends with %v", err)
	}
	begun := time.Now()
	if err := source.Close(); err != nil {
		t.Error(err)
	}
	t.Logf("closed in %v", time.Since(begun))
	begun = time.Now()
	if err := source.Open(ctx); !errors.Is(err, errNoAnswer) {
		t.Errorf("when the server hangs, Open gives %v", err)
	}
	t.Logf("failed to open in %v", time.Since(begun))
	if err := server.Thaw(); err != nil {
		t.Fatal(err)
	}
	hear(t, openedHere(t, source))
}

// TestProbingIsSilent: output of the underlying libraries would end up in the
// terminal and in the daemon's log.
//
//test:realtime
func TestProbingIsSilent(t *testing.T) {
	if os.Getenv("PORTAUDIO_TEST_PROBE") != "" {
		_, _ = Devices()
		source := NewSource("no such device")
		_ = source.Open(t.Context())
		source = NewSource(Default)
		_ = source.Open(t.Context())
		_ = source.Close()
		return
	}
	probe := func(t *testing.T, env ...string) {
		probe := exec.CommandContext(bounded(t), os.Args[0], "-test.run=^TestProbingIsSilent$")
		probe.Env = append(append(os.Environ(), "PORTAUDIO_TEST_PROBE=1"), env...)
		stderr, err := probe.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := probe.Start(); err != nil {
			t.Fatal(err)
		}
		printed, _ := io.ReadAll(stderr)
		if err := probe.Wait(); err != nil || len(printed) > 0 {
			t.Errorf("probing the devices printed %q (%v)", printed, err)
		}
	}
	t.Run("no server", func(t *testing.T) { probe(t) })
	t.Run("a server", func(t *testing.T) { probe(t, pulse.ForTest(t).Env()...) })
	t.Run("a dead server", func(t *testing.T) {
		server := pulse.ForTest(t)
		if err := server.Kill(); err != nil {
			t.Fatal(err)
		}
		probe(t, server.Env()...)
	})
}

func TestRunNeedsOpen(t *testing.T) {
	var device *audio.DeviceError
	if err := NewSource("").Run(t.Context(), nil); !errors.As(err, &device) {
		t.Errorf("a closed source runs: %v", err)
	}
	if err := NewSink("").Run(t.Context(), nil); !errors.As(err, &device) {
		t.Errorf("a closed sink runs: %v", err)
	}
}

// TestMeasureLoop: without an echo there is no result, and through a cable there is
// one.
//
//test:realtime
func TestMeasureLoop(t *testing.T) {
	pulse.ForTest(t)
	source, sink := openedHere(t, NewSource(Default)), openedHere(t, NewSink(Default))
	if l, err := MeasureLoop(bounded(t), sink, source); !errors.Is(err, ErrNoEcho) {
		t.Errorf("without an echo: %+v, %v", l, err)
	}
	source.Select("pulse:" + pulse.EchoName)
	l, err := MeasureLoop(bounded(t), sink, openedHere(t, source))
	if err != nil || l.Delay <= 0 || l.Delay > 400*time.Millisecond || math.Abs(l.Level) > 1 {
		t.Errorf("through a cable: %+v, %v", l, err)
	}
	t.Logf("%+v", l)
}

// TestZerosMeanDenied: where zeros mean denied access, they are not delivered.
//
//test:realtime
func TestZerosMeanDenied(t *testing.T) {
	pulse.ForTest(t)
	source := openedHere(t, NewSource(Default))
	source.zerosRefuse = true
	err := source.Run(bounded(t), func(int64, *audio.Frame) { t.Error("silence was delivered") })
	var device *audio.DeviceError
	if !errors.As(err, &device) || device.Code != "microphoneDenied" || device.Remedy == "" {
		t.Errorf("capture of zeros returned %v", err)
	}
}

// TestCallbackAllocatesNothing, because a callback that waits for the garbage
// collector causes a gap in the audio.
func TestCallbackAllocatesNothing(t *testing.T) {
	for _, rate := range []int{48000, 44100} {
		for _, dir := range []direction{capture, playback} {
			edge, err := newConverter(dir, rate, 2)
			if err != nil {
				t.Fatal(err)
			}
			s := &stream{edge: edge, wakeup: make(chan struct{}, 1)}
			render := tone()
			s.render.Store(&render)
			pcm := make([]int16, 2*rate/200)
			in, out := pcm, []int16(nil)
			if dir == playback {
				in, out = nil, pcm
			}
			if n := testing.AllocsPerRun(500, func() { s.process(in, out, time.Millisecond, false, 0) }); n != 0 {
				t.Errorf("%s callback at %d Hz: %v allocations", dir, rate, n)
			}
		}
	}
}

// BenchmarkRoundTrip measures the round trip through a cable for several requested
// latencies.
func BenchmarkRoundTrip(b *testing.B) {
	pulse.ForTest(b)
	for _, c := range []tuning{
		{latency: 10 * time.Millisecond, buffer: 5 * time.Millisecond}, defaultTuning,
		{latency: 20 * time.Millisecond, buffer: 5 * time.Millisecond}, {latency: 30 * time.Millisecond, buffer: 5 * time.Millisecond},
		{latency: 10 * time.Millisecond, buffer: audio.FrameTime}, {latency: 20 * time.Millisecond, buffer: audio.FrameTime},
		{latency: 30 * time.Millisecond, buffer: audio.FrameTime},
	} {
		b.Run(fmt.Sprintf("%v,%v", c.latency, c.buffer), func(b *testing.B) {
			source, sink := NewSource("pulse:"+pulse.EchoName), NewSink(Default)
			c.rates = defaultTuning.rates
			source.tune, sink.tune = c, c
			for b.Loop() {
				if err := errors.Join(source.Open(b.Context()), sink.Open(b.Context())); err != nil {
					b.Fatal(err)
				}
				l, err := MeasureLoop(b.Context(), sink, source)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(l.Delay.Seconds()*1000, "ms")
				b.ReportMetric(l.Max.Seconds()*1000, "ms-max")
				b.ReportMetric(float64(source.Timing().Xruns+sink.Timing().Xruns), "xruns")
				_, _ = source.Close(), sink.Close()
			}
		})
	}
}
