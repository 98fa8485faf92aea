package spoken

import (
	"slices"
	"sort"
	"strings"
	"unicode"
)

// Positions maps the characters of a segment's text to those of its source. Words that
// are spoken as written map exactly; text between them, such as the spoken form of a
// path, is interpolated.
type Positions struct{ marks []mark }

// mark is a pair of positions in the text and its source, in characters.
type mark struct{ text, source int }

// maxAlign limits the comparisons of Align. A longer text is interpolated as a whole.
const maxAlign = 1 << 20

// Align finds the words of a text in its source, in order. Its cost is the product of
// both lengths: call it only when a position in a segment is needed.
func Align(source, text string) Positions {
	a, b := tokensOf(text), tokensOf(source)
	p := Positions{marks: []mark{{0, 0}}}
	if len(a)*len(b) <= maxAlign {
		for _, m := range common(a, b) {
			p.marks = append(p.marks, mark{a[m[0]].start, b[m[1]].start}, mark{a[m[0]].end, b[m[1]].end})
		}
	}
	p.marks = append(p.marks, mark{len([]rune(text)), len([]rune(source))})
	return p
}

// Source returns the position in the source that corresponds to position at of the text.
// It is monotonic.
func (p Positions) Source(at int) int {
	last := p.marks[len(p.marks)-1]
	switch {
	case at <= 0:
		return 0
	case at >= last.text:
		return last.source
	}
	i := sort.Search(len(p.marks), func(i int) bool { return p.marks[i].text > at })
	from, to := p.marks[i-1], p.marks[i]
	return from.source + (at-from.text)*(to.source-from.source)/(to.text-from.text)
}

// word is a word or part of a word, with the characters that it covers.
type word struct {
	key        string
	start, end int
}

// tokensOf splits a text into words, identifiers into their parts, numbers from letters,
// and scripts without blanks into characters.
func tokensOf(text string) (out []word) {
	var b strings.Builder
	start, at := 0, 0
	var last rune
	end := func() {
		if b.Len() > 0 {
			out = append(out, word{b.String(), start, at})
			b.Reset()
		}
	}
	for _, r := range text {
		letter := unicode.IsLetter(r) || unicode.Is(unicode.M, r)
		digit := unicode.IsDigit(r)
		switch {
		case !letter && !digit:
			end()
		case isWideLetter(r), isWideLetter(last), digit != unicode.IsDigit(last), unicode.IsUpper(r) && unicode.IsLower(last):
			end()
		}
		if letter || digit {
			if b.Len() == 0 {
				start = at
			}
			b.WriteRune(unicode.ToLower(r))
		}
		last = r
		at++
	}
	end()
	return out
}

// weight is what a common word counts: a long word more than a number or a letter, which also
// occur by chance or, in a date, in another order.
func (w word) weight() int32 {
	if isDigit(w.key[0]) {
		return 1
	}
	return int32(min(len(w.key), 8))
}

// common returns the common subsequence of two texts with the greatest weight, as pairs of
// indices.
func common(a, b []word) (pairs [][2]int) {
	width := len(b) + 1
	weight := make([]int32, (len(a)+1)*width) // of the suffixes from a position in each
	for i := range slices.Backward(a) {
		for j := range slices.Backward(b) {
			best := max(weight[(i+1)*width+j], weight[i*width+j+1])
			if a[i].key == b[j].key {
				best = max(best, weight[(i+1)*width+j+1]+a[i].weight())
			}
			weight[i*width+j] = best
		}
	}
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i].key == b[j].key && weight[i*width+j] == weight[(i+1)*width+j+1]+a[i].weight():
			pairs = append(pairs, [2]int{i, j})
			i, j = i+1, j+1
		case weight[(i+1)*width+j] >= weight[i*width+j+1]:
			i++
		default:
			j++
		}
	}
	return pairs
}
