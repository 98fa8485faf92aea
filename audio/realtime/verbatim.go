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
	freeA, freeB := freeWords(a, b), freeWords(b, a)
	row := make([]int, len(b)+1)
	for j := range b {
		row[j+1] = row[j] + cost(!freeB[j])
	}
	for i := range a {
		diagonal := row[0]
		row[0] += cost(!freeA[i])
		for j := range b {
			replaced := diagonal + cost(!sameWord(a[i], b[j]))
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+cost(!freeB[j]), diagonal+cost(!freeA[i]))
		}
	}
	return float64(row[len(b)]) / float64(longest)
}

func cost(of bool) int {
	if of {
		return 1
	}
	return 0
}

// sameWord reports whether two words are equal, or one is a number and the other a part
// of it.
func sameWord(a, b string) bool {
	return a == b || isNumber(a) != isNumber(b) && (partOfNumber(b, a) || partOfNumber(a, b))
}

// freeWords reports which words of a spell out a number of b, or read a symbol next to
// one.
func freeWords(a, b []string) []bool {
	free := make([]bool, len(a))
	if !slices.ContainsFunc(b, isNumber) && !slices.Contains(b, symbol) {
		for i, w := range a {
			free[i] = w == symbol
		}
		return free
	}
	for i, w := range a {
		free[i] = w == symbol || symbolWords[w] ||
			!isNumber(w) && slices.ContainsFunc(b, func(n string) bool { return isNumber(n) && partOfNumber(w, n) })
	}
	return free
}

// symbol stands for a character that is either read as a word or skipped.
const symbol = "%"

var (
	// initials matches abbreviations such as e.g. and z. B.
	initials = regexp.MustCompile(`\b\pL\.(?: ?\pL\.)+`)
	// grouped matches the separators within a number such as 1,234,567.
	grouped = regexp.MustCompile(`(\d)[,.'\x{a0}\x{202f}](\d{3})\b`)
)

// spokenWords returns the words of a text in comparable form: lower case, abbreviations
// spelled out, each number as one word, and each character of a script without spaces
// as one word.
func spokenWords(s string) []string {
	s = cases.Fold().String(norm.NFKC.String(s))
	s = initials.ReplaceAllStringFunc(s, func(m string) string {
		return " " + strings.NewReplacer(".", "", " ", "").Replace(m) + " "
	})
	for range 2 { // groups overlap in the digit between two separators
		s = grouped.ReplaceAllString(s, "$1$2")
	}
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
