package roomsim

import (
	"fmt"
	"time"
)

// Jumped lists by how much the echo's delay jumps in Jumps, as with a Bluetooth
// headset.
var Jumped = []time.Duration{
	0, 80 * time.Millisecond, -80 * time.Millisecond, 120 * time.Millisecond, -120 * time.Millisecond,
	160 * time.Millisecond, -160 * time.Millisecond, 200 * time.Millisecond, -200 * time.Millisecond,
}

// afterJump is how long the assistant talks after the jump.
const afterJump = 20 * time.Second

// Jumps returns conversations without a person in which the echo's delay jumps: by
// each value of Jumped in each room, after 10 to 12 s of the assistant's speech.
func Jumps(z Size, seed uint64) []Cell {
	var cells []Cell
	for _, by := range Jumped {
		for _, r := range z.Rooms {
			s := seed*1000 + 700 + uint64(len(cells))
			after := 10*time.Second + time.Duration(s%9)*250*time.Millisecond
			cells = append(cells, jumping(r, by, s, after))
		}
	}
	return cells
}

// jumping returns a conversation in which the delay jumps.
func jumping(room string, by time.Duration, seed uint64, after time.Duration) Cell {
	c := Cell{
		Name: fmt.Sprintf("%s, the echo jumps by %v", room, by), Profile: "default", Place: usual(room, -6),
		Seed: seed, Alone: after + afterJump, Jump: by, JumpAfter: after,
	}
	if by < 0 { // start with the longer delay
		c.Render -= by
		c.Unreported = -by
	}
	return c
}

// SelfInterruptions returns how many false pauses there were from the jump on.
func (res *Result) SelfInterruptions() (n int) {
	for _, at := range res.FalseAt {
		if at >= res.JumpAt {
			n++
		}
	}
	return n
}

// FoundAfter returns how long after the jump the echo's new delay was found for good,
// and whether it was.
func (res *Result) FoundAfter() (late time.Duration, found bool) {
	return res.Refound - res.JumpAt, res.Refound > 0
}
