package dsp

import "github.com/agentvoice/agentvoice-daemon/audio"

// How long the far end must have been heard until the suppression of what the
// canceller's filter leaves may be less: high first, then moderate, then low. With
// low suppression from the beginning the detector takes the assistant for a person
// in a tenth of its windows in the first second, and in the third still (in small
// rooms); with high, in a thirtieth in the first, and never after. With low from the
// fourth second on, the assistant interrupted itself in the fifth in two rooms of
// three (room bench); from the seventh on, in none.
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

// learner suppresses more while the canceller learns the room. Without an echo
// it does not: the suppression would only muffle the user.
type learner struct {
	lowest int  // the level in the end; negative for an instance that cancels no echo
	heard  int  // frames with the far end
	absent bool // no echo was found
}

func (l *learner) learning() bool { return l.lowest >= 0 && l.heard < firstLines }

// restart is for a canceller that has learnt nothing yet.
func (l *learner) restart(a *apm) error {
	l.heard, l.absent = 0, false
	if l.lowest < 0 {
		return nil
	}
	return a.suppress(high)
}

// level is the suppression for what was heard so far.
func (l *learner) level() int {
	switch {
	case l.heard >= firstLines || l.absent:
		return l.lowest
	case l.heard >= firstWords:
		return max(l.lowest, moderate)
	}
	return high
}

// hear counts a frame in which the far end was heard. absent says that no echo of it
// was found.
func (l *learner) hear(a *apm, absent bool) error {
	before := l.level()
	l.heard = min(l.heard+1, firstLines)
	l.absent = absent
	if now := l.level(); now != before {
		return a.suppress(now)
	}
	return nil
}
