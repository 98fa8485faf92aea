package spoken

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// Class is the kind of text that a segment was made from.
type Class string

// The classes of segments.
const (
	ClassProse   Class = "prose"
	ClassCode    Class = "code" // a code block, announced instead of read
	ClassList    Class = "list"
	ClassHeading Class = "heading"
	ClassNotice  Class = "notice" // a table, read or summarised
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

// Options sets the sizes of segments. A zero field means its default.
type Options struct {
	// MinChars is the length in runes of the source below which a sentence is joined with
	// the next one of its block. Default 12.
	MinChars int
	// MaxChars is the length above which a sentence is cut at a clause boundary or a
	// blank; in scripts without blanks, between words. Indivisible text (see the
	// package's invariants) may exceed it by its own length. Default 280.
	MaxChars int
	// FirstMinChars is the length from which the first segment may end at a clause
	// boundary, so that speech starts early. It is halved for scripts without blanks
	// between words. Default 48.
	FirstMinChars int
	// Locale is a BCP 47 tag that selects the words of notices and the known
	// abbreviations. English and German are supported; other locales use English.
	Locale string
	// Code is how code blocks are spoken.
	Code ReadCode
	// Lexicon holds the user's pronunciations, keyed by the word in lower case.
	Lexicon map[string]string
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

	src       []byte // the answer's text that no segment covers yet
	start     int    // offset of src in the answer, in bytes; the following positions are relative to the answer
	line      int    // start of the current line
	read      int    // end of the processed text
	undecided bool   // the kind of the current line is not known yet
	tried     int    // bytes of it that were insufficient to tell
	searched  int    // there is no newline between read and here
	taken     int    // start of its text

	blocks
	info   []byte // info string of the fence
	item   bool   // the block begins with a list marker
	lead   string // spoken before the text of the item
	closes bool   // the block ends with the line
	silent bool   // the rest of the line is not text

	// The text of the open block, without the marks around it. All positions of the
	// scanner are positions in text.
	text   []byte
	pieces []piece // sources of the lines of text
	body   int     // in text: start of the part that no segment covers yet
	seen   int     // in text: end of what the scanner has read
	scan   scanner
	// plain lists, in order, positions in text of openers that were given up: a bracket,
	// or the last backtick of a run. lost is the length of such a run: the next run of
	// the same length closes what it opened.
	plain []int
	lost  int
	// unclosed is the position in text before which no parenthesis closes a link.
	unclosed int
	// opened is the scanner's state before the rune at openedAt opened the current span.
	opened   scanner
	openedAt int

	spoke   bool   // a segment with words was emitted
	skipped string // the first block that ReadCodeSkip left out
	thought bool   // the text is the reasoning of a model
	out     []Segment
	work    int // bytes examined so far, repeats included; for tests
}

// piece maps a line of a block to its source: the byte at position text is at position
// src of the answer.
type piece struct{ text, src int }

// New returns a Chunker for one answer.
func New(opts Options) *Chunker {
	return &Chunker{opts: opts.withDefaults(), lang: languageOf(opts.Locale), undecided: true}
}

// Push adds the next piece of the answer, of any size, and returns the segments that it
// completes.
func (c *Chunker) Push(text string) []Segment {
	c.src = append(c.src, text...)
	c.advance(c.start+len(c.src)-partial(c.src), false)
	return c.take()
}

// Flush ends the answer and returns its remaining segments. It resets the Chunker:
// positions of the next answer start at 0.
func (c *Chunker) Flush() []Segment {
	end := c.start + len(c.src)
	c.advance(end, true)
	c.closeBlock(end)
	if len(c.src) > 0 {
		c.out = append(c.out, c.rest())
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

// partial returns how many bytes at the end of src belong to an incomplete rune.
func partial(src []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(src); n++ {
		if at := len(src) - n; utf8.RuneStart(src[at]) {
			if utf8.FullRune(src[at:]) {
				return 0
			}
			return n
		}
	}
	return 0
}

// advance processes the answer up to position end. whole means that the answer is
// complete.
func (c *Chunker) advance(end int, whole bool) {
	for c.read < end {
		src := c.src[c.read-c.start : end-c.start]
		searched := max(0, c.searched-c.read)
		c.work += len(src) - searched
		newline := bytes.IndexByte(src[searched:], '\n')
		if newline >= 0 {
			src = src[:searched+newline+1]
		} else {
			c.searched = end
		}
		if c.undecided {
			if !c.decide(src, newline >= 0 || whole) {
				return
			}
			continue
		}
		if !c.silent && c.kind != kindNone {
			c.addText(src)
		}
		c.read += len(src)
		if newline >= 0 {
			c.endLine()
		}
	}
}

// decide classifies the current line, which begins with src, if src suffices. It retries
// less often as an undecided line grows.
func (c *Chunker) decide(src []byte, whole bool) bool {
	if !whole && len(src) < c.tried+c.tried/8 {
		return false
	}
	c.work += len(src)
	ln, decided := c.sort(src, whole)
	if !decided {
		c.tried = len(src)
		return false
	}
	c.undecided, c.tried, c.taken = false, 0, c.line+ln.text
	c.read = c.taken
	c.silent = false
	switch {
	case ln.kind == kindNone && len(ln.opens) == 0 && c.kind == kindIndented && ln.depth == len(c.stack):
		return true // the code may continue after it
	case c.continues(ln):
		c.silent, c.closes = ln.closes, ln.closes
		return true
	}
	c.closeBlock(c.line)
	c.begin(ln)
	if c.kind == kindFence {
		fence := src[ln.text:]
		n := run(fence, fence[0])
		c.fence, c.depth, c.silent = bytes.Clone(fence[:n]), ln.indent, true
		c.info = bytes.Clone(fence[n:])
	}
	return true
}

// continues reports whether a line continues the open block.
func (c *Chunker) continues(ln line) bool {
	if len(ln.opens) > 0 || ln.kind != c.kind {
		return false
	}
	// A paragraph also continues if the markers of its quotes and items are missing
	// (CommonMark's lazy continuation).
	return c.kind == kindText || ln.depth == len(c.stack) && (c.kind == kindFence || c.kind == kindIndented || c.kind == kindTable)
}

// begin opens the block that a line starts.
func (c *Chunker) begin(ln line) {
	if ln.item || ln.depth < len(c.stack) {
		c.lead = ""
	}
	if ln.number != "" {
		c.lead = ln.number + ". "
	}
	switch ln.box {
	case ' ':
		c.lead += c.lang.todo
	case 'x', 'X':
		c.lead += c.lang.done
	}
	c.stack = append(c.stack[:ln.depth], ln.opens...)
	c.item = ln.item
	if ln.kind != kindRule {
		c.kind = ln.kind
	}
}

// addText appends to the text of the open block and runs the scanner on it.
func (c *Chunker) addText(src []byte) {
	if c.read == c.taken {
		c.pieces = append(c.pieces, piece{len(c.text), c.read})
	}
	c.text = append(c.text, src...)
	c.drain()
}

// source returns the position in the answer that follows the source of the text byte
// before at.
func (c *Chunker) source(at int) int {
	i := len(c.pieces) - 1
	for i > 0 && c.pieces[i].text >= at {
		i--
	}
	return c.pieces[i].src + at - c.pieces[i].text
}

// endLine handles a newline.
func (c *Chunker) endLine() {
	switch {
	case c.closes, c.kind == kindHeading:
		c.closeBlock(c.read)
	case c.kind == kindText:
		c.becomeTable()
	}
	c.line, c.undecided, c.closes = c.read, true, false
}

// becomeTable turns the open paragraph into a table if the line that just ended is a
// delimiter row below a line with columns. A table without outer bars can only be
// recognised there.
func (c *Chunker) becomeTable() {
	n := len(c.pieces)
	if n < 2 || c.pieces[n-1].text <= c.body || !isDelimiterRow(c.text[c.pieces[n-1].text:]) {
		return
	}
	at := max(c.body, c.pieces[n-2].text)
	if bytes.IndexByte(c.text[at:c.pieces[n-1].text], '|') < 0 {
		return
	}
	if at > c.body {
		c.emit(at, c.source(at), true)
		c.body = at
	}
	c.kind = kindTable
}

// drain runs the sentence scanner on a text block. After a cut, the scanner restarts with
// the rest.
func (c *Chunker) drain() {
	if !c.kind.isText() {
		return
	}
	for c.seen < len(c.text) {
		if c.skipLetters(); c.seen == len(c.text) {
			return
		}
		r, size := utf8.DecodeRune(c.text[c.seen:])
		at := c.seen
		c.seen += size
		c.work += size
		switch cut := c.next(r, at); {
		case cut > 0:
			c.cut(cut)
		case cut == giveUp:
			c.giveUp()
		default:
			c.scan.before, c.scan.prev = c.scan.prev, r
		}
	}
}

// skipLetters is a fast path over letters within a word, which need no decision. Most
// text consists of them.
func (c *Chunker) skipLetters() {
	s := &c.scan
	if s.inSpan() || !isLatin(s.prev) {
		return
	}
	for c.seen < len(c.text) && s.chars < c.opts.MaxChars && isLatin(rune(c.text[c.seen])) {
		s.before, s.prev = s.prev, rune(c.text[c.seen])
		s.chars++
		c.seen++
		c.work++
	}
}

func isLatin(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' }

// cut ends a segment within a block.
func (c *Chunker) cut(at int) {
	c.emit(at, c.source(at), false)
	c.seen, c.scan = at, scanner{}
	first, _ := slices.BinarySearch(c.plain, at)
	c.plain = c.plain[first:]
}

// giveUp treats an apparent code span or link as plain text, and rescans from there.
func (c *Chunker) giveUp() {
	switch s := &c.scan; {
	case s.ticks > 0:
		c.lost = s.ticks
		c.markPlain(s.ticksAt - 1)
	case s.dest:
		c.unclosed = c.seen
		c.markPlain(s.labelAt)
	default:
		for _, at := range s.brackets {
			c.markPlain(at)
		}
	}
	c.scan, c.seen = c.opened, c.openedAt
}

func (c *Chunker) markPlain(at int) {
	i := len(c.plain)
	if i > 0 && at < c.plain[i-1] {
		i, _ = slices.BinarySearch(c.plain, at)
	}
	c.plain = slices.Insert(c.plain, i, at)
}

func (c *Chunker) isPlain(at int) bool {
	if n := len(c.plain); n == 0 || at > c.plain[n-1] {
		return false
	}
	_, found := slices.BinarySearch(c.plain, at)
	return found
}

// closeBlock ends the open block at position end of the answer.
func (c *Chunker) closeBlock(end int) {
	for c.kind.isText() && c.scan.unclosed() {
		c.giveUp() // spans end with their block
		c.drain()
	}
	if c.kind != kindNone && c.body < len(c.text) {
		c.emit(len(c.text), end, true)
	}
	c.kind = kindNone
	c.text, c.pieces, c.body, c.seen = c.text[:0], c.pieces[:0], 0, 0
	c.scan, c.plain, c.lost, c.unclosed = scanner{}, nil, 0, 0
}

// emit makes a segment of the text up to position at, which is position end of the
// answer. If none of it is spoken, it becomes the silent start of the next segment.
func (c *Chunker) emit(at, end int, last bool) {
	text, class := c.render(c.text[c.body:at], last)
	c.body = at
	if text == "" {
		return
	}
	c.out = append(c.out, Segment{
		Start: c.start, End: end,
		Text: text, Class: class,
		Chars: utf8.RuneCountInString(text), Words: strings.Count(text, " ") + 1,
	})
	c.spoke = true
	c.src = c.src[end-c.start:]
	c.start = end
}
