// Package wer measures how much a recogniser got wrong.
package wer

import (
	"strconv"
	"strings"
	"unicode"
)

// Compute counts the errors of hyp, substituted, missing and added words, and
// the words of ref: errors/words is the word error rate. Case and punctuation
// do not count, nor whether a number below 100 is written in digits; an apostrophe within
// a word does ("don't" is one word).
func Compute(ref, hyp string) (errors, words int) {
	r, h := split(ref), split(hyp)
	return Distance(r, h), len(r)
}

// Distance is the Levenshtein distance of two sequences: how many elements have to be substituted,
// removed and added to make b of a.
func Distance[E comparable](a, b []E) int {
	// A row of the table at a time: row[j] is the distance of the elements of a so far to b[:j].
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j, y := range b {
			substituted := diagonal
			if x != y {
				substituted++
			}
			diagonal = row[j+1]
			row[j+1] = min(substituted, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

func split(text string) []string {
	var words []string
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) && r != '\'' && r != '’'
	}) {
		word = strings.Trim(strings.ReplaceAll(word, "’", "'"), "'")
		if n, err := strconv.Atoi(word); err == nil && n < 100 && word == strconv.Itoa(n) {
			words = append(words, spelled(n)...)
		} else if word != "" {
			words = append(words, word)
		}
	}
	return words
}

var (
	units = strings.Fields(`zero one two three four five six seven eight nine ten eleven twelve thirteen
		fourteen fifteen sixteen seventeen eighteen nineteen`)
	tens = strings.Fields("twenty thirty forty fifty sixty seventy eighty ninety")
)

// spelled returns the words of a number below 100.
func spelled(n int) []string {
	switch {
	case n < 20:
		return units[n : n+1]
	case n%10 == 0:
		return tens[n/10-2 : n/10-1]
	default:
		return []string{tens[n/10-2], units[n%10]}
	}
}
