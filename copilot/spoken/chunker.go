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
	// Code is how code blocks are spoken.
	Code ReadCode
	// Lexicon is how the user wants words said, by the word in lower case.
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

	src       []byte // of the answer: what no segment covers yet
	start     int    // where src begins, in bytes of the answer, as all that follows
	line      int    // where the current line begins
	read      int    // up to where the answer was taken
	undecided bool   // the kind of the current line is not known yet
	tried     int    // bytes of it that were not enough to tell
	searched  int    // up to where there is no newline after read
	taken     int    // where its text begins

	blocks
	info   []byte // of kindFence: what the fence says about the code
	item   bool   // the block begins with the mark of an item
	lead   string // what is said before the text of the item
	closes bool   // the block ends with the line
	silent bool   // the rest of the line is not text

	// The text of the open block, without the marks around it. All positions of the
	// scanner are positions in text.
	text   []byte
	pieces []piece // where the lines of text come from
	body   int     // in text: what no segment covers yet
	seen   int     // in text: how far the scanner has read
	scan   scanner
	// plain are positions in text, sorted, of what opens nothing: the last one of a run
	// of backticks, or a bracket, whose span was given up. lost is the length of such a
	// run: the next one of as many backticks closes what it opened.
	plain []int
	lost  int
	// unclosed is the position in text before which no parenthesis ends a link.
	unclosed int
	// opened is the scanner before the rune at openedAt opened the present span.
	opened   scanner
	openedAt int

	spoke   bool   // a segment with words was emitted
	skipped string // what the first block was that ReadCodeSkip left out
	out     []Segment
	work    int // bytes that were looked at so far, each time: for tests
}

// piece says where a line of a block comes from: the byte at position text is the
// one at position src of the answer.
type piece struct{ text, src int }

// New returns a Chunker for one answer.
func New(opts Options) *Chunker {
	return &Chunker{opts: opts.withDefaults(), lang: languageOf(opts.Locale), undecided: true}
}

// Push takes the next piece of the answer, of any size, and returns the segments
// that became complete.
func (c *Chunker) Push(text string) []Segment {
	c.src = append(c.src, text...)
	c.advance(c.start+len(c.src)-partial(c.src), false)
	return c.take()
}

// Flush ends the answer and returns the rest of it. The Chunker is then as new:
// positions of a next answer start at 0 again.
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

// partial is how many bytes at the end of src are a rune that is not complete yet.
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

// advance takes the answer up to position end. whole says that there is no more.
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

// decide sorts the current line, which begins with src, if that suffices. A line
// that stays undecided for long is looked at less often.
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
		return true // the code may go on after it
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
	// A paragraph also continues where the marks of its quotes and items are missing
	// (CommonMark's lazy continuation).
	return c.kind == kindText || ln.depth == len(c.stack) && (c.kind == kindFence || c.kind == kindIndented || c.kind == kindTable)
}

// begin opens the block that a line begins with.
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

// addText adds to the text of the open block, and has it read as far as it goes.
func (c *Chunker) addText(src []byte) {
	if c.read == c.taken {
		c.pieces = append(c.pieces, piece{len(c.text), c.read})
	}
	c.text = append(c.text, src...)
	c.drain()
}

// source is the position in the answer that follows the one of the byte before
// position at of the text.
func (c *Chunker) source(at int) int {
	i := len(c.pieces) - 1
	for i > 0 && c.pieces[i].text >= at {
		i--
	}
	return c.pieces[i].src + at - c.pieces[i].text
}

// endLine follows each newline.
func (c *Chunker) endLine() {
	switch {
	case c.closes, c.kind == kindHeading:
		c.closeBlock(c.read)
	case c.kind == kindText:
		c.becomeTable()
	}
	c.line, c.undecided, c.closes = c.read, true, false
}

// becomeTable turns the open paragraph into a table when the line that just
// ended is a delimiter row under a line with columns: only there does a table
// without outer bars show.
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

// drain lets the sentence scanner read on in a text block. After a cut the scanner
// starts again with the rest.
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

// skipLetters reads on in a word, whose letters decide nothing. Most of a text is that.
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

// giveUp takes what seemed to open a code span or link for plain text, and reads
// again from there.
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
	i, _ := slices.BinarySearch(c.plain, at)
	c.plain = slices.Insert(c.plain, i, at)
}

func (c *Chunker) isPlain(at int) bool {
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
// answer. Where nothing of it is spoken it is the silent beginning of the segment
// that follows.
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
