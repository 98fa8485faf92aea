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

// limit returns the length of a piece that is computed while the audio ahead is played.
func (p *pace) limit(ahead time.Duration) int {
	n := int(margin*float64(ahead)/float64(p.perSymbol.Load())) - overhead
	return max(firstPiece, min(n, longestPiece))
}
