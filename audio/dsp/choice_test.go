//go:build cgo && !noapm

package dsp

import (
	"slices"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/hearing"
	"github.com/agentvoice/agentvoice-daemon/audio/vad"
	"github.com/agentvoice/agentvoice-daemon/bench/room"
	"github.com/agentvoice/agentvoice-daemon/internal/assets"
	"github.com/agentvoice/agentvoice-daemon/internal/wer"
)

// These benchmarks compare the configurations of the processing. Run them with
// -benchtime 1x; their figures are not times.

// detector runs the voice detector on the output of a stage, window by window.
type detector struct {
	b       *testing.B
	vad     vad.Detector
	convert *audio.Resampler
	rest    []int16
	speech  []bool
}

func newDetector(b *testing.B) *detector {
	b.Helper()
	model, err := assets.Silero()
	if err != nil {
		b.Fatal(err)
	}
	library, err := assets.ONNXRuntime()
	if err != nil {
		b.Fatal(err)
	}
	d := &detector{b: b}
	if d.vad, err = vad.NewSilero(model, library); err != nil {
		b.Fatal(err)
	}
	if d.convert, err = audio.NewResampler(audio.SampleRate, vad.SampleRate); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = d.vad.Close() })
	return d
}

func (d *detector) push(f *audio.Frame) {
	d.rest = d.convert.Process(d.rest, f[:])
	for len(d.rest) >= vad.WindowSamples {
		p, err := d.vad.Process(d.rest[:vad.WindowSamples])
		if err != nil {
			d.b.Fatal(err)
		}
		d.speech = append(d.speech, p > 0.5)
		d.rest = d.rest[:copy(d.rest, d.rest[vad.WindowSamples:])]
	}
}

func share(part, all int) float64 { return 100 * float64(part) / float64(max(all, 1)) }

// withStages returns a scene whose Processor has these instances.
func withStages(b *testing.B, l library, front, back apmConfig, rc room.Config) *scene {
	b.Helper()
	s := newScene(b, Config{}, rc)
	p, err := newProcessor(l.newAPM, front, back)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(p.Close)
	p.SetDelay(rc.Delay, 0)
	s.p = p
	return s
}

var off = apmConfig{echo: -1, noise: -1}

func front(echo, noise int) apmConfig {
	return apmConfig{echo: echo, noise: noise, highPass: true, extended: true}
}

// BenchmarkTrigger measures voice detection at each level of suppression, in all
// rooms, with the echo at -6 dB: false triggers by the assistant alone (false%; in
// the first three seconds, first-3s%), the recall of a person as loud as the echo
// (recall%), and the delay relative to no echo (onset-ms: median, late-ms: ninth
// decile).
func BenchmarkTrigger(b *testing.B) {
	fan := room.Fan(1)
	for _, v := range []struct {
		name  string
		front apmConfig
		clip  float64
		noise []float32
		rooms []room.Shape
	}{
		{"Nothing", off, 0, nil, room.Shapes},
		{"Low", front(low, -1), 0, nil, room.Shapes},
		{"LowClipped", front(low, -1), 0.2, nil, room.Shapes},
		{"LowFan10", front(low, -1), 0, fan, room.Shapes},
		{"LowNoiseSuppressedFan10", front(low, 1), 0, fan, room.Shapes},
		{"LowDistant", front(low, -1), 0, nil, []room.Shape{room.Distant}},
		{"Moderate", front(moderate, -1), 0, nil, room.Shapes},
		{"High", front(high, -1), 0, nil, room.Shapes},
	} {
		b.Run(v.name, func(b *testing.B) {
			for range b.N {
				var t triggerTally
				for _, shape := range v.rooms {
					rc := room.Config{Echo: shape.EchoResponse(), EchoGain: -6, Delay: atMs(60), SpeakerClip: v.clip, Noise: v.noise, NoiseLevel: -36}
					t.alone(b, withStages(b, libraries[0], v.front, off, rc))
					t.together(b, withStages(b, libraries[0], v.front, off, rc))
				}
				t.report(b)
			}
		})
	}
}

type triggerTally struct {
	falses, windows          int // while only the assistant speaks
	learningFalses, learning int // in its first three seconds
	found, spoken            int // during double talk
	late                     []int
	missed                   int
}

func (t *triggerTally) alone(b *testing.B, s *scene) {
	d := newDetector(b)
	s.each(30*time.Second, nil, func() { d.push(&s.out.Trigger) })
	const learnt = 3 * vad.SampleRate / vad.WindowSamples
	for i, speech := range d.speech {
		n := &t.falses
		if i < learnt {
			t.learning++
			n = &t.learningFalses
		} else {
			t.windows++
		}
		if speech {
			*n++
		}
	}
}

