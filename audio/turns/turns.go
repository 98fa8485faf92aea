// Package turns judges when the user's turn is over.
//
// # Model
//
// A pause ends a turn once it has lasted as long as Delays.Judge requires by the Evidence. The words
// say how complete the turn is: a sentence that stops at "and", "the" or "um" continues, a complete
// question does not. A recogniser's probability of a full stop and a listener's judgement of the
// voice can each shift that by one step. Evidence that is missing does not count.
//
// Loudness tells the user's voice from one far below it, which does not hold a turn open. Own
// learns how loud the user speaks.
//
// # The caller's loop
//
//	delays := turns.Delays{...}
//	for each window of a pause {
//		if paused >= delays.Judge(evidence).Delay { end the turn }
//	}
//
// # Invariants
//
// Everything is a function of its arguments. Only Own and Loudness have a state, and none of it is
// words.
package turns

import (
	"strings"
	"time"
	"unicode"
)

// Evidence is what is known about a pause. Each part may be missing.
type Evidence struct {
	// Words is the text recognised up to the pause, without a final full stop. Behind means that
	// the recogniser has not reached the pause.
	Words  string
	Behind bool
	// Unfinished means that more words must follow those, as the conversation stands.
	Unfinished bool
	// Stop is the recogniser's probability of a full stop at the pause, and Sound a listener's
	// that the turn sounds complete; nil if unknown.
	Stop, Sound *float64
	// Faint means that somebody talks in the pause, who may be the user speaking more softly.
	Faint bool
}

// Judgement says how long a pause must last to end the turn, and why.
type Judgement struct {
	Delay  time.Duration
	Reason Reason
}

// Reason is the evidence that decided.
type Reason uint8

// The reasons.
const (
	OfSilence     Reason = iota // silence alone decides
	OfNoWords                   // the words are not known yet
	OfWords                     // by how complete they are
	OfUnfinished                // alone they mean nothing in this conversation
	OfStop                      // the recogniser hears a full stop, or none
	OfSound                     // the voice sounds complete or not
	OfFaintVoice                // it may go on
	numberReasons = iota
)

func (r Reason) String() string {
	return [numberReasons]string{"silence", "words awaited", "words", "unfinished", "full stop", "sound", "faint voice"}[r]
}

// Delays are the pauses that end a turn, by how complete it is. If all are equal, silence alone
// decides.
type Delays struct{ Complete, Unclear, Open time.Duration }

// Silence ends a turn after a fixed pause, whatever was said.
func Silence(d time.Duration) Delays { return Delays{d, d, d} }

// Eager returns the delays of an eagerness of semantic_vad: low, medium, high or auto. ok is false for
// another one.
func Eager(eagerness string) (d Delays, ok bool) {
	ms := func(complete, unclear, open time.Duration) (Delays, bool) {
		return Delays{complete * time.Millisecond, unclear * time.Millisecond, open * time.Millisecond}, true
	}
	switch eagerness {
	case "low":
		return ms(700, 1400, 2500)
	case "medium", "auto":
		return ms(250, 700, 1500)
	case "high":
		return ms(200, 400, 1000)
	}
	return Delays{}, false
}

// Listens reports whether anything but silence counts.
func (d Delays) Listens() bool { return d.Complete != d.Open }

// Thresholds of probabilities.
const (
	soundsComplete = 0.5 // of Smart Turn, as it is published
	surelyStops    = 0.9 // of a full stop
	hardlyStops    = 0.3
)

// Judge judges a pause. While the words are not known, the delay is not too short for any of them.
func (d Delays) Judge(e Evidence) Judgement {
	if !d.Listens() {
		return Judgement{d.Open, OfSilence}
	}
	if e.Unfinished {
		return Judgement{d.Open, OfUnfinished}
	}
	degree, reason := Of(e.Words), OfWords
	if e.Behind {
		degree, reason = Open, OfNoWords
	}
	if stops := degree; e.Stop != nil && !e.Behind {
		switch {
		case *e.Stop >= surelyStops && degree == Unclear:
			stops = Complete
		case *e.Stop < hardlyStops && degree == Complete:
			stops = Unclear
		}
		if stops != degree {
			degree, reason = stops, OfStop
		}
	}
	if e.Sound != nil {
		degree, reason = bySound(degree, *e.Sound >= soundsComplete), OfSound
	}
	delay := [...]time.Duration{Unclear: d.Unclear, Complete: d.Complete, Open: d.Open}[degree]
	if e.Faint && delay < d.Unclear {
		return Judgement{d.Unclear, OfFaintVoice}
	}
	return Judgement{delay, reason}
}

// bySound shifts a verdict by the sound of the voice.
func bySound(words Completeness, complete bool) Completeness {
	switch {
	case complete && words == Open, !complete && words == Complete:
		return Unclear // words and sound contradict each other
	case complete:
		return Complete
	default:
		return Open
	}
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
