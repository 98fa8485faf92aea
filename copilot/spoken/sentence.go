package spoken

import (
	"bytes"
	"strings"
	"unicode"
)

// scanner finds sentence ends in one text block, rune by rune.
type scanner struct {
	chars        int  // runes read, including blanks
	prev, before rune // the last two runes

	escaped bool // the next rune is escaped by a backslash
	tickRun int  // backticks read in a row
	ticks   int  // length of the run of backticks that opened a code span, 0 outside
	ticksAt int  // text position after that run

	brackets []int // text positions of the open square brackets
	label    bool  // the last rune closed a bracket
	labelAt  int   // text position of the last closed bracket
	dest     bool  // inside (...) after a closed bracket
	spanFrom int   // chars when the open span began

	end      ending
	endAt    int // where the run of terminators began
	deferred ending

	// Candidates for cutting a sentence that gets too long; text positions, or 0.
	clause int  // after the last clause boundary
	blank  int  // after the last blank
	wide   int  // between words of a script without blanks, as far as detectable
	glued  int  // after a blank within an abbreviation or number
	gap    int  // after a blank that becomes blank or glued, depending on the next rune
	glue   bool // gap becomes glued
	gapOf  rune // the rune before the gap
	weak   bool // wide is only a last resort
	kana   bool // Japanese: two ideographs may be one word
	token  bool // the last runes may be part of a path, URL or name
}

// ending is a possible end of a sentence.
type ending int

const (
	endNone     ending = iota
	endPeriod          // one full stop
	endEllipsis        // ... or …
	endStrong          // ! or ?
	endWide            // of a script that puts no blank between sentences

	// Decisions that wait for the first rune of the next word:
	awaitUpper    // a sentence ended if a new one begins
	awaitNonDigit // "No. 5" continues, "No. Never." does not
)

// giveUp is returned by next if the open span is plain text after all.
const giveUp = -1

// maxAtom is the number of runes (or four times MaxChars, if larger) after which even
// indivisible text is cut, because a synthesiser needs bounded input.
const maxAtom = 4096

// next reads the rune at position at of the text and returns the position to cut at, 0 or
// giveUp. It never looks ahead, so that the result cannot depend on how the stream was
// split.
func (c *Chunker) next(r rune, at int) int {
	s, after := &c.scan, c.seen
	s.chars++
	if !s.inSpan() && !unicode.IsSpace(r) {
		if end := c.between(r, at); end > 0 {
			return end
		}
	}
	c.track(r, at)
	if s.inSpan() {
		s.end = endNone
		if c.overdue() {
			return giveUp
		}
		if s.spanFrom <= c.opts.MaxChars/3 {
			return 0 // too little text before it for a segment of its own
		}
		return c.tooLong(r, at)
	}
	if unicode.IsSpace(r) {
		return c.atBlank(r, after)
	}
	switch e := endingOf(r); {
	case e == endNone && s.end != endNone && (isCloser(r) || extends(r)):
	case e == endNone:
		s.end = endNone
	case s.end == endNone:
		s.end, s.endAt = e, at
	case s.end == endPeriod && e == endPeriod && s.prev == '.':
		s.end = endEllipsis
	case e > s.end:
		s.end = e
	}
	return c.tooLong(r, at)
}

// between handles the position before the non-blank r: it decides a deferred ending, and
// records where a long sentence could be cut.
func (c *Chunker) between(r rune, at int) int {
	s := &c.scan
	if d := s.deferred; d != endNone {
		s.deferred = endNone
		if begins(r, d) && s.chars > c.opts.MinChars {
			return at
		}
	}
	if s.gap > 0 {
		if s.glue || unicode.IsDigit(s.gapOf) && (unicode.IsDigit(r) || isLatin(r) || r == '°' || r == 'µ' || r == '×') { // "1 000", "5 km"
			s.glued = s.gap
		} else {
			s.blank = s.gap
		}
		s.gap, s.glue = 0, false
	}
	switch {
	case extends(r):
		return 0
	case s.end == endWide && !isCloser(r) && endingOf(r) != endWide:
		s.end = endNone
		if s.chars > c.opts.MinChars {
			return at
		}
	case isWideClause(s.prev) && !(unicode.IsDigit(r) && unicode.IsDigit(s.before)):
		s.clause = at
		if !c.spoke && s.chars > c.opts.FirstMinChars/2 {
			return at
		}
	}
	s.wideWord(r, at)
	return 0
}

