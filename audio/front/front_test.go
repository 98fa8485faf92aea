package front

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/dsp"
	"github.com/agentvoice/agentvoice-daemon/audio/vad"
	"github.com/agentvoice/agentvoice-daemon/audio/wavio"
)

// deaf is a detector that records whether it received any sound.
type deaf struct{ heard bool }

func (d *deaf) Process(pcm []int16) (float32, error) {
	d.heard = false
	for _, s := range pcm {
		d.heard = d.heard || s > loud || s < -loud
	}
	return 0, nil
}
func (d *deaf) Reset()       {}
func (d *deaf) Close() error { return nil }

// bench is a Front without processing, between devices without delay, so that a
// captured echo remains.
type bench struct {
	t      *testing.T
	f      *Front
	d      *deaf
	noises map[int][]audio.Frame // by amplitude
	pos    int64
}

func newBench(t *testing.T) *bench {
	b := &bench{t: t, d: &deaf{}, noises: map[int][]audio.Frame{}}
	var err error
	if b.f, err = New(dsp.Config{}, func(time.Duration) {}); err != nil {
		t.Fatal(err)
	}
	tracker, err := vad.NewTracker(func() (vad.Detector, error) { return b.d, nil }, vad.TrackerConfig{
		Detectors: 1, Silent: vad.Rule{Threshold: 0.5}, Audible: vad.Rule{Threshold: 0.5},
	})
	if err != nil {
		t.Fatal(err)
	}
	b.f.Track(tracker)
	b.f.Attach(nil, wavio.Null{})
	t.Cleanup(func() {
		if err := b.f.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// noise returns a noise frame of the given amplitude.
func (b *bench) noise(amplitude int) *audio.Frame {
	some := b.noises[amplitude]
	if some == nil {
		random := rand.New(rand.NewPCG(1, 2))
		some = make([]audio.Frame, 7)
		for i := range some {
			for j := range some[i] {
				some[i][j] = int16(random.IntN(2*amplitude+1) - amplitude)
			}
		}
		b.noises[amplitude] = some
	}
	f := some[b.pos/audio.FrameSamples%int64(len(some))]
	return &f
}

// play renders and captures noise for d, at the given amplitudes.
func (b *bench) play(d time.Duration, rendered, captured int) {
	b.t.Helper()
	for range d / audio.FrameTime {
		b.f.Rendered(b.noise(rendered))
		if _, err := b.f.Captured(b.pos, b.noise(captured)); err != nil {
			b.t.Fatal(err)
		}
		b.pos += audio.FrameSamples
	}
}

func (b *bench) retracted() { b.f.Retracted() }

func (b *bench) want(what string, half, heard bool) {
	b.t.Helper()
	if b.f.HalfDuplex() != half || b.d.heard != heard {
		b.t.Errorf("%s: half duplex %v, detector receives sound %v; want %v, %v", what, b.f.HalfDuplex(), b.d.heard, half, heard)
	}
}

const (
	voice = 3000 // amplitude
	room  = 30
)

// TestHalfDuplexWhenTheAssistantHearsItself: it is suspended until the echo is gone.
func TestHalfDuplexWhenTheAssistantHearsItself(t *testing.T) {
	b := newBench(t)
	b.play(time.Second, 0, room)
	b.play(time.Second, voice, voice)
	b.retracted()
	b.play(2*time.Second, voice, voice)
	b.want("once", false, true)
	b.retracted()
	b.play(200*time.Millisecond, voice, voice)
	b.want("twice in five seconds", true, false)
	b.play(time.Second, 0, voice)
	b.want("the speaker is silent and the user speaks", true, true)
	b.play(time.Second, voice, voice)
	b.want("the assistant continues", true, false)
	b.play(time.Second, voice, room)
	b.want("headphones", false, false)
	b.play(200*time.Millisecond, voice, voice)
	b.want("the user speaks over it", false, true)
}

// TestHalfDuplexEndsAfterItsTimeout of half a minute.
func TestHalfDuplexEndsAfterItsTimeout(t *testing.T) {
	b := newBench(t)
	b.play(time.Second, 0, room)
	for range 2 {
		b.play(time.Second, voice, voice)
		b.retracted()
	}
	b.play(maxHalfDuplex-time.Second, voice, voice)
	b.want("shortly before", true, false)
	b.play(2*time.Second, voice, voice)
	b.want("shortly after", false, true)
	for range 2 {
		b.retracted()
		b.play(time.Second, voice, voice)
	}
	b.want("again", true, false)
}

// TestHalfDuplexEndsWithAnotherDevice.
func TestHalfDuplexEndsWithAnotherDevice(t *testing.T) {
	for name, opened := range map[string]func(*Front) error{
		"microphone":  (*Front).Reopened,
		"loudspeaker": func(f *Front) error { f.ReopenedSink(true); return nil },
	} {
		b := newBench(t)
		b.play(time.Second, 0, room)
		for range 2 {
			b.play(time.Second, voice, voice)
			b.retracted()
		}
		b.play(time.Second, voice, voice)
		b.want(name, true, false)
		if err := opened(b.f); err != nil {
			t.Fatal(err)
		}
		b.play(200*time.Millisecond, voice, voice)
		b.want("another "+name, false, true)
	}
}

// TestPeopleDoNotCauseHalfDuplex, whatever happens to what they say: without an echo,
// and with rare interruptions.
//
//test:long
func TestPeopleDoNotCauseHalfDuplex(t *testing.T) {
	for name, c := range map[string]struct {
		echo  int
		pause time.Duration
		times int
	}{
		"headphones, coughs":            {room, 2 * time.Second, 6},
		"headphones, two in a row":      {room, 100 * time.Millisecond, 2},
		"headphones, but a little echo": {2 * room, 600 * time.Millisecond, 6},
		"loudspeakers, seldom":          {voice, 6 * time.Second, 6},
	} {
		b := newBench(t)
		b.play(time.Second, 0, room)
		for i := range c.times {
			b.play(100*time.Millisecond, voice, voice) // longer would count as speech
			b.play(500*time.Millisecond, 0, room)      // playback is paused meanwhile
			b.retracted()
			b.play(c.pause, voice, c.echo)
			if b.f.HalfDuplex() {
				t.Errorf("%s: after the %d.", name, i+1)
				break
			}
		}
	}
}

// TestWorkingCancellerPreventsHalfDuplex, and ends it after half a second.
func TestWorkingCancellerPreventsHalfDuplex(t *testing.T) {
	b := newBench(t)
	d := newDuplex()
	play := func(d *duplex, left int, lasts time.Duration) {
		for range lasts / audio.FrameTime {
			d.hear(b.pos, b.noise(voice), b.noise(left), true, true, false)
			b.pos += audio.FrameSamples
		}
	}
	const works, fails = voice / 5, voice / 3 // 14 and 9.5 dB
	for range 4 {
		d.retracted(b.pos)
		play(&d, fails, 200*time.Millisecond)
		play(&d, works, time.Second)
	}
	if d.half {
		t.Error("half duplex although the canceller works")
	}
	for range 2 {
		play(&d, fails, time.Second)
		d.retracted(b.pos)
	}
	if !d.half {
		t.Error("no half duplex although the canceller fails")
	}
	play(&d, fails, 10*time.Second)
	play(&d, works, 490*time.Millisecond)
	if !d.half {
		t.Error("half duplex ended too soon")
	}
	play(&d, works, 110*time.Millisecond)
	if d.half {
		t.Error("half duplex did not end after half a second")
	}
}

// TestCapturingAllocatesNothing.
func TestCapturingAllocatesNothing(t *testing.T) {
	b := newBench(t)
	frame := b.noise(voice)
	if n := testing.AllocsPerRun(100, func() {
		b.f.Rendered(frame)
		if _, err := b.f.Captured(b.pos, frame); err != nil {
			t.Fatal(err)
		}
		b.pos += audio.FrameSamples
	}); n != 0 {
		t.Errorf("%v allocations per frame", n)
	}
}

// TestDetectionIsSuspendedAfterAKnownEchoMoved, until cancellation is proven again,
// for at most 2 s. It is not if the echo had not been found before.
func TestDetectionIsSuspendedAfterAKnownEchoMoved(t *testing.T) {
	b := newBench(t)
	d := newDuplex()
	play := func(left int, lasts time.Duration) {
		for range lasts / audio.FrameTime {
			d.hear(b.pos, b.noise(voice), b.noise(left), true, true, false)
			b.pos += audio.FrameSamples
		}
	}
	want := func(what string, suspended bool) {
		t.Helper()
		if d.suspended(b.pos) != suspended || d.half {
			t.Errorf("%s: suspended %v, half duplex %v; want %v, false", what, d.suspended(b.pos), d.half, suspended)
		}
	}
	const works, fails = voice / 5, voice / 3
	d.moved(b.pos, false)
	want("found for the first time", false)
	d.moved(b.pos, true)
	play(fails, 300*time.Millisecond)
	want("it moved", true)
	play(works, 600*time.Millisecond)
	want("the echo is cancelled", false)
	d.moved(b.pos, true)
	play(fails, maxSettling-10*time.Millisecond)
	want("the echo moved again", true)
	play(fails, 10*time.Millisecond)
	want("the echo is not cancelled", false)
}
