package main

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/term"
	"golang.org/x/text/width"
)

// screen prints lines and, on a terminal that can move its cursor, a status line below them.
type screen struct {
	out     io.Writer
	live    bool       // has a status line
	columns func() int // of the terminal, to break lines; nil to leave them whole
}

// newScreen returns a screen on out. Plain output has whole lines only, for screen readers; so has
// output to a file, a pipe or a terminal that cannot move its cursor.
func newScreen(out io.Writer, plain bool) screen {
	file, ok := out.(*os.File)
	if !ok || plain || !term.IsTerminal(int(file.Fd())) {
		return screen{out: out}
	}
	columns := func() int {
		n, _, err := term.GetSize(int(file.Fd()))
		if err != nil || n <= 0 {
			n = 80
		}
		return n
	}
	return screen{out: out, live: os.Getenv("TERM") != "dumb", columns: columns}
}

// Control sequences. The cursor stays at the start of the status line: if a resize breaks that line
// into several, erasing from the cursor on erases all of them.
const (
	eraseBelow = "\r\x1b[J"
	noWrap     = "\x1b[?7l" // a line that is too wide is cut
	wrapAgain  = "\x1b[?7h"
)

// plainUsage describes the flag --plain.
const plainUsage = "print whole lines only, without a status line, for screen readers"

// erase returns what erases the status line.
func (s *screen) erase() string {
	if s.live {
		return eraseBelow
	}
	return ""
}

// draw replaces the status line.
func (s *screen) draw(text string) {
	if s.live {
		fmt.Fprint(s.out, eraseBelow+noWrap+text+wrapAgain+"\r")
	}
}

// room returns the number of cells for text, 0 if there is no limit. The last column stays empty, where
// terminals differ.
func (s *screen) room() int {
	if s.columns == nil {
		return 0
	}
	return max(s.columns()-1, 1)
}

// emojiJoiner is what joins emoji. Terminals differ in whether they join them.
var emojiJoiner = regexp.MustCompile(`([\p{So}\x{FE0F}\x{1F3FB}-\x{1F3FF}])\x{200D}(\p{So})`)

// visible replaces control characters, which could change what the terminal shows.
func visible(text string) string {
	for range 2 { // a match ends where the next one starts
		text = emojiJoiner.ReplaceAllString(text, "$1$2")
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return '\uFFFD'
		}
		return r
	}, strings.ReplaceAll(text, "\t", "    "))
}

// cells returns how many cells of a terminal the text takes at most.
func cells(text string) (n int) {
	last := 0
	for _, r := range text {
		last = cellsOf(r, last)
		n += last
	}
	return n
}

// cellsOf returns the cells of a character after one of so many cells.
func cellsOf(r rune, last int) int {
	switch kind := width.LookupRune(r).Kind(); {
	case r == '\uFE0F' && last == 1: // makes an emoji of a narrow character
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case kind == width.EastAsianWide || kind == width.EastAsianFullwidth:
		return 2
	default:
		return 1
	}
}

// split cuts text where it has at most that many cells. At least one character is before the cut.
func split(text string, most int) (before, after string) {
	last, n := 0, 0
	for i, r := range text {
		last = cellsOf(r, last)
		if n += last; n > most && i > 0 {
			return text[:i], text[i:]
		}
	}
	return text, ""
}

// tail returns the end of text that takes at most that many cells, with an ellipsis for what is cut.
func tail(text string, most int) string {
	if cells(text) <= most {
		return text
	}
	for i := range text {
		if i > 0 && cells(text[i:]) < most {
			return "…" + text[i:]
		}
	}
	return ""
}

// leastWrapped is the width below which rows would not be readable.
const leastWrapped = 20

// wrap breaks text into rows of at most that many cells, indenting all but the first. It does not wrap
// if that is too narrow to be readable.
func wrap(text string, most int) (rows []string) {
	const indent = "    "
	for most >= leastWrapped && cells(text) > most {
		row, rest := split(text, most)
		if i := strings.LastIndexByte(row, ' '); i > len(row)/2 && rest[0] != ' ' { // else one long word, or no spaces
			row, rest = text[:i], text[i:]
		}
		rows = append(rows, row)
		text = indent + strings.TrimLeft(rest, " ")
	}
	return append(rows, text)
}
