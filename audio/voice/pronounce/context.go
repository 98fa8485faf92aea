package pronounce

import "strings"

const (
	primary   = "ˈ"
	secondary = "ˌ"
	vowels    = "AIOQWYaiuæɑɒɔəɛɜɪʊʌᵻɐ"
)

// following describes the sound after a word: the zero value is a pause.
type following struct{ word, vowel bool }

// follow describes a word to the one before it.
func follow(symbols string) following {
	for _, c := range symbols {
		if s := string(c); s != primary && s != secondary {
			return following{word: true, vowel: strings.ContainsRune(vowels, c)}
		}
	}
	return following{}
}

// inContext returns the symbols of the word at i, whose weak form or meaning can depend on
// its neighbours.
func (d *Dictionary) inContext(items []item, i int, next following) string {
	text := items[i].text
	if s := d.weak(items, i, next); s != "" {
		return s
	}
	s := d.pronounced(text, d.partOfSpeech(items, i, next))
	if strings.Contains(s, " ") || !isUpper(text[0]) {
		return s
	}
	if len(text) > 1 && strings.ToUpper(text) == text {
		return stressed(s, primary)
	}
	return stressed(s, secondary)
}

// weak returns the form of a function word that depends on the next sound, or "".
func (d *Dictionary) weak(items []item, i int, next following) string {
	text := items[i].text
	switch {
	case text == "a", text == "A" && beginsSentence(items, i):
		if next.word {
			return "ɐ"
		}
	case text == "an", text == "An":
		return "ɐn"
	case text == "I" && next.word:
		return "ˌI"
	case text == "am" && next.word:
		return "ɐm"
	case strings.EqualFold(text, "the"):
		if next.vowel {
			return "ði"
		}
		return "ðə"
	case text == "to" || text == "To":
		switch {
		case next.vowel:
			return "tʊ"
		case next.word:
			return "tə"
		}
	case text == "in" || text == "In":
		if !next.word {
			return "ˈɪn"
		}
		return "ɪn"
	}
	return ""
}

func beginsSentence(items []item, i int) bool { return i == 0 || items[i-1].kind != word }

// The words before a word that say what part of speech it is.
var (
	beforeNoun = set("the a an this that these those my your his her its our their each every any some no which what of in on at by from with without into for per another one two three first second last next new old same")
	beforeVerb = set("to will would can could should shall may might must not don't doesn't didn't won't can't cannot couldn't shouldn't wouldn't i you we they let's please then and i'll you'll we'll they'll never always")
	beforePast = set("have has had having i've you've we've they've he's it's was were is are be been being get got already i we")
	// determiners follow a verb that begins a sentence.
	determiners = set("the a an this that these those my your his her its our their each every all any it them")
)

// partOfSpeech guesses the part of speech of a heteronym in misaki's names, or returns "".
func (d *Dictionary) partOfSpeech(items []item, i int, next following) string {
	e, ok := d.entryOf(items[i].text)
	if !ok || e.variants == "" {
		return ""
	}
	if !next.word && e.as("None") != e.base {
		return "None"
	}
	before, after := "", ""
	if !beginsSentence(items, i) {
		before = strings.ToLower(items[i-1].text)
	}
	if i+1 < len(items) && items[i+1].kind == word {
		after = strings.ToLower(items[i+1].text)
	}
	lower := strings.ToLower(items[i].text)
	switch {
	case lower == "used":
		if after == "to" && before != "is" && before != "are" && before != "be" {
			return "VBD"
		}
		return ""
	case lower == "read" || lower == "reread":
		if beforePast[before] {
			return "VBD"
		}
		return ""
	case lower == "live", lower == "close":
		if beforeVerb[before] || before == "" {
			return "VERB"
		}
		return ""
	case before == "" && determiners[after], beforeVerb[before]:
		return "VERB"
	case beforeNoun[before]:
		return "NOUN"
	}
	return ""
}

// stressed stresses a word that has no stress, and with primary also one that has only a
// secondary one.
func stressed(s, stress string) string {
	if strings.Contains(s, primary) {
		return s
	}
	if strings.Contains(s, secondary) {
		if stress == primary {
			return strings.Replace(s, secondary, primary, 1)
		}
		return s
	}
	if at := strings.IndexAny(s, vowels); at >= 0 {
		return s[:at] + stress + s[at:]
	}
	return s
}
