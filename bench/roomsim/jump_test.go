//go:build cgo && !race

package roomsim

import (
	"testing"
	"time"
)

// TestAJumpOfTheEchosDelayIsFound within 2 s, during which the assistant interrupts
// itself at most once.
func TestAJumpOfTheEchosDelayIsFound(t *testing.T) {
	says, _ := synthetic(t)
	noises := NewNoises(1, says, nil)
	for room, jumps := range map[string][]time.Duration{"study": {80, 120, -80}, "hall": {160, -120, -80}} {
		for _, by := range jumps {
			by *= time.Millisecond
			res, err := Run(jumping(room, by, 3, 12*time.Second), says, noises)
			if err != nil {
				t.Fatal(err)
			}
			after := res.SelfInterruptions()
			if late, found := res.FoundAfter(); !found || late > 2*time.Second || after > 1 || by.Abs() == 80*time.Millisecond && after > 0 {
				t.Errorf("%s %v: found after %v: %v, %d false pauses", room, by, late, found, after)
			}
		}
	}
}
