package realtime

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxTranscript is how much of a transcript is compared, in bytes.
const maxTranscript = 1 << 16

// What a reading may differ by: homophones, names in other words, a number read in an unusual way.
const (
	leastAstray = 2   // words
	shareAstray = 0.3 // of the words so far, if that is more
	mostAstray  = 6   // words, however long the text is
	// lettersAstray counts as a word where words are split differently: "get user by id" is getUserById.
	lettersAstray = 3
)

// reading is a text whose reading is compared with it, word by word.
type reading struct {
	text  string
	words []string
	ends  []int // of each word, in bytes of text
}

// newReading splits a text at its blanks, but not within an abbreviation or a number, and a script without
// blanks into its characters.
func newReading(text string) reading {
	r := reading{text: text}
	add := func(from, to int) {
		for _, w := range withoutSymbol(spokenWords(text[from:to])) {
			r.words, r.ends = append(r.words, w), append(r.ends, to)
		}
	}
	within := make([]bool, len(text))
	for _, span := range append(initials.FindAllStringIndex(text, -1), grouped.FindAllStringIndex(text, -1)...) {
		for i := span[0] + 1; i < span[1]; i++ {
			within[i] = true
		}
	}
	from := 0
	for i, c := range text {
		_, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case unicode.IsSpace(c) && !within[i]:
			add(from, i)
			from = i + n
		case withoutBlanks(c):
			add(from, i)
			add(i, i+n)
			from = i + n
		}
	}
	add(from, len(text))
	return r
}

// withoutBlanks reports whether a character is of a script that puts no blanks between words.
func withoutBlanks(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
}

// withoutSymbol returns words without the symbol that stands for all of them.
func withoutSymbol(words []string) []string {
	return slices.DeleteFunc(words, func(w string) bool { return w == symbol })
}

// complete returns what is known of a transcript without its last word, which may go on.
func complete(said string) string {
	end := strings.LastIndexFunc(said, func(r rune) bool {
		return unicode.IsSpace(r) || withoutBlanks(r) || r > unicode.MaxLatin1 && unicode.IsPunct(r)
	})
	if end < 0 {
		return ""
	}
	last, n := utf8.DecodeRuneInString(said[end:])
	if end+n == len(said) && withoutBlanks(last) {
		return said[:end]
	}
	return said[:end+n]
}

// deviation compares a text with what of its reading is known so far, or with the whole reading. It
// reports whether they really differ, and how many bytes of the text were said as they are written.
// A "not" more or less turns the meaning around, however long the text is; other differences have to be of
// more than a few words.
func (r reading) deviation(said string, whole bool) (right int, differs bool) {
	if !whole {
		said = complete(said)
	}
	if len(said) > 16*len(r.text)+1024 {
		return 0, true
	}
	spoken := newReading(said).words // as the text is read, so that a text never deviates from itself
	begin, all, same := r.compare(spoken)
	if same > 0 {
		right = r.ends[same-1]
	}
	if !strings.ContainsFunc(r.text, withoutBlanks) && !slices.ContainsFunc(r.words, isNumber) && !slices.ContainsFunc(spoken, isNumber) {
		lettersBegin, lettersAll, sameLetters := r.compareLetters(spoken)
		begin, all = min(begin, lettersBegin/lettersAstray), min(all, lettersAll/lettersAstray)
		if sameLetters > same {
			right = r.ends[sameLetters-1]
		}
		if whole && lettersAll == 0 {
			return len(r.text), false
		}
	}
	limit := func(words int) int { return max(leastAstray, min(int(shareAstray*float64(words)), mostAstray)) }
	if !whole {
		return right, begin > limit(len(spoken))
	}
	return right, all > limit(max(len(spoken), len(r.words))) || spokenDistance(r.text, said) > realMismatch || negations(r.text) != negations(said)
}

// compare returns the words to insert, delete or replace until what was said is a beginning of the text, and until
// it is all of it, and how many words of the text were said without a difference.
func (r reading) compare(spoken []string) (begin, all, same int) {
	c := newComparison(r.words, spoken)
	row := c.distances(func(_, j int) {
		if !c.freeText[j-1] {
			same = max(same, j)
		}
	})
	return slices.Min(row), row[len(row)-1], same
}

// compareLetters is compare by letters, for names that are split in another way.
func (r reading) compareLetters(spoken []string) (begin, all, same int) {
	var text []rune
	ends := []int{0} // of each word of the text, in letters
	for _, w := range r.words {
		if !symbolWords[w] {
			text = append(text, []rune(w)...)
		}
		ends = append(ends, len(text))
	}
	var said []rune
	for _, w := range spoken {
		if !symbolWords[w] {
			said = append(said, []rune(w)...)
		}
	}
	one := func(int) int { return 1 }
	row := distances(len(text), len(said), one, one, func(i, j int) int { return cost(text[j] != said[i]) }, func(_, j int) {
		for same+1 < len(ends) && ends[same+1] <= j {
			same++
		}
	})
	return slices.Min(row), row[len(row)-1], same
}

// distances returns the Levenshtein distances of all of the second sequence from each beginning of the
// first. equal, if any, is called where a beginning of the second equals one of the first, of j elements.
func distances(first, second int, skipFirst, skipSecond func(int) int, differ func(i, j int) int, equal func(i, j int)) []int {
	row := make([]int, first+1)
	for j := range first {
		row[j+1] = row[j] + skipFirst(j)
	}
	for i := range second {
		diagonal := row[0]
		row[0] += skipSecond(i)
		for j := range first {
			replaced := diagonal + differ(i, j)
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+skipFirst(j), diagonal+skipSecond(i))
			if row[j+1] == 0 && equal != nil {
				equal(i+1, j+1)
			}
		}
	}
	return row
}

// negation matches the words that turn a meaning around, in English, German and Japanese. The number of an
// issue is none ("no. 5"), and "no" and "know" sound the same.
var (
	negation   = regexp.MustCompile(`(?i)\b(?:not|no|never|none|neither|nor|without|cannot|(?:do|does|did|is|are|was|were|ca|could|wo|would|should|has|have|had|must|need)n['’]?t|nicht|nie|niemals|kein(?:e|en|em|er|es)?|ohne)\b|ません|ない`)
	noNegation = regexp.MustCompile(`(?i)\b(?:no\.?|number|nr\.?|nummer) ?[#\d]\S*`)
	knows      = regexp.MustCompile(`(?i)\bknow\b`)
)

func negations(s string) int {
	return len(negation.FindAllString(noNegation.ReplaceAllString(knows.ReplaceAllString(s, "no"), ""), -1))
}
