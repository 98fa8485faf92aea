//go:build cgo

package dsp

import (
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/bench/room"
)

// levels are the levels of the microphone and of both outputs.
type levels struct{ mic, trigger, uplink float64 }

// hear plays near to a Processor without echo or room, and measures from the second
// second on.
func hear(t *testing.T, cfg Config, near []int16) levels {
	t.Helper()
	s := newScene(t, cfg, room.Config{})
	s.quiet = true
	var mic, trigger, uplink []int16
	s.each(audio.Duration(int64(len(near))), near, func() {
		mic, trigger, uplink = append(mic, s.mic[:]...), append(trigger, s.out.Trigger[:]...), append(uplink, s.out.Uplink[:]...)
	})
	from := audio.SampleRate
	return levels{audio.LevelOf(mic[from:]).RMS, audio.LevelOf(trigger[from:]).RMS, audio.LevelOf(uplink[from:]).RMS}
}

func tone(hertz, amplitude float64, d time.Duration) []int16 {
	pcm := make([]int16, audio.Samples(d))
	for i := range pcm {
		pcm[i] = int16(amplitude * math.Sin(2*math.Pi*hertz*float64(i)/audio.SampleRate))
	}
	return pcm
}

func fan(level float64, d time.Duration) []int16 {
	pcm := make([]int16, audio.Samples(d))
	for i, v := range room.Fan(1)[:len(pcm)] {
		pcm[i] = int16(v * float32(math.Pow(10, level/20)) * (1 << 15))
	}
	return pcm
}

// Each option has its effect only when enabled.

func TestEchoCancellationIsSwitchable(t *testing.T) {
	s := newScene(t, Config{HighPass: true}, room.Config{Echo: echoOf(t, "study"), EchoGain: -6, Delay: atMs(60)})
	s.p.SetDelay(atMs(60), 0)
	s.run(4*time.Second, nil)
	if erle := s.run(4*time.Second, nil); math.Abs(erle) > 1 {
		t.Errorf("without cancellation the echo was reduced by %.1f dB", erle)
	}
	if st := s.p.Stats(); st.Echo || st.Far || st.Overruns != 0 {
		t.Errorf("without cancellation an echo was reported: %+v", st)
	}
}

func TestHighPassIsSwitchable(t *testing.T) {
	rumble := tone(25, 3000, 3*time.Second)
	for _, on := range []bool{true, false} {
		l := hear(t, Config{EchoCancellation: true, HighPass: on}, rumble)
		if quieter := l.mic - l.trigger; on != (quieter > 15) || !on && quieter > 3 {
			t.Errorf("with the high-pass %v, 25 Hz are %.1f dB quieter", on, quieter)
		}
	}
}

func TestNoiseSuppressionIsSwitchableAndForTheUplink(t *testing.T) {
	noise := fan(-40, 8*time.Second)
	for _, on := range []bool{true, false} {
		l := hear(t, Config{EchoCancellation: true, NoiseSuppression: on}, noise)
		if quieter := l.trigger - l.uplink; on != (quieter > 6) || !on && quieter != 0 {
			t.Errorf("with noise suppression %v, a fan is %.1f dB quieter in the uplink than in the trigger", on, quieter)
		}
		if quieter := l.mic - l.trigger; math.Abs(quieter) > 2 {
			t.Errorf("with noise suppression %v, a fan is %.1f dB quieter in the trigger", on, quieter)
		}
	}
}

func TestGainControlIsSwitchableAndForTheUplink(t *testing.T) {
	quiet := append(sentences[0].human(t, -45), sentences[3].human(t, -45)...)
	for _, on := range []bool{true, false} {
		l := hear(t, Config{EchoCancellation: true, GainControl: on}, quiet)
		if louder := l.uplink - l.trigger; on != (louder > 5) || !on && louder != 0 {
			t.Errorf("with gain control %v, quiet speech is %.1f dB louder in the uplink", on, louder)
		}
	}
}

