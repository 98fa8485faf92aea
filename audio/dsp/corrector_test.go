package dsp

import "testing"

// second is what the canceller says of one in which the assistant was heard.
func second(delay int) apmStats { return apmStats{delay: delay, spread: 4} }

func TestCorrectorFollowsTheDevicesInSteps(t *testing.T) {
	var c corrector
	for _, step := range []struct {
		reported, want int64
		changed        bool
	}{
		{0, 0, true}, {0, 0, false}, {50 * millisecond, 50 * millisecond, true},
		{55 * millisecond, 50 * millisecond, false}, {40 * millisecond, 50 * millisecond, false}, {39 * millisecond, 39 * millisecond, true},
	} {
		if got, changed := c.delay(step.reported); got != step.want || changed != step.changed {
			t.Errorf("reported %d: %d, %v", step.reported, got, changed)
		}
	}
}

func TestCorrectorTakesWhatTheCancellerFinds(t *testing.T) {
	for _, tt := range []struct {
		name     string
		reported int64 // ms
		seconds  []apmStats
		share    float64
		want     int64 // ms
	}{
		{"right", 100, []apmStats{second(20), second(20), second(20)}, 1, 100},
		{"too short", 0, []apmStats{second(200), second(204)}, 1, 184},
		{"once is chance", 0, []apmStats{second(200)}, 1, 0},
		{"twice, but not the same", 0, []apmStats{second(200), second(120)}, 1, 0},
		{"scattered", 0, []apmStats{{delay: 200, spread: 40}, {delay: 200, spread: 40}}, 1, 0},
		{"none", 0, []apmStats{{delay: 200, spread: -1}, {delay: 200, spread: -1}}, 1, 0},
		{"while the assistant is silent", 0, []apmStats{second(200), second(200)}, 0.1, 0},
		{"somewhat too long", 100, []apmStats{second(-20), second(-20)}, 1, 60},
		{"much too long", 300, []apmStats{second(-60), second(-60)}, 1, 160},
		{"too long for nothing", 30, []apmStats{second(-60), second(-60)}, 1, 0},
	} {
		var c corrector
		c.delay(tt.reported * millisecond)
		for _, s := range tt.seconds {
			c.observe(s, tt.share)
		}
		if got, _ := c.delay(tt.reported * millisecond); got != tt.want*millisecond {
			t.Errorf("%s: %d ms, want %d", tt.name, got/millisecond, tt.want)
		}
	}
}

// A delay that is reported anew keeps its correction: the devices are wrong in the
// same way.
func TestCorrectionStays(t *testing.T) {
	var c corrector
	c.delay(0)
	c.observe(second(200), 1)
	if moved := c.observe(second(200), 1); !moved {
		t.Error("the canceller is not told")
	}
	if got, changed := c.delay(20 * millisecond); got != 200*millisecond || !changed {
		t.Errorf("%d ms", got/millisecond)
	}
}
