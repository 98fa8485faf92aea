package live

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// fakeDevice is a microphone whose true times are known.
type fakeDevice struct {
	captureClock
	pos int64
	now time.Duration // when it has the sample at pos
	at  time.Duration // of the last delivery
}

// capture delivers frames that each arrive after every of real time. late delays their
// delivery, and a frame is never delivered before its predecessor.
func (d *fakeDevice) capture(frames int, every, late time.Duration) {
	for range frames {
		d.pos += audio.FrameSamples
		d.now += every
		d.at = max(d.at, d.now+late)
		d.delivered(d.pos, d.at)
	}
}

// off returns how much later than in truth the clock puts the current position.
func (d *fakeDevice) off() time.Duration { return d.origin() + audio.Duration(d.pos) - d.now }

const perSecond = int(time.Second / audio.FrameTime) // in frames

func TestCaptureClock(t *testing.T) {
	const frame = audio.FrameTime
	const ms = time.Millisecond
	for _, tt := range []struct {
		name     string
		run      func(d *fakeDevice)
		min, max time.Duration // of off
	}{
		{"prompt", func(d *fakeDevice) { d.capture(perSecond, frame, 0) }, 0, 0},
		{"late from the start", func(d *fakeDevice) { d.capture(perSecond, frame, 300*ms) }, 300 * ms, 300 * ms},
		{"late at the start", func(d *fakeDevice) { d.capture(10, frame, 300*ms); d.capture(60, frame, 0) }, 0, 0},
		{"a late burst", func(d *fakeDevice) { d.capture(perSecond, frame, 0); d.capture(30, frame, 300*ms) }, 0, 0},
		{"late for 14 s", func(d *fakeDevice) { d.capture(perSecond, frame, 0); d.capture(14*perSecond, frame, 300*ms) }, 0, 0},
		{"a fast device", func(d *fakeDevice) { d.capture(60*perSecond, frame-frame/5000, 0) }, 0, 0},
		{"a slow device", func(d *fakeDevice) { d.capture(60*perSecond, frame+frame/5000, 0) }, -16 * time.Second / 5000, 0},
		{"samples dropped just now", func(d *fakeDevice) {
			d.capture(perSecond, frame, 0)
			d.now += 500 * ms
			d.capture(perSecond, frame, 0)
		}, -500 * ms, -500 * ms},
		{"samples dropped 16 s ago", func(d *fakeDevice) {
			d.capture(perSecond, frame, 0)
			d.now += 500 * ms
			d.capture(16*perSecond, frame, 0)
		}, 0, 0},
		{"reopened", func(d *fakeDevice) {
			d.capture(perSecond, frame, 0)
			d.now += time.Hour
			d.restart()
			d.capture(1, frame, 0)
		}, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var d fakeDevice
			tt.run(&d)
			if off := d.off(); off < tt.min || off > tt.max {
				t.Errorf("the last sample is put %v after its arrival, want %v to %v", off, tt.min, tt.max)
			}
		})
	}
	if origin := new(captureClock).origin(); origin != 0 {
		t.Errorf("before the first frame, position 0 is at %v", origin)
	}
	var d fakeDevice
	if n := testing.AllocsPerRun(100, func() { d.capture(perSecond, frame, 0) }); n > 0 {
		t.Errorf("%v allocations a second", n)
	}
}

// TestCaptureClockIsNeverLate delivers frames late and in bursts, from devices that drift,
// drop samples and are reopened. While some frame of each 10 s is prompt, no sample is put
// more than that frame's delay and the drift after its arrival.
func TestCaptureClockIsNeverLate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const prompt, ppm = time.Millisecond, 300
		const drift = 16 * time.Second * ppm / 1e6
		var d fakeDevice
		d.now = time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "begin"))
		every := audio.FrameTime + audio.FrameTime*time.Duration(rapid.IntRange(-ppm, ppm).Draw(t, "ppm"))/1e6
		steady := 0 // frames since samples were dropped
		for range rapid.IntRange(1, 20).Draw(t, "parts") {
			switch rapid.IntRange(0, 4).Draw(t, "part") {
			case 0:
				d.now += time.Duration(rapid.IntRange(1, 2000).Draw(t, "dropped ms")) * time.Millisecond
				steady = 0
			case 1:
				d.now += time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "closed"))
				d.restart()
				steady = 20 * perSecond
			default:
			}
			late := time.Duration(rapid.IntRange(0, 1000).Draw(t, "late ms")) * time.Millisecond
			n := rapid.IntRange(0, 8*perSecond).Draw(t, "late frames")
			d.capture(n, every, late)
			// A ring that is drained at once: its last frame is prompt, after the others are.
			m := rapid.IntRange(1, 2*perSecond).Draw(t, "prompt frames") + int(late/audio.FrameTime) + 1
			d.capture(m, every, time.Duration(rapid.Int64Range(0, int64(prompt)).Draw(t, "prompt")))
			if steady += n + m; d.off() > prompt+drift {
				t.Fatalf("the last sample is put %v after its arrival", d.off())
			}
			if steady > 16*perSecond && d.off() < -drift {
				t.Fatalf("the last sample is put %v before its arrival", -d.off())
			}
		}
	})
}
