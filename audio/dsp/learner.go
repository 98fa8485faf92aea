package dsp

import "github.com/agentvoice/agentvoice-daemon/audio"

// How long the far end must have been active until suppression of the residual echo
// drops from high to moderate (firstWords) and then to low (firstLines). With low
// suppression from the start, the detector mistakes the assistant for a person in a
// tenth of its windows in the first second; with high, in a thirtieth. With low from
// the fourth second on, the assistant interrupted itself in two of three rooms (room
// bench); from the seventh on, in none.
const (
	firstWords = 1 * audio.SampleRate / audio.FrameSamples // frames
	firstLines = 6 * audio.SampleRate / audio.FrameSamples
)

// The suppression levels of apmConfig.
const (
	low = iota
	moderate
	high
)

// learner raises the suppression while the canceller adapts. Without an echo it does
// not, because suppression would only attenuate the user.
type learner struct {
	lowest int  // the final level; negative for an instance without echo cancellation
	heard  int  // frames with an active far end
	absent bool // no echo was found
}

func (l *learner) learning() bool { return l.lowest >= 0 && l.heard < firstLines }

// restart starts over, for a canceller that was reset.
func (l *learner) restart(a apm) error {
	l.heard, l.absent = 0, false
	if l.lowest < 0 {
		return nil
	}
	return a.Suppress(high)
}

// level returns the current suppression level.
func (l *learner) level() int {
	switch {
	case l.heard >= firstLines || l.absent:
		return l.lowest
	case l.heard >= firstWords:
		return max(l.lowest, moderate)
	}
	return high
}

// hear counts a frame with an active far end. absent reports that no echo of it was
// found.
func (l *learner) hear(a apm, absent bool) error {
	before := l.level()
	l.heard = min(l.heard+1, firstLines)
	l.absent = absent
	if now := l.level(); now != before {
		return a.Suppress(now)
	}
	return nil
}
