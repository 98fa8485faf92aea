package turns

import (
	"math"
	"slices"
)

// Own is how loud a user speaks: the levels of the last utterances in dB, oldest first.
type Own []float64

// ownUtterances is how many utterances the user's own level is the median of.
const ownUtterances = 9

// Add adds the level of an utterance.
func (o *Own) Add(level float64) {
	if len(*o) < ownUtterances {
		*o = append(*o, level)
		return
	}
	copy(*o, (*o)[1:])
	(*o)[ownUtterances-1] = level
}

// Level returns the median; known is false before the first utterance.
func (o Own) Level() (level float64, known bool) {
	var last [ownUtterances]float64
	return middle(last[:copy(last[:], o)]), len(o) > 0
}

// voicedBelow is by how many dB a frame of a voice may be below the loud ones.
const voicedBelow = 12

// LevelOfVoice returns the median level of the voiced frames: a pause or a click in an utterance
// does not count.
func LevelOfVoice(frames []float64) (level float64, ok bool) {
	if len(frames) == 0 {
		return 0, false
	}
	return voicedLevel(slices.Sorted(slices.Values(frames))), true
}

// voicedLevel is LevelOfVoice of sorted levels.
func voicedLevel(sorted []float64) float64 {
	loud := sorted[min(len(sorted)*9/10, len(sorted)-1)]
	first, _ := slices.BinarySearch(sorted, loud-voicedBelow)
	return middle(sorted[first:])
}

// middle sorts the levels and returns their median.
func middle(levels []float64) float64 {
	if len(levels) == 0 {
		return math.Inf(-1)
	}
	slices.Sort(levels)
	return levels[len(levels)/2]
}

// What tells the user's voice from one in the background, in dB and in windows of 32 ms
// (docs/design/measurements.md, A talker in the background, has the figures).
const (
	// backgroundBelow is by how much a voice in the background is below the median of the turn's
	// voice: 15 dB below its loud half.
	backgroundBelow = 13
	// surelyBelow is by how much more it is below if it cannot be the user speaking more softly.
	surelyBelow = 8
	// onsetAbove is by how much louder than such a voice the user begins while somebody talks.
	onsetAbove = 5
	// loudnessKept is how many windows with the turn's voice its level is taken from: 5 s. The
	// level follows a user who speaks more softly or more loudly, and a user whose turn was
	// opened by somebody else.
	loudnessKept = 160
	// loudnessKnown is how many of them make the level known: 0.5 s.
	loudnessKnown = 16
	// ownKnown is how many turns make the user's own level sure: a voice as loud as that is the user's.
	ownKnown = 3
	// ownWindows is how many windows at the user's earlier level show that the user speaks.
	ownWindows = 4
	// talkerWindows is how many windows with a voice in the background show that somebody talks
	// there, unless it has paused for talkerPauses: 5 s. Until the user's own level is sure, it may be
	// the user, who was louder for a moment, and counts if nobody louder speaks for talkerAlone: 10 s.
	talkerWindows = 6
	talkerPauses  = 156
	talkerAlone   = 312
)

// Loudness tells the user's voice from a voice that is far below it. What is far below it does
// not hold a turn open. It does not open the next one either while that talker goes on. A talker
// who begins while nobody else speaks opens a turn, as the user does who begins softly.
//
// The caller's loop, for consecutive windows of 32 ms:
//
//	l.Hear(level, voice, open)
//	if !l.Counts(level) { voice = false }
//
// Levels are in dB, with any reference.
type Loudness struct {
	own    Own
	voiced [loudnessKept]float64 // levels of the open turn's voice; a ring
	count  int
	open   bool

	level  float64 // of the open turn's voice, or of the last turn's
	limit  float64 // what is below it is background
	known  bool    // limit is that of the open turn's voice, or of the last turn's
	heard  int     // windows with a voice in the background
	talker bool    // somebody talks in the background
	pause  int     // windows without any voice in a row
	alone  int     // windows since the last with the user's voice
	before float64 // level of the last turn
	recent bool    // and it was before no long pause
}

// Hear processes the next window: its level, whether a detector hears a voice in it, and whether
// a turn is open.
func (l *Loudness) Hear(level float64, voice, open bool) {
	switch {
	case open && !l.open:
		l.known = l.known && l.talker
	case l.open && !open:
		if l.count >= loudnessKnown {
			l.before, l.recent = l.level, true
			l.own.Add(l.before)
			l.respect()
		}
		l.count = 0
	}
	l.open = open
	if l.alone++; l.alone > talkerAlone && !open && len(l.own) < ownKnown {
		l.known, l.talker, l.heard, l.recent = false, false, 0, false
	}
	if !voice {
		if l.pause++; l.pause > talkerPauses {
			l.talker, l.heard, l.recent = false, 0, false
		}
		return
	}
	l.pause = 0
	limit := l.limit
	if !l.known {
		own, _ := l.own.Level()
		limit = own - backgroundBelow
	}
	if level < limit && !(open && l.known) { // in a turn it may be the end of the user's word
		l.heard++
		l.talker = l.talker || l.heard >= talkerWindows
	}
	if l.known && level >= l.limit {
		l.alone = 0
	}
	if open && !(l.known && level < l.limit) {
		l.voiced[l.count%loudnessKept] = level
		l.count++
		l.refer()
	}
}

// refer sets the limit of the open turn. It is that of the voice in the turn, or else of the
// user's earlier turns once the turn has a voice as loud. A voice as loud as in most earlier turns is
// never below it, even if the user was louder for a moment.
func (l *Loudness) refer() {
	var sorted [loudnessKept]float64
	voiced := sorted[:copy(sorted[:], l.voiced[:min(l.count, loudnessKept)])]
	slices.Sort(voiced)
	own, some := l.own.Level()
	usual := own - backgroundBelow
	l.level, l.known = own, some && len(voiced) >= ownWindows && voiced[len(voiced)-ownWindows] >= usual
	if len(voiced) >= loudnessKnown {
		if level := voicedLevel(voiced); level >= usual || !l.known {
			l.level, l.known = level, true
		}
	}
	l.limit = l.level - backgroundBelow
	l.respect()
	if before, _ := slices.BinarySearch(voiced, l.limit); l.known && (before >= talkerWindows || l.recent && l.before < l.limit) {
		l.talker = true // it was heard before the user
	}
}

// respect lowers a limit that is above what is background for the user's own level.
func (l *Loudness) respect() {
	if own, _ := l.own.Level(); len(l.own) >= ownKnown {
		l.limit = min(l.limit, own-backgroundBelow)
	}
}

// Counts reports whether a voice in the last window, which has this level, counts as the user's.
func (l *Loudness) Counts(level float64) bool {
	switch {
	case !l.known:
		return true
	case l.open:
		return level >= l.limit
	default:
		return !l.talker || level >= l.limit+onsetAbove
	}
}

// Faint reports whether a voice in an open turn that does not count may be the user's all the same,
// who speaks more softly.
func (l *Loudness) Faint(level float64) bool {
	return l.open && !l.Counts(level) && level >= l.limit-surelyBelow
}
