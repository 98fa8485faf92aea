package live

import (
	"math"
	"slices"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/turns"
)

// What makes a voice distant (docs/design/answers.md has the curves).
const (
	// distantBelow is by how many dB a distant voice is below the user's own.
	distantBelow = 12
	// leastOverNoise is how many dB the first voice of a conversation must be above the noise.
	leastOverNoise = 9
)

const (
	// noiseFrames is how many frames before a voice the noise is taken from, and fewestFrames
	// how many must be known.
	noiseFrames  = 300
	fewestFrames = 50
)

// levels keeps how loud the microphone was, and how loud the user spoke in this conversation. It
// belongs to the source's goroutine. Levels are RMS, in dBFS.
type levels struct {
	frames [backlogFrames]frameLevel
	own    turns.Own
	latest float64 // of the utterance that has paused
	paused bool    // latest is set
}

// frameLevel is the level of a captured frame; Known is false before the first.
type frameLevel struct {
	pos   int64
	level float64
	known bool
}

// push adds a captured frame. Those that the processing delays to before the first are dropped.
func (l *levels) push(pos int64, level float64) {
	if pos < 0 {
		return
	}
	l.frames[slot(pos)] = frameLevel{pos, level, true}
}

// slot is where the frame that contains a captured position is kept.
func slot(pos int64) int64 { return (pos / audio.FrameSamples) % backlogFrames }

// between returns the levels of the frames that begin between two captured positions.
func (l *levels) between(from, to int64) (found []float64) {
	for pos := max(from, 0); pos < to+audio.FrameSamples; pos += audio.FrameSamples {
		if f := l.frames[slot(pos)]; f.known && f.pos/audio.FrameSamples == pos/audio.FrameSamples && f.pos >= from && f.pos < to {
			found = append(found, f.level)
		}
	}
	return found
}

// begin adds the utterance that has paused to the user's own, because another begins.
func (l *levels) begin() {
	if !l.paused {
		return
	}
	l.paused = false
	l.own.Add(l.latest)
}

// pause measures the voice between two captured positions, and reports whether it is distant: far
// quieter than the user's own, or, if that is not known, hardly above the noise. It is false if
// the voice was not captured.
func (l *levels) pause(from, to int64) bool {
	level, ok := turns.LevelOfVoice(l.between(from, to))
	if !ok {
		return false
	}
	l.latest, l.paused = level, true
	if own, known := l.own.Level(); known {
		return level < own-distantBelow
	}
	before := l.between(from-noiseFrames*audio.FrameSamples, from)
	return len(before) >= fewestFrames && level < quantile(before, 1, 4)+leastOverNoise
}

// quantile returns the level below which n of m parts of the levels are.
func quantile(levels []float64, n, m int) float64 {
	sorted := slices.Sorted(slices.Values(levels))
	if len(sorted) == 0 {
		return math.Inf(-1)
	}
	return sorted[min(len(sorted)*n/m, len(sorted)-1)]
}
