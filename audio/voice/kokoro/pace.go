package kokoro

import "time"

// pace predicts how long computing takes, to choose pieces that keep ahead of the listener.
// It starts from a machine with two usual cores, and learns.
type pace struct {
	// perSymbol is the time that a symbol takes to compute, and overhead the symbols' worth of
	// time that each piece takes besides.
	perSymbol time.Duration
}

const (
	// overhead is the part of a piece's cost that does not depend on its length, in symbols:
	// the silence that is cut off.
	overhead = 12
	// margin is the part of the audio ahead that computing may use up.
	margin = 0.8
)

func newPace(threads int) pace {
	if threads == 1 {
		return pace{55 * time.Millisecond}
	}
	return pace{32 * time.Millisecond}
}

// learn takes the time of a piece into account.
func (p *pace) learn(symbols int, took time.Duration) {
	p.perSymbol = (3*p.perSymbol + took/time.Duration(symbols+overhead)) / 4
}

// limit returns the length of a piece that is computed while the audio ahead is played.
func (p *pace) limit(ahead time.Duration) int {
	n := int(margin*float64(ahead)/float64(p.perSymbol)) - overhead
	return max(firstPiece, min(n, longestPiece))
}
