package dsp

import "testing"

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

func TestCorrectorAppliesTheFoundEcho(t *testing.T) {
	for _, tt := range []struct {
		name     string
		reported int64     // ms
		found    []float64 // ms
		want     int64     // ms
	}{
		{"right", 100, []float64{20, 20, 20, 20}, 100},
		{"too short", 0, []float64{200, 200.5, 199.5}, 169}, // the last one minus the lead
		{"twice is not enough", 0, []float64{200, 200}, 0},
		{"different positions", 0, []float64{200, 200, 120, 200, 200}, 0},
		{"somewhat too long", 100, []float64{-20, -20, -20}, 50},
		{"much too long", 400, []float64{-200, -200, -200}, 170},
		{"too long, limited at zero", 30, []float64{-60, -60, -60}, 0},
	} {
		var c corrector
		c.delay(tt.reported * millisecond)
		for _, ms := range tt.found {
			c.observe(ms * millisecond)
		}
		if got, _ := c.delay(tt.reported * millisecond); got/millisecond != tt.want {
			t.Errorf("%s: %d ms, want %d", tt.name, got/millisecond, tt.want)
		}
	}
}

// A new reported delay keeps the correction, because the devices' error stays the same.
func TestCorrectionStays(t *testing.T) {
	var c corrector
	c.delay(0)
	moves := 0
	for range agree + 2 {
		if c.observe(200 * millisecond) {
			moves++
		}
	}
	if moves != 1 {
		t.Errorf("the delay changed %d times", moves)
	}
	if got, changed := c.delay(20 * millisecond); got != 190*millisecond || !changed {
		t.Errorf("%d ms", got/millisecond)
	}
}

// TestRecalledEchoIsKnown: with known devices the echo counts as found from the first
// frame until it is found outside the allowed range.
func TestRecalledEchoIsKnown(t *testing.T) {
	for _, ms := range []float64{13, 30, 60} {
		var c corrector
		c.recall(100 * millisecond)
		if got, changed := c.delay(20 * millisecond); got != 120*millisecond || !changed || !c.known() {
			t.Errorf("%d ms, known %v", got/millisecond, c.known())
		}
		if c.observe(ms*millisecond) || !c.known() {
			t.Errorf("an echo %v ms behind its reference counts as a different one", ms)
		}
		if c.observe((ms+5)*millisecond) || c.known() {
			t.Errorf("an echo that moved from %v ms by another 5 ms counts as the same", ms)
		}
	}
	var c corrector
	c.recall(100 * millisecond)
	c.delay(20 * millisecond)
	if c.observe(200*millisecond) || c.known() {
		t.Error("a single echo elsewhere was accepted")
	}
	if c.delay(50 * millisecond); c.known() {
		t.Error("an echo elsewhere counts as known after the delay changed")
	}
}
