package realtime

import "unicode"

// Share of words that differ from which on a spoken text counts as a
// mismatch. Numbers, dates and abbreviations are written differently when
// spoken, so a little is no mismatch.
const (
	slightMismatch = 0.2
	wildMismatch   = 0.5
)

// wordDistance compares a text with the transcript of its reading: the words
// to insert, delete or replace, as a share of the longer one. Case and
// punctuation do not count. 0 is the same, 1 has nothing in common.
func wordDistance(text, spoken string) float64 {
	a, b := words(text), words(spoken)
	if len(a) == 0 && len(b) == 0 {
		return 0
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j, y := range b {
			cost := diagonal
			if x != y {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return float64(row[len(b)]) / float64(max(len(a), len(b)))
}

// words splits into runs of letters and digits, lower case. In scripts that
// put no spaces between words, each character is one.
func words(s string) []string {
	var out []string
	var word []rune
	flush := func() {
		if len(word) > 0 {
			out = append(out, string(word))
			word = word[:0]
		}
	}
	for _, r := range s {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai):
			flush()
			out = append(out, string(r))
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			word = append(word, unicode.ToLower(r))
		case r == '\'' || r == '’': // don't is one word, however it is written
		default:
			flush()
		}
	}
	flush()
	return out
}