// wideWord records a position between two words of Chinese or Japanese. In Japanese, a
// word in another script usually begins where hiragana end; between two ideographs, only
// Chinese is cut. A path or name in Latin letters may continue in ideographs.
func (s *scanner) wideWord(r rune, at int) {
	switch {
	case r < unicode.MaxASCII && s.prev < unicode.MaxASCII: // fast path
		s.token = true
	case isWideLetter(r):
		hiragana := unicode.Is(unicode.Hiragana, r)
		s.kana = s.kana || hiragana
		if s.token && !isWideLetter(s.prev) && !joinsNames(s.prev) {
			s.token = false
		}
		switch {
		case s.token, hiragana:
		case unicode.Is(unicode.Hiragana, s.prev):
			s.wide, s.weak = at, false
		case !s.kana && unicode.Is(unicode.Han, s.prev):
			s.wide, s.weak = at, false
		}
	case isWideClause(r) || endingOf(r) == endWide:
		s.token = false
	case r < 0x80 || unicode.IsDigit(r):
		switch after := !s.token && isWideLetter(s.prev); {
		case after && joinsNames(r):
			s.wide = 0 // the text before may be the name of a folder
		case after && (isWordRune(r) || strings.ContainsRune("`[(\"", r)) && (s.wide == 0 || s.weak || unicode.Is(unicode.Hiragana, s.prev)):
			s.wide, s.weak = at, !unicode.Is(unicode.Hiragana, s.prev)
		}
		s.token = true
	}
}

func isWideLetter(r rune) bool {
	const first = 0x2e80 // the CJK radicals are the first
	return r >= first && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
}

func joinsNames(r rune) bool { return strings.ContainsRune(`/\._-~@#`, r) }

// atBlank decides at white space, where most sentences end.
func (c *Chunker) atBlank(r rune, after int) int {
	s := &c.scan
	end := s.end
	s.end, s.token = endNone, false
	if s.gap == 0 {
		s.gapOf = s.prev
	}
	s.gap = after
	if isGlue(r) {
		s.glue = true
		return 0
	}
	switch end {
	case endStrong, endWide:
	case endEllipsis:
		s.deferred = awaitUpper
	case endPeriod:
		end, s.deferred = c.lang.period(wordBefore(c.text[c.body:s.endAt]))
		s.glue = end == endNone || s.deferred == awaitNonDigit
	default:
		if isClause(s.prev) || isWideClause(s.prev) {
			s.clause = after
			if !c.spoke && s.chars >= c.opts.FirstMinChars {
				return after
			}
		}
		return 0
	}
	if end != endNone && s.deferred == endNone && s.chars > c.opts.MinChars {
		return after
	}
	return 0
}

// tooLong returns the best position to cut a sentence that has become too long.
func (c *Chunker) tooLong(r rune, at int) int {
	s, limit := &c.scan, c.opts.MaxChars
	switch {
	case s.chars <= limit:
		return 0
	case s.clause > 0 && s.clause-c.body >= limit/3:
		return s.clause
	case s.blank > 0:
		return s.blank
	case s.wide > 0:
		return s.wide
	case s.glued > 0 && s.chars > 2*limit:
		return s.glued
	case s.chars > max(maxAtom, 4*limit) && !extends(r):
		return at
	}
	return 0
}