// together compares detection over the assistant with detection without it.
func (t *triggerTally) together(b *testing.B, s *scene) {
	s.run(4*time.Second, nil)
	heard, clean := newDetector(b), newDetector(b)
	for _, said := range sentences {
		near := append(said.human(b, -26), make([]int16, audio.SampleRate)...)
		heard.speech, clean.speech = heard.speech[:0], clean.speech[:0]
		at := 0
		s.each(audio.Duration(int64(len(near))), near, func() {
			heard.push(&s.out.Trigger)
			clean.push((*audio.Frame)(near[at:]))
			at += audio.FrameSamples
		})
		for i, speech := range clean.speech {
			if !speech {
				continue
			}
			t.spoken++
			if slices.Contains(heard.speech[i:min(i+2, len(heard.speech))], true) {
				t.found++
			}
		}
		first := slices.Index(clean.speech, true)
		late := slices.Index(heard.speech[first:], true)
		if late < 0 {
			t.missed++
			continue
		}
		t.late = append(t.late, late*32)
	}
}

func (t *triggerTally) report(b *testing.B) {
	slices.Sort(t.late)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(share(t.falses, t.windows), "false%")
	b.ReportMetric(share(t.learningFalses, t.learning), "first-3s%")
	b.ReportMetric(share(t.found, t.spoken), "recall%")
	b.ReportMetric(float64(t.late[len(t.late)/2]), "onset-ms")
	b.ReportMetric(float64(t.late[len(t.late)*9/10]), "late-ms")
	b.ReportMetric(float64(t.missed), "missed")
}

// BenchmarkUplink measures PocketSphinx's word errors on human speech, in percent. It
// uses ninety words, so differences of three are not significant.
func BenchmarkUplink(b *testing.B) {
	babble := room.Babble(2, assistantSpeech(b))
	for _, c := range []struct {
		name  string
		noise []float32
		snr   float64
		level float64
		echo  time.Duration // how long the assistant continues to speak
	}{
		{"Quiet", nil, 0, -26, 0},
		{"Fan20", room.Fan(1), 20, -26, 0},
		{"Fan10", room.Fan(1), 10, -26, 0},
		{"Fan5", room.Fan(1), 5, -26, 0},
		{"Babble10", babble, 10, -26, 0},
		{"Far", room.Fan(1), 20, -50, 0},
		{"EchoFor150ms", nil, 0, -26, 150 * time.Millisecond},
		{"EchoAllTheTime", nil, 0, -26, time.Hour},
	} {
		for _, v := range []struct {
			name        string
			front, back apmConfig
		}{
			{"Nothing", off, off},
			{"Default", front(low, -1), off},
			{"NoiseLow", front(low, -1), apmConfig{echo: -1, noise: 0}},
			{"NoiseModerate", front(low, -1), apmConfig{echo: -1, noise: 1}},
			{"NoiseHigh", front(low, -1), apmConfig{echo: -1, noise: 2}},
			{"Gain", front(low, -1), apmConfig{echo: -1, noise: -1, gain: true}},
		} {
			b.Run(c.name+"/"+v.name, func(b *testing.B) {
				for range b.N {
					s := withStages(b, libraries[0], v.front, v.back, room.Config{Echo: echoOf(b, "study"), EchoGain: -6, Delay: atMs(60), Noise: c.noise, NoiseLevel: c.level - c.snr})
					s.quiet = c.echo == 0
					s.run(8*time.Second, nil)
					b.ReportMetric(0, "ns/op")
					b.ReportMetric(wordErrors(b, s, c.level, c.echo), "wrong%")
				}
			})
		}
	}
}

// wordErrors plays every sentence, each with the assistant speaking over its start for the given time.
func wordErrors(b *testing.B, s *scene, level float64, echo time.Duration) float64 {
	recognizer, err := hearing.PocketSphinx(assets.PocketSphinx)()
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = recognizer.Close() }()
	wrong, words := 0, 0
	for _, said := range sentences {
		near := append(said.human(b, level), make([]int16, audio.SampleRate/2)...)
		convert, err := audio.NewResampler(audio.SampleRate, rate)
		if err != nil {
			b.Fatal(err)
		}
		if err := recognizer.Start(); err != nil {
			b.Fatal(err)
		}
		quiet := s.quiet
		var heard []int16
		frames := 0
		s.each(audio.Duration(int64(len(near))), near, func() {
			frames++
			s.quiet = quiet || time.Duration(frames)*audio.FrameTime >= echo
			heard = convert.Process(heard, s.out.Uplink[:])
		})
		s.quiet = quiet
		if err := recognizer.Write(convert.Flush(heard)); err != nil {
			b.Fatal(err)
		}
		result, err := recognizer.Finish()
		if err != nil {
			b.Fatal(err)
		}
		e, n := wer.Compute(said.words, result.Text)
		wrong, words = wrong+e, words+n
		s.run(time.Second, nil)
	}
	return share(wrong, words)
}
