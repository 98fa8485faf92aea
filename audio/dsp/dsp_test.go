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
func hear(t *testing.T, l library, cfg Config, near []int16) levels {
	t.Helper()
	s := l.scene(t, cfg, room.Config{})
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

// TestConcurrentUse renders, captures, reads Stats and sets delays concurrently, for
// the race detector.
func TestConcurrentUse(t *testing.T) { each(t, concurrentUse) }

func concurrentUse(t *testing.T, l library) {
	p := l.processor(t, Default())
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

func TestCloseTwice(t *testing.T) { each(t, closeTwice) }

func closeTwice(t *testing.T, l library) {
	p := l.processor(t, Config{EchoCancellation: true, GainControl: l.name == nativeLibrary})
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
