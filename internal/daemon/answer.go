package daemon

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agentvoice/agentvoice-daemon/copilot/spoken"
)

// answer is what the assistant wrote, and how the pieces of it are spoken. What an
// operation costs depends on the text that it adds or returns, not on the length
// of the answer: an answer may come in a hundred thousand pieces.
type answer struct {
	text   strings.Builder
	whole  int            // bytes of text that end with a complete rune
	chars  int            // runes in them
	marks  []int          // where rune number i*markEvery begins, in bytes
	how    spoken.Options // how it is put into spoken words
	rounds []int          // where each round begins, in bytes
	spoken map[int]said   // by the segment's first character
	starts []int          // the first characters of the segments, in order
	edition
	scanned int // bytes that were decoded so far: the work, for tests
}

// said is a piece of an answer as it is said, and the characters that it covers.
type said struct {
	text       string
	class      spoken.Class
	start, end int
}

// edition changes when an answer's text is replaced or shortened, and not when it
// grows.
type edition uint64

// markEvery is how many runes lie between two marks: so many at most are decoded
// to find a character.
const markEvery = 64

// setSpoken keeps how a segment is said. A round that is spoken again replaces what it
// said before.
func (a *answer) setSpoken(s said) {
	at, _ := slices.BinarySearch(a.starts, s.start)
	a.starts = append(a.starts[:at], s.start)
	a.spoken[s.start] = s
}

// heard is how much of the text was heard where playback is as far as the core's character
// chars. The core takes it that each character of a segment's source lasts as long; those
// of the spoken text do, and that may be a longer or shorter text.
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

// add appends to the text. A rune may be divided between two pieces.
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

// cut shortens the text to its first bytes.
func (a *answer) cut(bytes int) {
	kept := a.text.String()[:bytes]
	a.text, a.whole, a.chars, a.marks = strings.Builder{}, 0, 0, nil
	a.add(kept)
}

// length is how many characters the text has.
func (a *answer) length() int {
	return a.chars + utf8.RuneCountInString(a.text.String()[a.whole:])
}

// offset is where a character begins, in bytes; the end of the text where it has
// fewer.
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
