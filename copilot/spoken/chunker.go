package spoken

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// Class says what kind of text a segment was made from.
type Class string

// The classes of segments.
const (
	ClassProse   Class = "prose"
	ClassCode    Class = "code" // a code block, named instead of read
	ClassList    Class = "list"
	ClassHeading Class = "heading"
	ClassNotice  Class = "notice" // a table, read in short or summarised
)

// Segment is one piece of an answer to be spoken.
type Segment struct {
	// Start and End delimit the source of the segment, in bytes from the start
	// of the answer.
	Start, End int
	// Text is what to speak: plain text without any markup.
	Text  string
	Class Class
	// Chars counts the runes of Text, Words its blank-separated words.
	Chars, Words int
}

// Options sets the sizes of segments; a zero field takes its default.
type Options struct {
	// MinChars joins a shorter sentence with the next one of its block, counted
	// in runes of the source. Default 12.
	MinChars int
	// MaxChars cuts a longer sentence at a clause boundary or a blank, in scripts
	// without blanks between words. What is not divided (see the package's
	// invariants) may stand over by its own length. Default 280.
	MaxChars int
	// FirstMinChars lets the first segment end at a clause boundary once it has
	// so many runes, or half of them where the script has no blanks between
	// words, so that speaking starts early. Default 48.
	FirstMinChars int
	// Locale is a BCP 47 tag that picks the words of notices and the known
	// abbreviations. English and German are known; others are taken as English.
	Locale string
}

func (o Options) withDefaults() Options {
	if o.MinChars <= 0 {
		o.MinChars = 12
	}
	if o.MaxChars <= 0 {
		o.MaxChars = 280
	}
	if o.FirstMinChars <= 0 {
		o.FirstMinChars = 48
	}
	return o
}

// Chunker cuts one answer into segments. It is not safe for concurrent use.
type Chunker struct {
	opts Options
	lang *language

	carry []byte // bytes of a rune that is not complete yet

	buf   []byte // source that no segment covers yet
	start int    // position of buf[0] in the source
	body  int    // in buf: where the open block begins; what is before is silent
	seen  int    // in buf: how far the sentence scanner has read
	line  int    // in buf: start of the current line; negative once it was emitted

	block  block
	inList bool // indented lines belong to a list, they are not code

	undecided bool   // the kind of the current line is not known yet
	skip      string // while undecided: runes that cannot decide it

	scan scanner
	// plain are positions in buf, sorted, of what opens nothing: the last one of a run
	// of backticks, or a bracket, whose span was given up. lost is the length of such a
	// run: the next one of as many backticks closes what it opened.
	plain []int
	lost  int
	// opened is the scanner before the rune at openedAt opened the present span.
	opened   scanner
	openedAt int

	spoke bool // a segment with words was emitted
	out   []Segment
}

// New returns a Chunker for one answer.
func New(opts Options) *Chunker {
	return &Chunker{opts: opts.withDefaults(), lang: languageOf(opts.Locale), undecided: true}
}

// Push takes the next piece of the answer, of any size, and returns the segments
// that became complete.
func (c *Chunker) Push(text string) []Segment {
	for i := 0; i < len(text); {
		if len(c.carry) == 0 && utf8.FullRuneInString(text[i:]) {
			_, size := utf8.DecodeRuneInString(text[i:])
			c.step(text[i : i+size])
			i += size
			continue
		}
		c.carry = append(c.carry, text[i])
		i++
		c.stepCarry(false)
	}
	return c.take()
}

// Flush ends the answer and returns the rest of it. The Chunker is then as new:
// positions of a next answer start at 0 again.
func (c *Chunker) Flush() []Segment {
	c.stepCarry(true)
	if c.undecided && c.line < len(c.buf) {
		c.decide(true)
		c.drain(len(c.buf))
	}
	c.closeBlock(len(c.buf))
	if len(c.buf) > 0 {
		c.out = append(c.out, Segment{Start: c.start, End: c.start + len(c.buf), Class: ClassProse})
	}
	out := c.take()
	*c = Chunker{opts: c.opts, lang: c.lang, undecided: true}
	return out
}

func (c *Chunker) take() []Segment {
	out := c.out
	c.out = nil
	return out
}

// stepCarry takes whole runes out of the carried bytes; at the end of the answer
// also what is left of a broken one.
func (c *Chunker) stepCarry(end bool) {
	for len(c.carry) > 0 && (end || utf8.FullRune(c.carry)) {
		_, size := utf8.DecodeRune(c.carry)
		c.step(string(c.carry[:size]))
		c.carry = c.carry[size:]
	}
}

// step takes one rune (or one byte that is not UTF-8).
func (c *Chunker) step(s string) {
	c.buf = append(c.buf, s...)
	newline := s == "\n"
	if c.undecided {
		if !newline && skips(c.skip, s) {
			return
		}
		if c.decide(newline); c.undecided {
			return
		}
	}
	c.drain(len(c.buf))
	if newline {
		c.endLine()
	}
}

// skips reports whether the rune s cannot decide a line that was left open with
// skip.
func skips(skip, s string) bool {
	switch skip {
	case untilNewline:
		return true
	case untilBacktick:
		return s != "`"
	}
	return strings.Contains(skip, s)
}

