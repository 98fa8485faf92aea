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

// learner suppresses more while the canceller learns the room.
type learner struct {
	lowest int // the level in the end; negative for an instance that cancels no echo
	heard  int // frames with the far end
}

func (l *learner) learning() bool { return l.lowest >= 0 && l.heard < firstLines }

// restart is for a canceller that has learnt nothing yet.
func (l *learner) restart(a *apm) error {
	l.heard = 0
	if l.lowest < 0 {
		return nil
	}
	return a.suppress(high)
}

// hear counts a frame in which the far end was heard.
func (l *learner) hear(a *apm) error {
	l.heard = min(l.heard+1, firstLines+1)
	switch l.heard {
	case firstWords:
		return a.suppress(max(l.lowest, moderate))
	case firstLines:
		return a.suppress(max(l.lowest, low))
	}
	return nil
}
