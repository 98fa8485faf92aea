package dsp

import "testing"

// second is what the canceller says of one in which the assistant was heard.
func second(delay int) apmStats { return apmStats{delay: delay, spread: 4} }

func same(delay, seconds int) (all []apmStats) {
	for range seconds {
		all = append(all, second(delay))
	}
	return all
}

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
	scattered := same(200, 2*agree)
	for i := range scattered {
		scattered[i].spread = 40
	}
	for _, tt := range []struct {
		name     string
		reported int64 // ms
		seconds  []apmStats
		share    float64
		want     int64 // ms
	}{
		{"right", 100, same(20, 10), 1, 100},
		{"too short", 0, same(200, agree), 1, 180},
		{"for a while is chance", 0, same(200, agree-1), 1, 0},
		{"not the same", 0, append(same(200, agree-1), same(120, agree-1)...), 1, 0},
		{"scattered", 0, scattered, 1, 0},
		{"not the same throughout", 0, append(append(same(200, agree-1), apmStats{spread: -1}), same(200, agree-1)...), 1, 0},
		{"while the assistant is silent", 0, same(200, agree), 0.1, 0},
		{"somewhat too long", 100, same(-20, agree), 1, 60},
		{"much too long", 400, same(-60, agree), 1, 200},
		{"too long for nothing", 30, same(-60, agree), 1, 0},
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
	moves := 0
	for _, s := range same(200, 2*agree-1) {
		if c.observe(s, 1) {
			moves++
		}
	}
	if moves != 1 {
		t.Errorf("the canceller is told %d times", moves)
	}
	if got, changed := c.delay(20 * millisecond); got != 200*millisecond || !changed {
		t.Errorf("%d ms", got/millisecond)
	}
}

// What works is left alone, whatever seems to be found.
func TestCorrectorLeavesAloneWhatWorks(t *testing.T) {
	var c corrector
	c.delay(0)
	for _, s := range same(200, 2*agree) {
		c.hear(1e-3, 1e-3/2000)
		if c.observe(s, 1) {
			t.Fatal("a delay at which 33 dB are taken out is another")
		}
	}
}
