//go:build cgo && !race

package dsp

import (
	"math"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/bench/room"
)

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