// track follows code spans and links, which must not be divided.
func (c *Chunker) track(r rune, at int) {
	s := &c.scan
	if r == '`' && !s.escaped {
		s.tickRun++
		s.label = false
		return
	}
	if n := s.tickRun; n > 0 {
		s.tickRun = 0
		c.endTicks(n, at)
	}
	label := s.label
	s.label = false
	if s.ticks > 0 {
		return // a backslash is literal in code
	}
	escaped := s.escaped
	s.escaped = r == '\\' && !escaped
	switch {
	case escaped:
	case s.dest:
		s.dest = r != ')'
	case r == '[' && !c.isPlain(at):
		c.open(at, 0)
		s.brackets = append(s.brackets, at)
	case r == ']' && len(s.brackets) > 0:
		last := len(s.brackets) - 1
		s.label, s.labelAt = true, s.brackets[last]
		s.brackets = s.brackets[:last]
	case r == '(' && label && at >= c.unclosed:
		s.dest = true // the span is still the one of the label
	}
}

// endTicks handles a run of n backticks that ends before position at.
func (c *Chunker) endTicks(n, at int) {
	s := &c.scan
	switch {
	case s.ticks == n:
		s.ticks, s.token = 0, false
	case s.ticks > 0: // a run of a different length is part of the code
	case c.isPlain(at - 1):
	case n == c.lost:
		c.lost = 0
		c.markPlain(at - 1)
	default:
		c.open(at, n)
		s.ticks, s.ticksAt = n, at
	}
}

// open records the start of an outermost span: the rune at position at, preceded by n
// backticks.
func (c *Chunker) open(at, n int) {
	if s := &c.scan; !s.inSpan() {
		s.spanFrom = s.chars
		c.opened, c.openedAt = *s, at
		c.opened.chars--
		c.opened.tickRun = n
	}
}

func (s *scanner) inSpan() bool { return s.ticks > 0 || len(s.brackets) > 0 || s.dest }

// unclosed is inSpan at the end of a block, where a run of backticks ends, too.
func (s *scanner) unclosed() bool {
	return s.ticks > 0 && s.ticks != s.tickRun || len(s.brackets) > 0 || s.dest
}

// overdue reports whether the open span delays speech for too long, so that it is
// probably never closed. Code gets more time than link text.
func (c *Chunker) overdue() bool {
	s, limit := &c.scan, c.opts.MaxChars
	if s.ticks > 0 {
		limit *= 2
	}
	return s.chars-s.spanFrom > limit
}

// begins reports whether r, the first rune of a word, starts a new sentence given a
// deferred ending.
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
	case '!', '?', '‽', '؟', '۔', '।', '॥', '።':
		return endStrong
	case '。', '！', '？', '｡':
		return endWide
	}
	return endNone
}

// isCloser reports whether r may stand between the end of a sentence and the blank.
func isCloser(r rune) bool {
	switch r {
	case '"', '\'', '”', '’', '»', ')', ']', '}', '*', '_', '~', '」', '』', '）':
		return true
	}
	return false
}

func isClause(r rune) bool {
	switch r {
	case ',', ';', ':', '—', '–', '،', '؛':
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

// isGlue reports whether r is a non-breaking space.
func isGlue(r rune) bool { return r == '\u00a0' || r == '\u2007' || r == '\u202f' }

// extends reports whether r belongs to the same character as the rune before it: a
// combining mark, a variation selector or a joiner.
func extends(r rune) bool {
	return r > unicode.MaxLatin1 && unicode.IsMark(r) || r == '\u200c' || r == '\u200d'
}

// wordBefore returns the word at the end of text, without opening marks.
func wordBefore(text []byte) string {
	i := len(text) - 1
	for i >= 0 && isLatin(rune(text[i])) {
		i--
	}
	if i < 0 || text[i] == ' ' { // fast path
		return string(text[i+1:])
	}
	i = bytes.LastIndexFunc(text, unicode.IsSpace)
	return string(bytes.TrimLeft(text[i+1:], "\"'*_~([{<>“‘«"))
}
