package kokoro

import (
	"sync/atomic"
	"time"
)

// pace predicts how long computing takes, to choose pieces that keep ahead of the listener.
// It starts from two usual cores, and learns.
type pace struct {
	perSymbol atomic.Int64 // nanoseconds
}

const (
	// overhead is the part of a piece's cost that does not depend on its length, in symbols:
	// the silence that is cut off.
	overhead = 12
	// margin is the part of the audio ahead that computing may use up.
	margin = 0.75
	// soon is when a listener who hears nothing should hear the next piece.
	soon = 600 * time.Millisecond
)

// start sets the expected time a symbol.
func (p *pace) start(threads int) {
	if threads == 1 {
		p.perSymbol.Store(int64(36 * time.Millisecond))
	} else {
		p.perSymbol.Store(int64(21 * time.Millisecond))
	}
}

// learn takes the time of a piece into account.
func (p *pace) learn(symbols int, took time.Duration) {
	p.perSymbol.Store((3*p.perSymbol.Load() + int64(took)/int64(symbols+overhead)) / 4)
}

// limit returns the length of a piece that is computed while the audio ahead is played, or
// soon, if that is longer.
func (p *pace) limit(ahead time.Duration) int {
	within := func(d time.Duration) int { return int(float64(d)/float64(p.perSymbol.Load())) - overhead }
	first := min(max(within(soon), leastFirst), mostFirst)
	return min(max(within(time.Duration(margin*float64(ahead))), first), longestPiece)
}
