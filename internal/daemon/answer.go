package daemon

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agentvoice/agentvoice-daemon/copilot/spoken"
)

// answer is the text that the assistant wrote, and how its pieces are spoken. The cost
// of an operation depends on the text that it adds or returns, not on the length of the
// answer, because an answer may arrive in a hundred thousand pieces.
type answer struct {
	text   strings.Builder
	whole  int            // length in bytes up to the last complete rune
	chars  int            // runes within whole
	marks  []int          // byte offset of each rune number i*markEvery
	how    spoken.Options // how it is converted to spoken words
	rounds []int          // byte offset of each round
	spoken map[int]said   // keyed by the segment's first character
	starts []int          // first characters of the segments, in order
	edition
	scanned int // bytes decoded so far; tests use it to bound the work
}

// said is a piece of an answer as spoken, and the characters that it covers.
type said struct {
	text       string
	class      spoken.Class
	start, end int
}

// edition changes when an answer's text is replaced or shortened, but not when it
// grows.
type edition uint64

// markEvery is the number of runes between two marks. It bounds how many runes are
// decoded to find a character.
const markEvery = 64

// setSpoken stores how a segment is spoken. When a round is spoken again, its new
// segments replace the old ones.
func (a *answer) setSpoken(s said) {
	at, _ := slices.BinarySearch(a.starts, s.start)
	a.starts = append(a.starts[:at], s.start)
	a.spoken[s.start] = s
}

// heard converts the core's playback position chars into how much of the text was
// heard. The core assumes that every character of a segment's source takes equally
// long; in fact every character of the spoken text does, and that text may be longer or
// shorter.
func (a *answer) heard(chars int) int {
	i, found := slices.BinarySearch(a.starts, chars)
	if found || i == 0 {
		return chars
	}
	s := a.spoken[a.starts[i-1]]
	if chars >= s.end {
		return chars
	}
	text := a.text.String()
	source := text[a.offset(s.start):a.offset(s.end)]
	said := utf8.RuneCountInString(s.text) * (chars - s.start) / (s.end - s.start)
	return s.start + spoken.Align(source, s.text).Source(said)
}

// add appends to the text. A rune may be split across two pieces.
func (a *answer) add(piece string) {
	a.text.WriteString(piece)
	text := a.text.String()
	for a.whole < len(text) && utf8.FullRuneInString(text[a.whole:]) {
		_, size := utf8.DecodeRuneInString(text[a.whole:])
		if a.chars%markEvery == 0 {
			a.marks = append(a.marks, a.whole)
		}
		a.whole += size
		a.chars++
		a.scanned += size
	}
}

// cut truncates the text to the given number of bytes.
func (a *answer) cut(bytes int) {
	kept := a.text.String()[:bytes]
	a.text, a.whole, a.chars, a.marks = strings.Builder{}, 0, 0, nil
	a.add(kept)
}

// length returns the length of the text in characters.
func (a *answer) length() int {
	return a.chars + utf8.RuneCountInString(a.text.String()[a.whole:])
}

// offset returns the byte offset of a character, or the end of the text if it is
// shorter.
func (a *answer) offset(char int) int {
	text := a.text.String()
	if char >= a.length() {
		return len(text)
	}
	mark := min(char/markEvery, len(a.marks)-1)
	if mark < 0 {
		return 0
	}
	at := a.marks[mark]
	for range char - mark*markEvery {
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
		a.scanned += size
	}
	return at
}
