//go:build cgo && !race

package dsp

import (
	"math"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/bench/room"
)

func TestEchoCancellationIsSwitchable(t *testing.T) { each(t, echoCancellationIsSwitchable) }

func echoCancellationIsSwitchable(t *testing.T, l library) {
	s := l.scene(t, Config{HighPass: true}, room.Config{Echo: echoOf(t, "study"), EchoGain: -6, Delay: atMs(60)})
	s.p.SetDelay(atMs(60), 0)
	s.run(4*time.Second, nil)
	if erle := s.run(4*time.Second, nil); math.Abs(erle) > 1 {
		t.Errorf("without cancellation the echo was reduced by %.1f dB", erle)
	}
	if st := s.p.Stats(); st.Echo || st.Far || st.Overruns != 0 {
		t.Errorf("without cancellation an echo was reported: %+v", st)
	}
}

func TestHighPassIsSwitchable(t *testing.T) { each(t, highPassIsSwitchable) }

func highPassIsSwitchable(t *testing.T, l library) {
	rumble := tone(25, 3000, 3*time.Second)
	for _, on := range []bool{true, false} {
		heard := hear(t, l, Config{EchoCancellation: true, HighPass: on}, rumble)
		if quieter := heard.mic - heard.trigger; on != (quieter > 15) || !on && quieter > 3 {
			t.Errorf("with the high-pass %v, 25 Hz are %.1f dB quieter", on, quieter)
		}
	}
}

func TestLatencyIsCorrect(t *testing.T) { each(t, latencyIsCorrect) }

func latencyIsCorrect(t *testing.T, l library) {
	for _, cfg := range []Config{{}, {EchoCancellation: true}, {NoiseSuppression: true}, {GainControl: true}, {EchoCancellation: true, NoiseSuppression: true}} {
		if l.name != nativeLibrary && cfg != cfg.Essential() {
			continue
		}
		s := l.scene(t, cfg, room.Config{})
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
func TestProcessAllocatesNothing(t *testing.T) { each(t, processAllocatesNothing) }

func processAllocatesNothing(t *testing.T, l library) {
	p := l.processor(t, Config{EchoCancellation: true, HighPass: true, NoiseSuppression: l.name == nativeLibrary, GainControl: l.name == nativeLibrary})
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
