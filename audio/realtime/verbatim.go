package realtime

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// realMismatch is the distance above which the service said something other than the
// text, rather than a homophone or another spelling.
const realMismatch = 0.3

// spokenDistance compares a text with the transcript of its reading: the words to
// insert, delete or replace, as a share of the longer one. It ignores case,
// punctuation, where words are split, and the ways to write a number, a symbol or a
// common abbreviation. 0 means identical, 1 means nothing in common.
func spokenDistance(text, spoken string) float64 {
	if len(spoken) > 16*len(text)+1024 { // cannot be a reading of it, and comparing would be slow
		return 1
	}
	a, b := spokenWords(text), spokenWords(spoken)
	if slices.Equal(a, b) {
		return 0
	}
	d := editDistance(a, b)
	if !slices.ContainsFunc(a, isNumber) && !slices.ContainsFunc(b, isNumber) {
		d = min(d, editDistance(letters(a), letters(b)))
	}
	return d
}

// editDistance returns the Levenshtein distance as a share of the longer text. Words
// that belong to a number or a symbol of the other text cost nothing.
func editDistance(a, b []string) float64 {
	longest := max(len(a), len(b))
	if longest == 0 {
		return 0
	}
	row := newComparison(a, b).distances(nil)
	return float64(row[len(a)]) / float64(longest)
}

func cost(of bool) int {
	if of {
		return 1
	}
	return 0
}

// comparison is of a text's words with those that were said.
type comparison struct {
	text, said         []string
	textOf, saidOf     []map[int]bool // the parts of each number; nil for other words
	freeText, freeSaid []bool         // words that cost nothing
}

func newComparison(text, said []string) *comparison {
	c := &comparison{text: text, said: said, textOf: numbers(text), saidOf: numbers(said)}
	c.freeText, c.freeSaid = free(text, said, c.saidOf), free(said, text, c.textOf)
	return c
}

// numbers returns the parts of each word that is a number.
func numbers(words []string) []map[int]bool {
	of := make([]map[int]bool, len(words))
	for i, w := range words {
		if isNumber(w) {
			of[i] = parts(w)
		}
	}
	return of
}

// free reports which words spell out a number of the other text, or read a symbol next to one.
func free(words, other []string, of []map[int]bool) []bool {
	known := map[string]bool{}
	hasNumber := slices.ContainsFunc(of, func(n map[int]bool) bool { return n != nil })
	isFree := func(w string) bool {
		if w == symbol || !hasNumber && !slices.Contains(other, symbol) {
			return w == symbol
		}
		return symbolWords[w] || !isNumber(w) && slices.ContainsFunc(of, func(n map[int]bool) bool { return n != nil && spells(w, n) })
	}
	out := make([]bool, len(words))
	for i, w := range words {
		is, ok := known[w]
		if !ok {
			is = isFree(w)
			known[w] = is
		}
		out[i] = is
	}
	return out
}

// same reports whether two words are equal, or one is a number and the other a part of it.
func (c *comparison) same(i, j int) bool {
	text, said := c.text[j], c.said[i]
	switch {
	case text == said:
		return true
	case c.textOf[j] != nil && c.saidOf[i] == nil:
		return spells(said, c.textOf[j])
	case c.textOf[j] == nil && c.saidOf[i] != nil:
		return spells(text, c.saidOf[i])
	}
	return false
}

// distances returns what it costs to come from each beginning of the text to all that was said.
func (c *comparison) distances(equal func(i, j int)) []int {
	return distances(len(c.text), len(c.said), func(j int) int { return cost(!c.freeText[j]) }, func(i int) int { return cost(!c.freeSaid[i]) },
		func(i, j int) int { return cost(!c.same(i, j)) }, equal)
}

// symbol stands for a character that is either read as a word or skipped.
const symbol = "%"

var (
	// initials matches abbreviations such as e.g. and z. B.
	initials = regexp.MustCompile(`\b\pL\.(?: ?\pL\.)+`)
	// grouped matches a number with separators, such as 1,234,567.
	grouped = regexp.MustCompile(`\d(?:[,.'\x{a0}\x{202f}]\d{3}\b)+`)
	// separators are those of a grouped number.
	separators = strings.NewReplacer(",", "", ".", "", "'", "", "\u00a0", "", "\u202f", "")
)

// spokenWords returns the words of a text in comparable form: lower case, abbreviations
// spelled out, each number as one word, and each character of a script without spaces
// as one word.
func spokenWords(s string) []string {
	s = grouped.ReplaceAllStringFunc(s, separators.Replace) // before NFKC makes blanks of some separators
	s = cases.Fold().String(norm.NFKC.String(s))
	s = initials.ReplaceAllStringFunc(s, func(m string) string {
		return " " + strings.NewReplacer(".", "", " ", "").Replace(m) + " "
	})
	var out []string
	var word []rune
	flush := func() {
		if len(word) > 0 {
			out = append(out, spelledOut(string(word))...)
			word = word[:0]
		}
	}
	for _, r := range s {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai):
			flush()
			out = append(out, string(r))
		case unicode.IsDigit(r), unicode.IsLetter(r), unicode.IsMark(r):
			if len(word) > 0 && unicode.IsDigit(word[len(word)-1]) != unicode.IsDigit(r) {
				flush()
			}
			word = append(word, r)
		case r == '\'' || r == '’': // don't is one word with either apostrophe
		default:
			flush()
			if strings.ContainsRune(`%$€£¥+=/\_@#*&<>~^|°.-`, r) && !slices.Contains(out, symbol) {
				out = append(out, symbol)
			}
		}
	}
	flush()
	if i := slices.Index(out, symbol); i >= 0 { // one at the end represents all
		out = append(slices.Delete(out, i, i+1), symbol)
	}
	return out
}

// spelledOut returns a word, or what it abbreviates.
func spelledOut(word string) []string {
	if long, ok := abbreviations[word]; ok {
		return strings.Fields(long)
	}
	return []string{word}
}

// letters returns the characters of words, to compare words that are split differently.
func letters(words []string) []string {
	var out []string
	for _, w := range words {
		if w != symbol {
			out = append(out, strings.Split(w, "")...)
		}
	}
	return out
}
