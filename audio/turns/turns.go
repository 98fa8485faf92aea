// Package turns judges when the user's turn is over.
//
// # Model
//
// A pause ends a turn once it has lasted as long as a Judge requires. Silence requires
// the same length for every pause. Words looks at what was said so far: a sentence that
// stops at "and", "the" or "um" continues, a complete question does not. If the words
// are inconclusive or missing, the pause counts as Unclear. WithSound adds a sound.Listener's
// judgement of the voice: either can shift the other's verdict by one step. While the
// words are not known yet, Longest is a delay that is not too short for any of them.
//
// Loudness tells the user's voice from one far below it, which does not hold a turn open. Own
// learns how loud the user speaks.
//
// # The caller's loop
//
//	judge := turns.Words(turns.Delays{...})
//	for each window of a pause {
//		if paused >= judge.Delay(words) { end the turn }
//	}
//
// # Invariants
//
// A Judge has no state and does not retain words.
package turns

import (
	"strings"
	"time"
	"unicode"
)

// Judge decides how long a pause must last to end the turn. The argument of Delay is
// the text recognised up to the pause; "" if unknown.
type Judge interface {
	Delay(words string) time.Duration
}

// Silence ends a turn after a fixed pause, whatever was said.
type Silence time.Duration

// Delay implements Judge.
func (s Silence) Delay(string) time.Duration { return time.Duration(s) }

// Words ends a turn depending on how complete the words are.
type Words Delays

// WithSound returns a Judge for one pause that combines j with a sound.Listener's probability
// that the turn is complete. A Judge that only looks at silence is returned unchanged.
func WithSound(j Judge, complete float64) Judge {
	if w, ok := j.(Words); ok {
		return sound{w, complete}
	}
	return j
}

type sound struct {
	words    Words
	complete float64
}

// Delay implements Judge.
func (s sound) Delay(words string) time.Duration {
	degree := Of(words)
	switch {
	case s.complete >= likely && degree == Open, s.complete < likely && degree == Complete:
		return s.words.Unclear // words and sound contradict each other
	case s.complete >= likely:
		return s.words.Complete
	default:
		return s.words.Open
	}
}

// likely is the threshold at which Smart Turn counts a turn as complete.
const likely = 0.5

// Delays are the pauses that end a turn.
type Delays struct{ Complete, Unclear, Open time.Duration }

// Delay implements Judge.
func (w Words) Delay(words string) time.Duration {
	switch Of(words) {
	case Complete:
		return w.Complete
	case Open:
		return w.Open
	default:
		return w.Unclear
	}
}

// Longest returns the longest delay of j, for words that are not known yet.
func Longest(j Judge) time.Duration {
	d := j.Delay("")
	for _, words := range []string{"yes", "and"} { // Complete and Open
		d = max(d, j.Delay(words))
	}
	return d
}

// Completeness says whether a sentence may be over.
type Completeness uint8

// The degrees. Unclear also applies if there are no words.
const (
	Unclear Completeness = iota
	Complete
	Open
)

func (c Completeness) String() string { return [...]string{"unclear", "complete", "open"}[c] }

// wants are words that require a continuation: conjunctions, prepositions, articles,
// auxiliaries, fillers, and words used to introduce or spell a name.
var wants = set(`and or but because so if when while although though that which who whose unless until since whether than as
	of in to for with from on at by about into onto between after before under over through without within against like
	the a an this these those my your our their its his every each another some any no
	is are was were be been am can could should would will shall may might must does do did has have had not don't doesn't
	isn't can't won't i'm it's that's there's let's let i we they he she it's please maybe just also then very really
	um uh er erm hmm mm ah well actually basically
	dot underscore dash hyphen slash backslash colon dollar hash camel capital version called named
	function method class variable parameter type`)

// alone are words that make a turn of at most two words complete if it begins with one
// of them.
var alone = set(`stop yes no okay continue cancel repeat wait pause undo thanks`)

// asks are words that begin a question or a request. Such a sentence is likely complete
// if it has leastWords words and does not end in one of wants.
var asks = set(`what why how where when who which whose can could should would will do does did is are was were
	show open close find list add remove delete rename move replace explain tell give make write run start build test check
	fix refactor look go jump read search create update change print commit merge revert undo summarize compare set please`)

// leastWords is the minimum length of a request that is likely complete.
const leastWords = 4

// Of judges words by their end and their beginning.
func Of(text string) Completeness {
	text = strings.TrimSpace(text)
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' })
	if len(words) == 0 {
		return Unclear
	}
	last := words[len(words)-1]
	switch {
	case strings.HasSuffix(text, "?"), strings.HasSuffix(text, "!"), len(words) <= 2 && alone[words[0]]:
		return Complete
	case strings.HasSuffix(text, ","), strings.HasSuffix(text, "..."), strings.HasSuffix(text, "…"), wants[last], len(last) == 1 && !unicode.IsDigit(rune(last[0])):
		return Open
	case strings.HasSuffix(text, "."):
		return Complete
	case len(words) >= leastWords && asks[words[0]]:
		return Complete
	default:
		return Unclear
	}
}

func set(list string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(list) {
		out[w] = true
	}
	return out
}
