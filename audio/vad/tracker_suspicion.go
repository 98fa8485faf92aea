package vad

import (
	"math"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// SuspicionLasts is how long after Suspected an Onset or Dismissed comes at the
// latest.
const SuspicionLasts = 800 * time.Millisecond

// What makes a sound suspicious while the assistant is audible, in dB and levels.
// The background is what the canceller leaves of the assistant, which is steady: a
// person stands out of it within 50 ms of the onset, long before a detector is sure
// of a voice. BenchmarkOnset and the room bench chose the figures.
const (
	suspectOverCeiling = 10.0 // louder than the background gets
	suspectOverNoise   = 7.0  // and than it mostly is
	suspectLevels      = 3    // in a row
	// A suspicion that no detector shares is dismissed after so many levels: 300 ms,
	// in which the assistant falls silent and a detector hears the person alone.
	suspectMost = 60
	// It is dismissed sooner when the sound is gone for quietLevels: an echo goes
	// when the assistant is held, a click by itself.
	suspectLeast = 30
	quietLevels  = 12
	// Before the assistant was heard for 6 s the echo canceller still learns the
	// room, and less is suspicious; nothing is that before it found the echo.
	suspectAfter = 1200
)

// The assistant's first 2 s, in levels, of which the canceller leaves most: what
// sounds like a voice over them is probed, that is, the assistant is held, and it is
// a voice when it is there in silence. After mostProbes that came to nothing it must
// be as sure as that for so many windows, 0.2 s; without probes it counts then.
const (
	firstLevels      = 400
	firstThreshold   = 0.9
	firstWindows     = 24
	mostProbes       = 2
	probeSettles     = 60 * audio.SampleRate / 1000 // captured samples
	probeSettlesLate = 250 * audio.SampleRate / 1000
	probeLooks       = 120 * audio.SampleRate / 1000

	probeLasts = int64(SuspicionLasts * audio.SampleRate / time.Second) // captured samples
)

// The ceiling is what one level in fourteen exceeds, of the last half minute of its
// mode. It is told by levels of which suspectMost later no detector said that they
// may be a voice. A cough or a laugh is too short to change it much, and people who
// talk in the room do.
const (
	ceilingExceeded = 0.07
	ceilingForgets  = 1 / 30.0 // of what it knows, for each second that it takes
	maybeVoice      = 0.2
	slightVoice     = 0.1
	// foreignVoice is the probability from which a window is compared with the far end.
	foreignVoice = 0.3
)

// How far the ceiling can be above the noise, while the assistant is silent and
// while it is audible, in dB: so that a loud sound makes nobody unheard.
var ceilingMost = [2]float64{15, 22}

// What the canceller takes of a voice, in dB, tells whose it is. Of an echo that sounds
// like one it takes 16 and more; of seven people in eight less than personCut, and of
// ninety-nine in a hundred less than echoCut, by the time that a detector hears them.
// While it learns, only that is suspicious of which it takes less than learningCut.
// (Room bench.)
const (
	personCut   = 12.0
	echoCut     = 22.0
	learningCut = 18.0 // of 30 ms
	// In the assistant's first second it must have taken so much for so many levels.
	worksLeast = 20
)

// faintOver is how much louder than the ceiling a window must be, in dB, to hold the
// user's voice: others who talk in the room do not count.
const faintOver = 2.0

// A sound that continues for longVoice levels, 8 s, is the background's unless it has the
// dynamics of one who talks: then only after endlessVoice levels, 4 min. Each level of a
// pause undoes pauseWeighs of it, and each step with more than lively dB of dynamics
// undoes livelyWeighs: people who talk near have that in 19 of 20 steps, and many who
// talk at once seldom.
const (
	longVoice    = 1600
	endlessVoice = 48000
	pauseWeighs  = 10
	livelyWeighs = 100
	lively       = 10.0
)

// suspicion follows the background, and tells what stands out of it. It allocates
// nothing.
type suspicion struct {
	predicted, person bool    // see SetPredicted
	found             bool    // the canceller knows where the echo is
	moved             bool    // the echo is elsewhere since the assistant was last heard for so long
	cut               float64 // short; see SetCut
	heard             int     // levels in which the assistant was audible, up to suspectAfter
	works             int     // levels of which the canceller took much, since it found the echo
	row               int     // suspicious levels in a row
	open              bool    // a sound is suspicious now
	since             int64   // the level at which it became so
	over              bool    // the canceller has restarted since: it was the echo
	quiet             int     // levels in a row that are faint again
	learnt            int64   // levels before this one told the ceiling, or are not to
	voice             int     // how long a steady sound continues, see longVoice
	whole             int     // how long the utterance continues
}

// first says whether the canceller still learns where the echo is, and what it is
// like.
func (s *suspicion) first() bool {
	return s.heard < firstLevels || !s.found && s.heard < suspectAfter
}

// restarted says that the canceller has restarted. What was suspicious was the echo, since
// it moved. Of an echo that is elsewhere it takes
// little, so that little taken proves no person until it was heard for long enough.
func (s *suspicion) restarted() {
	s.moved = s.moved || s.heard >= firstLevels
	s.heard, s.works, s.over = 0, 0, s.open
}

// push takes level n, in which phase the marker is, and whether it probes. It says
// whether the sound became suspicious with it, or ceased to be.
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
	s.learn(l, n-suspectMost)
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
	if v := l.at(n); !b.sure || !s.predicted && !l.backgrounds[audibleMode].sure && s.works < worksLeast || v <= b.ceiling+suspectOverCeiling || v <= b.noise+suspectOverNoise {
		s.row = 0
		return false, false
	}
	if s.row++; s.row < suspectLevels {
		return false, false
	}
	s.open, s.since, s.quiet = true, n, 0
	return true, false
}

