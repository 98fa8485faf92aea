package spoken

import (
	"bytes"
	"unicode"
)

// scanner finds the ends of sentences in one text block, rune by rune.
type scanner struct {
	chars int // runes read, blanks too

	ticks   int  // length of the run of backticks that opened a code span, 0 outside
	tickRun int  // backticks read in a row
	depth   int  // open square brackets
	dest    bool // inside (...) after ]
	prev    rune

	end      ending
	endAt    int // where the run of terminators began
	deferred ending

	clause int // buffer position after the last clause boundary, 0 for none
	blank  int // buffer position after the last blank, 0 for none
}

// ending is what a sentence may end with.
type ending int

const (
	endNone     ending = iota
	endPeriod          // one full stop
	endEllipsis        // ... or …
	endStrong          // ! or ?
	endWide            // of a script that puts no blank between sentences

	// Why a decision waits for the first rune of the next word:
	awaitUpper    // a sentence ended if a new one begins
	awaitNonDigit // "No. 5" goes on, "No. Never." does not
)

// next reads the rune at position at of the buffer and returns where to cut, or
// 0. It looks no further than that rune, so that the result cannot depend on how
// the stream was cut.
func (c *Chunker) next(r rune, at int) int {
	s, after := &c.scan, c.seen
	s.chars++
	space := unicode.IsSpace(r)

	if d := s.deferred; d != endNone && !space {
		s.deferred = endNone
		if begins(r, d) && s.chars > c.opts.MinChars {
			return at
		}
	}
	s.track(r)
	// A span that never closes must not hold back the speech for good.
	if s.inSpan() && s.chars < 2*c.opts.MaxChars {
		s.end = endNone
		return 0
	}
	switch {
	case space:
		return c.atBlank(after)
	case s.end == endWide && !isCloser(r) && endingOf(r) != endWide:
		s.end = endNone
		if s.chars > c.opts.MinChars {
			return at
		}
	}
	switch e := endingOf(r); {
	case e == endNone && s.end != endNone && isCloser(r):
	case e == endNone:
		s.end = endNone
	case s.end == endNone:
		s.end, s.endAt = e, at
	case s.end == endPeriod && e == endPeriod && s.prev == '.':
		s.end = endEllipsis
	case e > s.end:
		s.end = e
	}
	if isWideClause(r) {
		s.clause = after
	}
	return c.tooLong()
}

// atBlank decides at white space, the place where most sentences end.
func (c *Chunker) atBlank(after int) int {
	s := &c.scan
	end := s.end
	s.end = endNone
	s.blank = after
	switch end {
	case endStrong, endWide:
	case endEllipsis:
		s.deferred = awaitUpper
	case endPeriod:
		end, s.deferred = c.lang.period(wordBefore(c.buf[c.body:s.endAt]))
	default:
		if isClause(s.prev) {
			s.clause = after
			if !c.spoke && s.chars >= c.opts.FirstMinChars {
				return after
			}
		}
		return c.tooLong()
	}
	if end != endNone && s.deferred == endNone && s.chars > c.opts.MinChars {
		return after
	}
	return c.tooLong()
}

// tooLong returns the best place to cut once the sentence has become too long.
func (c *Chunker) tooLong() int {
	s := &c.scan
	if s.chars <= c.opts.MaxChars {
		return 0
	}
	if s.clause > 0 && s.clause-c.body >= c.opts.MaxChars/3 {
		return s.clause
	}
	return s.blank
}

// track follows code spans and links, which are not divided.
func (s *scanner) track(r rune) {
	if r == '`' {
		s.tickRun++
		return
	}
	if s.tickRun > 0 {
		switch s.ticks {
		case 0:
			s.ticks = s.tickRun
		case s.tickRun:
			s.ticks = 0
		}
		s.tickRun = 0
	}
	switch {
	case s.ticks > 0:
	case s.dest:
		s.dest = r != ')' && !unicode.IsSpace(r)
	case r == '[':
		s.depth++
	case r == ']' && s.depth > 0:
		s.depth--
	case r == '(' && s.prev == ']':
		s.dest = true
	}
}

func (s *scanner) inSpan() bool { return s.ticks > 0 || s.depth > 0 || s.dest }

// begins reports whether r, the first rune of a word, decides a deferred ending
// for a new sentence.
func begins(r rune, deferred ending) bool {
	if deferred == awaitNonDigit {
		return !unicode.IsDigit(r)
	}
	switch {
	case unicode.IsDigit(r), unicode.IsUpper(r), unicode.IsTitle(r):
		return true
	case unicode.IsLetter(r):
		return !unicode.IsLower(r) // scripts without case
	}
	switch r {
	case '"', '\'', '“', '‘', '«', '(', '[', '*', '_', '`':
		return true
	}
	return false
}

func endingOf(r rune) ending {
	switch r {
	case '.':
		return endPeriod
	case '…':
		return endEllipsis
	case '!', '?', '‽', '؟', '।':
		return endStrong
	case '。', '！', '？', '｡':
		return endWide
	}
	return endNone
}

// isCloser knows what may stand between the end of a sentence and the blank.
func isCloser(r rune) bool {
	switch r {
	case '"', '\'', '”', '’', '»', ')', ']', '}', '*', '_', '~', '」', '』', '）':
		return true
	}
	return false
}

func isClause(r rune) bool {
	switch r {
	case ',', ';', ':', '—', '–', '،':
		return true
	}
	return false
}

func isWideClause(r rune) bool {
	switch r {
	case '、', '，', '；', '：':
		return true
	}
	return false
}

// wordBefore returns the word that text ends with, without opening marks.
func wordBefore(text []byte) string {
	i := bytes.LastIndexFunc(text, unicode.IsSpace)
	return string(bytes.TrimLeft(text[i+1:], "\"'*_~([{<>“‘«"))
}