// decide sorts the current line into a block, if what is there of it suffices.
// whole says that the line is complete.
func (c *Chunker) decide(whole bool) {
	if c.block.kind == blockFence { // in a quote, and ends with it
		line := bytes.TrimLeft(c.buf[c.line:], " \t")
		if len(line) == 0 {
			c.skip = " \t"
			return
		}
		if line[0] == '>' {
			c.undecided, c.skip = false, ""
			return
		}
		c.closeBlock(c.line)
	}
	ln := classifyLine(c.buf[c.line:], whole, lineContext{block: c.block, inList: c.inList})
	if ln.kind == lineOpen {
		c.skip = ln.skip
		return
	}
	c.undecided, c.skip = false, ""
	switch {
	case ln.kind == lineBlank && c.block.kind == blockIndented:
		return // the code may go on after it
	case ln.kind == lineBlank, ln.kind == lineRule:
		c.closeBlock(c.line)
		return
	case c.continues(ln):
		return
	}
	c.closeBlock(c.line)
	c.inList = ln.kind == lineItem || c.inList && ln.indent > 0
	c.block = block{kind: blockOf[ln.kind], quote: ln.quote, first: true}
	c.seen = c.line + ln.text
	c.scan = scanner{}
}

// continues reports whether a line goes on with the open block.
func (c *Chunker) continues(ln lineInfo) bool {
	switch c.block.kind {
	case blockText, blockItem:
		// A line without a quote mark still belongs to the quote (CommonMark's
		// lazy continuation); a mark after plain text opens a quote.
		return ln.kind == lineText && (c.block.quote || !ln.quote)
	case blockTable:
		return ln.kind == lineRow
	case blockIndented:
		return ln.kind == lineIndented
	}
	return false
}

// endLine follows each newline.
func (c *Chunker) endLine() {
	switch c.block.kind {
	case blockNone:
		c.body = len(c.buf)
	case blockHeading:
		c.closeBlock(len(c.buf))
	case blockFence:
		if closesFence(c.buf[c.body:], c.line-c.body) {
			c.closeBlock(len(c.buf))
		}
	case blockText:
		c.becomeTable()
	}
	c.line = len(c.buf)
	c.undecided = c.block.kind != blockFence || c.block.quote
}

// becomeTable turns the open paragraph into a table when the line that just
// ended is a delimiter row under a line with columns: only there does a table
// without outer bars show.
func (c *Chunker) becomeTable() {
	if c.line <= c.body || !isDelimiterRow(c.buf[c.line:]) {
		return
	}
	header := lastLine(c.buf[c.body : c.line-1])
	if !strings.Contains(string(header), "|") {
		return
	}
	at := c.line - 1 - len(header)
	if at > c.body {
		c.emit(at, true)
	}
	c.block = block{kind: blockTable, first: true}
}

// drain lets the sentence scanner read on in a text block, up to position end of
// the buffer. After a cut the scanner starts anew with the rest.
func (c *Chunker) drain(end int) {
	if !c.block.isText() {
		return
	}
	for c.seen < end {
		r, size := utf8.DecodeRune(c.buf[c.seen:])
		at := c.seen
		c.seen += size
		switch cut := c.next(r, at); {
		case cut > 0:
			before := len(c.buf)
			c.cut(cut)
			end -= before - len(c.buf)
		case cut == giveUp:
			c.giveUp()
		default:
			c.scan.before, c.scan.prev = c.scan.prev, r
		}
	}
}

// cut ends a segment within a block.
func (c *Chunker) cut(end int) {
	c.emit(end, false)
	c.block.first = false
	c.rescan()
}

// rescan puts the scanner back to the start of what was not emitted.
func (c *Chunker) rescan() {
	c.seen = c.body
	c.scan = scanner{}
}

// giveUp takes what seemed to open a code span or link for plain text, and reads
// again from there.
func (c *Chunker) giveUp() {
	switch s := &c.scan; {
	case s.ticks > 0:
		c.lost = s.ticks
		c.markPlain(s.ticksAt - 1)
	case s.dest:
		c.markPlain(s.labelAt)
	default:
		for _, at := range s.brackets {
			c.markPlain(at)
		}
	}
	c.scan, c.seen = c.opened, c.openedAt
}

func (c *Chunker) markPlain(at int) {
	i, _ := slices.BinarySearch(c.plain, at)
	c.plain = slices.Insert(c.plain, i, at)
}

func (c *Chunker) isPlain(at int) bool {
	_, found := slices.BinarySearch(c.plain, at)
	return found
}

// closeBlock ends the open block at position at of the buffer.
func (c *Chunker) closeBlock(at int) {
	rest := len(c.buf) - at
	for c.block.isText() && c.scan.unclosed() {
		c.giveUp() // spans end with their block
		c.drain(len(c.buf) - rest)
	}
	at = len(c.buf) - rest
	if c.block.kind != blockNone && at > c.body {
		c.emit(at, true)
	} else {
		c.body = max(c.body, at)
	}
	c.block = block{}
	c.plain, c.lost = nil, 0
}

// emit makes a segment of the buffer up to end. Where nothing of it is spoken
// the text stays, as the silent beginning of the segment that follows.
func (c *Chunker) emit(end int, last bool) {
	text, class := c.lang.render(c.buf[c.body:end], c.block, last)
	c.block.line = c.buf[end-1] == '\n'
	if text == "" {
		if c.block.kind == blockItem && c.block.first {
			c.block.lead, _ = c.lang.itemLead(c.buf[c.body:end], c.block)
		}
		c.body = end
		return
	}
	c.block.lead = ""
	c.out = append(c.out, Segment{
		Start: c.start, End: c.start + end,
		Text: text, Class: class,
		Chars: utf8.RuneCountInString(text), Words: len(strings.Fields(text)),
	})
	c.spoke = true
	c.buf = c.buf[end:]
	c.start += end
	c.line -= end
	first, _ := slices.BinarySearch(c.plain, end)
	c.plain = c.plain[first:]
	for i := range c.plain {
		c.plain[i] -= end
	}
	c.body = 0
}