// frames is how many frames the suspicious sound lasts.
func (s *suspicion) frames(l *levels) int {
	return int(l.count-s.since+suspectLevels) * levelSamples * captureRatio / audio.FrameSamples
}

// dismiss says whether the suspicion ends with level n, as wrong.
func (s *suspicion) dismiss(l *levels, n int64) bool {
	s.quiet++
	if l.at(n) > l.background().ceiling+faintOver {
		s.quiet = 0
	}
	if since := n - s.since; !s.over && (since < suspectLeast || since < suspectMost && s.quiet < quietLevels) {
		return false
	}
	s.open, s.row, s.over = false, 0, false
	s.learn(l, n)
	return true
}

// follow takes a level of an utterance. Its sound does not tell the background,
// unless it is too steady for too long to be a person's.
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

// steady reports whether the utterance is the background's.
func (s *suspicion) steady() bool { return s.voice >= longVoice || s.whole >= endlessVoice }

// maybe takes that what was heard until now may be a voice.
func (s *suspicion) maybe(l *levels) {
	if !s.steady() {
		s.learnt = l.count
	}
}

// learn has the levels up to one tell the ceiling.
func (s *suspicion) learn(l *levels, to int64) {
	b := &l.backgrounds[l.mode()]
	if !b.known {
		return
	}
	for n := max(s.learnt, l.oldest()); n <= to; n++ {
		b.loud.add(l.at(n))
	}
	s.learnt = max(s.learnt, to+1)
	b.ceiling = max(b.noise, min(b.loud.exceeded(ceilingExceeded), b.noise+ceilingMost[l.mode()]))
}

// faint says whether the window that ends at a capture position may be the
// background's. While the assistant is audible that is also what is heard when it
// falls silent, as it does when it is held.
func (s *suspicion) faint(l *levels, end int64) bool {
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

// spread is how often which level was heard, in dB, of late.
type spread struct {
	counts [spreadMost]float64
	total  float64
	taken  int // levels since the last that were forgotten
}

// spreadMost is more than a level can be: that of the loudest samples is 91 dB.
const spreadMost = 96

func (s *spread) add(level float64) {
	s.counts[min(max(int(level), 0), spreadMost-1)]++
	s.total++
	if s.taken++; s.taken == levelsNoise {
		s.taken = 0
		for i := range s.counts {
			s.counts[i] *= 1 - ceilingForgets
		}
		s.total *= 1 - ceilingForgets
	}
}

// exceeded is the level that was exceeded for a part of the time, or 0.
func (s *spread) exceeded(part float64) float64 {
	left := part * s.total
	for i := spreadMost - 1; i > 0; i-- {
		if s.counts[i] > left {
			// Within a step the levels are taken to be spread evenly.
			return float64(i+1) - left/s.counts[i]
		}
		left -= s.counts[i]
	}
	return 0
}