func TestLatencyIsCorrect(t *testing.T) {
	for _, cfg := range []Config{{}, {EchoCancellation: true}, {NoiseSuppression: true}, {GainControl: true}, {EchoCancellation: true, NoiseSuppression: true}} {
		s := newScene(t, cfg, room.Config{})
		s.quiet = true
		s.run(time.Second, nil)
		near := sentences[8].human(t, -26)
		var trigger, uplink []int16
		s.each(audio.Duration(int64(len(near))), near, func() {
			trigger, uplink = append(trigger, s.out.Trigger[:]...), append(uplink, s.out.Uplink[:]...)
		})
		want := map[string]int64{"trigger": s.p.Latency(), "uplink": s.p.Latency()}
		if cfg.NoiseSuppression {
			want["uplink"] += noiseLatency
		}
		for name, out := range map[string][]int16{"trigger": trigger, "uplink": uplink} {
			best, at := 0.0, 0
			for lag := range 1200 / 6 {
				if v := likeness(near, out[lag*6:]); v > best {
					best, at = v, lag*6
				}
			}
			if d := int64(at) - want[name]; d < -12 || d > 12 {
				t.Errorf("%+v: %s is %d samples late, want %d", cfg, name, at, want[name])
			}
		}
	}
}

// TestProcessAllocatesNothing, and neither does Reference, including while the
// streams slip and while the canceller restarts.
func TestProcessAllocatesNothing(t *testing.T) {
	p, err := New(Config{EchoCancellation: true, HighPass: true, NoiseSuppression: true, GainControl: true})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	far := assistantSpeech(t)
	var out Output
	at := 0
	n := testing.AllocsPerRun(1000, func() {
		f := (*audio.Frame)(far[at : at+audio.FrameSamples])
		at = (at + audio.FrameSamples) % (len(far) - audio.FrameSamples)
		p.Reference(f)
		p.aligner.rate = 1
		p.SetDelay(audio.Duration(int64(at%40000)), 0)
		if err := p.Process(f, &out); err != nil {
			t.Fatal(err)
		}
	})
	if n != 0 {
		t.Errorf("%v allocations per frame", n)
	}
}

// TestConcurrentUse renders, captures, reads Stats and sets delays concurrently, for
// the race detector.
func TestConcurrentUse(t *testing.T) {
	p, err := New(Default())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	const frames = 600
	var both sync.WaitGroup
	both.Go(func() {
		var f audio.Frame
		for i := range frames {
			f[0] = int16(i)
			p.Reference(&f)
		}
	})
	both.Go(func() {
		for i := range frames {
			p.SetDelay(atMs(i%200), 0)
			_ = p.Stats()
		}
	})
	rng := rand.New(rand.NewPCG(1, 1))
	var f audio.Frame
	var out Output
	for range frames {
		for i := range f {
			f[i] = int16(rng.IntN(2000) - 1000)
		}
		if err := p.Process(&f, &out); err != nil {
			t.Fatal(err)
		}
	}
	both.Wait()
}

func TestCloseTwice(t *testing.T) {
	p, err := New(Config{EchoCancellation: true, GainControl: true})
	if err != nil {
		t.Fatal(err)
	}
	p.Close()
	p.Close()
	p.Reference(new(audio.Frame)) // a sink may still run
}

// BenchmarkProcess measures a 10 ms frame with an echo, including Reference.
func BenchmarkProcess(b *testing.B) {
	for _, c := range []struct {
		name string
		cfg  Config
	}{
		{"Default", Default()},
		{"NoiseSuppression", Config{EchoCancellation: true, HighPass: true, NoiseSuppression: true}},
		{"Everything", Config{EchoCancellation: true, HighPass: true, NoiseSuppression: true, GainControl: true}},
		{"Nothing", Config{}},
	} {
		b.Run(c.name, func(b *testing.B) {
			p, err := New(c.cfg)
			if err != nil {
				b.Fatal(err)
			}
			defer p.Close()
			far := assistantSpeech(b)
			var out Output
			at := 0
			b.ReportAllocs()
			for b.Loop() {
				f := (*audio.Frame)(far[at : at+audio.FrameSamples])
				at = (at + audio.FrameSamples) % (len(far) - audio.FrameSamples)
				p.Reference(f)
				if err := p.Process(f, &out); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkReference(b *testing.B) {
	p, err := New(Default())
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	var f audio.Frame
	b.ReportAllocs()
	for b.Loop() {
		p.Reference(&f)
		p.ring.released.Store(p.ring.written.Load())
	}
}
