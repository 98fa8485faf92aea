package vad

import (
	"math"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// SuspicionLasts is the maximum time from Suspected to Onset or Dismissed.
const SuspicionLasts = 800 * time.Millisecond

// What makes a sound suspicious while the assistant is audible, in dB and levels. The
// background is the canceller's residual, which is steady: a person's voice exceeds
// it within 50 ms of the onset, long before a detector is sure. BenchmarkOnset and
// the room bench print the figures behind these values.
const (
	suspectOverCeiling = 10.0 // above the background's ceiling
	suspectOverNoise   = 7.0  // and above its noise floor
	suspectLevels      = 3    // in a row
	// A suspicion that no detector confirms is dismissed after suspectMax levels:
	// 300 ms, in which playback falls silent and a detector hears the person alone.
	suspectMax = 60
	// After suspectMin levels it is dismissed as soon as quietLevels in a row are
	// quiet: an echo stops when playback is held, a click stops by itself.
	suspectMin  = 30
	quietLevels = 12
	// Until the assistant was audible for 6 s the echo canceller is still adapting,
	// and fewer sounds are suspicious; before it has found the echo, none are.
	suspectAfter = 1200
)

// During the assistant's first 2 s (firstLevels) the canceller leaves the most
// residual echo. A possible voice over it is probed: playback is held, and the voice
// counts if it is still present in silence. After maxProbes failed probes, or with
// suspicion disabled, a voice must reach firstThreshold for firstWindows (0.2 s)
// instead.
const (
	firstLevels      = 400
	firstThreshold   = 0.9
	firstWindows     = 24
	maxProbes        = 2
	probeSettles     = 60 * audio.SampleRate / 1000 // captured samples
	probeSettlesLate = 250 * audio.SampleRate / 1000
	probeLooks       = 120 * audio.SampleRate / 1000

	probeLasts = int64(SuspicionLasts * audio.SampleRate / time.Second) // captured samples
)

// The ceiling is the level that ceilingExceeded of the levels exceed, over about the
// last 30 s of the mode. A level contributes only once no detector has reported a
// possible voice for suspectMax levels after it. Coughs and laughter are too short
// to affect it much; other people talking in the room do affect it.
const (
	ceilingExceeded = 0.07
	ceilingForgets  = 1 / 30.0 // forgetting factor, per second of levels added
	maybeVoice      = 0.2
	slightVoice     = 0.1
	// foreignVoice is the probability from which a window is compared with the far end.
	foreignVoice = 0.3
)

// maxCeiling limits the ceiling above the noise floor, in dB, by mode, so that a loud
// sound does not mask a voice.
var maxCeiling = [2]float64{15, 22}

// The canceller's reduction, in dB, separates a person's voice from echo. It removes
// 16 dB and more of an echo that sounds like a voice. When a detector hears the
// sound, the reduction is below personCut for seven in eight persons and below
// echoCut for 99 in 100. While the canceller adapts, a sound is suspicious only below
// learningCut. (Room bench.)
const (
	personCut   = 12.0
	echoCut     = 22.0
	learningCut = 18.0 // over 30 ms
	// In the assistant's first second, learningCut must have been reached for this many levels.
	worksMin = 20
)

// faintOver is by how much a window must exceed the ceiling, in dB, to count as the
// user's voice, so that others talking in the room do not count.
const faintOver = 2.0

// A sound that lasts longVoice levels (8 s) is background, unless it has the dynamics
// of a single talker; then it is background after endlessVoice levels (4 min). Each
// level of a pause deducts pauseWeighs, and each step with dynamics above lively
// deducts livelyWeighs: nearby talkers reach that in 19 of 20 steps, babble rarely.
const (
	longVoice    = 1600
	endlessVoice = 48000
	pauseWeighs  = 10
	livelyWeighs = 100
	lively       = 10.0
)

// suspicion tracks the background and detects sounds that exceed it. It does not
// allocate.
type suspicion struct {
	predicted, person bool    // see SetPredicted
	found             bool    // the canceller has found the echo's delay
	moved             bool    // the echo path changed after the assistant had been heard for firstLevels
	cut               float64 // short; see SetEchoReduction
	heard             int     // levels in which the assistant was audible, up to suspectAfter
	works             int     // levels with a reduction of learningCut or more since found
	row               int     // suspicious levels in a row
	open              bool    // a suspicion is open
	since             int64   // the level at which it opened
	over              bool    // the canceller has restarted since, so the sound was echo
	quiet             int     // consecutive quiet levels since the sound faded
	learnt            int64   // levels before this one are done with for the ceiling
	voice             int     // duration of a steady sound; see longVoice
	whole             int     // duration of the utterance
}

// adapting reports whether the canceller is still learning the echo path.
func (s *suspicion) adapting() bool {
	return s.heard < firstLevels || !s.found && s.heard < suspectAfter
}

// cancellerRestarted handles a restart of the canceller. An open suspicion was caused
// by the echo, which has moved. The canceller reduces a moved echo only a little, so
// a low reduction does not indicate a person until it has adapted again.
func (s *suspicion) cancellerRestarted() {
	s.moved = s.moved || s.heard >= firstLevels
	s.heard, s.works, s.over = 0, 0, s.open
}

// push processes level n, given the marker's phase and whether it is probing. It
// reports whether a suspicion opened or was dismissed.
func (s *suspicion) push(l *levels, n int64, now phase, probing bool) (suspected, dismissed bool) {
	if now != quiet {
		s.follow(l, n, now)
		s.open, s.row, s.over = false, 0, false
		return false, false
	}
	s.voice, s.whole = 0, 0
	if s.open {
		return false, s.dismiss(l, n)
	}
	s.learn(l, n-suspectMax)
	if l.audible {
		s.heard = min(s.heard+1, suspectAfter)
		if s.found && s.cut >= learningCut {
			s.works++
		}
	}
	learns := s.heard < suspectAfter
	s.moved = s.moved && learns
	doubted := s.predicted && !s.person || !s.predicted && learns && (s.moved || !s.found || s.cut >= learningCut)
	if !l.audible || probing || doubted {
		s.row = 0
		return false, false
	}
	b := l.background()
	if v := l.at(n); !b.sure || !s.predicted && !l.backgrounds[audibleMode].sure && s.works < worksMin || v <= b.ceiling+suspectOverCeiling || v <= b.noise+suspectOverNoise {
		s.row = 0
		return false, false
	}
	if s.row++; s.row < suspectLevels {
		return false, false
	}
	s.open, s.since, s.quiet = true, n, 0
	return true, false
}

// frames returns the duration of the suspicious sound in frames.
func (s *suspicion) frames(l *levels) int {
	return int(l.count-s.since+suspectLevels) * levelSamples * captureRatio / audio.FrameSamples
}

// dismiss reports whether level n ends the suspicion as a false trigger.
func (s *suspicion) dismiss(l *levels, n int64) bool {
	s.quiet++
	if l.at(n) > l.background().ceiling+faintOver {
		s.quiet = 0
	}
	if since := n - s.since; !s.over && (since < suspectMin || since < suspectMax && s.quiet < quietLevels) {
		return false
	}
	s.open, s.row, s.over = false, 0, false
	s.learn(l, n)
	return true
}

// follow processes a level within an utterance. The utterance does not change the
// background unless it is too long and too steady to be a person's.
func (s *suspicion) follow(l *levels, n int64, now phase) {
	s.whole++
	if n%levelsStep == 0 && l.dynamics() > lively {
		s.voice = max(s.voice-livelyWeighs, 0)
	}
	switch {
	case s.steady():
		if n%levelsStep == 0 {
			l.listen(math.Inf(1))
		}
		s.learn(l, n)
		return
	case now == voiced:
		s.voice++
	default:
		s.voice = max(s.voice-pauseWeighs, 0)
	}
	s.learnt = n + 1
}

// steady reports whether the utterance is background noise.
func (s *suspicion) steady() bool { return s.voice >= longVoice || s.whole >= endlessVoice }

// markPossibleVoice excludes the levels so far from the ceiling.
func (s *suspicion) markPossibleVoice(l *levels) {
	if !s.steady() {
		s.learnt = l.count
	}
}

// learn updates the ceiling with the pending levels, up to level to.
func (s *suspicion) learn(l *levels, to int64) {
	b := &l.backgrounds[l.mode()]
	if !b.known {
		return
	}
	for n := max(s.learnt, l.oldest()); n <= to; n++ {
		b.loud.add(l.at(n))
	}
	s.learnt = max(s.learnt, to+1)
	b.ceiling = max(b.noise, min(b.loud.exceeded(ceilingExceeded), b.noise+maxCeiling[l.mode()]))
}

// belowBackground reports whether the window that ends at a capture position may be
// background. While the assistant is audible this also covers the background of
// silence, which is heard as soon as playback is held.
func (s *suspicion) belowBackground(l *levels, end int64) bool {
	ceiling := math.Inf(-1)
	for mode := range l.backgrounds {
		b := &l.backgrounds[mode]
		if b.sure && (mode == silentMode || l.audible) {
			ceiling = max(ceiling, b.ceiling)
		}
	}
	level := l.window(end)
	return !math.IsInf(level, -1) && level <= ceiling+faintOver
}

// spread is a decaying histogram of levels, in 1 dB bins.
type spread struct {
	counts [spreadBins]float64
	total  float64
	taken  int // levels since the last decay
}

// spreadBins exceeds the highest level: full scale is 91 dB.
const spreadBins = 96

func (s *spread) add(level float64) {
	s.counts[min(max(int(level), 0), spreadBins-1)]++
	s.total++
	if s.taken++; s.taken == levelsNoise {
		s.taken = 0
		for i := range s.counts {
			s.counts[i] *= 1 - ceilingForgets
		}
		s.total *= 1 - ceilingForgets
	}
}

// exceeded returns the level that the given fraction of levels exceeds, or 0.
func (s *spread) exceeded(part float64) float64 {
	left := part * s.total
	for i := spreadBins - 1; i > 0; i-- {
		if s.counts[i] > left {
			// Interpolate, assuming a uniform distribution within a bin.
			return float64(i+1) - left/s.counts[i]
		}
		left -= s.counts[i]
	}
	return 0
}
