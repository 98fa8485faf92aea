package spoken

import (
	"bytes"
	"strings"
)

// kind is the kind of a block or of its first line.
type kind int

const (
	kindNone kind = iota // no block, or a blank line
	kindRule             // thematic break or underline of a heading
	kindText
	kindHeading
	kindFence
	kindIndented
	kindTable
)

// isText reports whether a block is read sentence by sentence.
func (k kind) isText() bool { return k == kindText || k == kindHeading }

// container is a block quote, or a list item if its lines are indented.
type container struct {
	quote  bool
	indent int // columns before the content of an item
}

// blocks is the state of the open blocks.
type blocks struct {
	kind  kind
	stack []container // around the block, outermost first
	fence []byte      // of kindFence: the opening fence
	depth int         // of kindFence: columns of indentation
}

// line is the classification of a line's beginning.
type line struct {
	kind   kind
	depth  int         // number of open containers that it continues
	opens  []container // containers that it opens
	item   bool        // one of opens is a list item
	number string      // of an ordered item
	box    byte        // of a task: the content of its box
	text   int         // position of the text, after all markers
	indent int         // columns before a fence
	closes bool        // it closes the open fence
}

const (
	blanks = " \t\r"
	// maxNumber is the maximum number of digits of an ordered item (CommonMark 5.2).
	maxNumber = 9
	// maxDepth limits the nesting, and so the work per line. Deeper markers are text.
	maxDepth = 32
)

var bullet = []byte("•")

// sort classifies a line. Unless whole, more of the line may follow, and it can be
// undecided. sort follows CommonMark, with exceptions for what assistants write: in an
// item a closing fence may be indented less than the item, a list may begin at any depth,
// and its marker may be a bullet character.
func (b *blocks) sort(src []byte, whole bool) (ln line, decided bool) {
	cur := cursor{src: src}
	if ln.depth, decided = b.enter(&cur, whole); !decided {
		return ln, false
	}
	if b.kind == kindFence && ln.depth == len(b.stack) {
		cur.take(min(cur.columns(), b.depth))
		ln.kind, ln.text = kindFence, cur.at
		ln.closes = closesFence(b.fence, src[cur.at:])
		return ln, whole
	}
	for {
		columns := cur.columns()
		rest := src[cur.first():]
		paragraph := b.kind == kindText && len(ln.opens) == 0 // the paragraph that the line may continue
		switch {
		case len(rest) == 0 && !whole:
			return ln, false
		case len(rest) == 0 || rest[0] == '\n':
			ln.text = cur.first()
			return ln, true
		case columns >= 4 && !paragraph:
			cur.take(4)
			ln.kind, ln.text = kindIndented, cur.at
			return ln, true
		}
		deep := columns >= 4 // a marker indented this far is text, except the marker of an item
		if rest[0] == '>' && !deep && ln.depth+len(ln.opens) < maxDepth {
			cur.take(columns)
			if cur.mark(1); cur.at == len(src) && !whole {
				return ln, false
			}
			cur.take(min(1, cur.columns()))
			ln.opens = append(ln.opens, container{quote: true})
			continue
		}
		ln.text = cur.first()
		within := paragraph && ln.depth == len(b.stack)
		if !deep || b.inItem() {
			width, number, ok := itemMark(rest, whole, within)
			if !ok {
				return ln, false
			}
			if width > 0 && ln.depth+len(ln.opens) < maxDepth {
				cur.take(columns)
				cur.mark(width)
				if !cur.enterItem(&ln, columns+width, whole) {
					return ln, false
				}
				ln.item, ln.number = true, number
				continue
			}
		}
		if !deep {
			ln.kind, decided = leafKind(rest, whole)
			ln.indent = columns
			if !decided || ln.kind != kindText {
				if ln.kind == kindHeading {
					ln.text += run(rest, '#')
				}
				return ln, decided
			}
		}
		ln.kind = kindText
		if b.kind == kindTable && ln.depth == len(b.stack) && len(ln.opens) == 0 {
			if bytes.IndexByte(rest, '|') >= 0 {
				ln.kind = kindTable
			}
			return ln, whole || ln.kind == kindTable
		}
		return ln, true
	}
}

// enter skips the markers of the open containers that the line continues.
func (b *blocks) enter(cur *cursor, whole bool) (depth int, decided bool) {
	for depth < len(b.stack) {
		columns, first := cur.columns(), cur.first()
		ended := first == len(cur.src)
		if ended && !whole {
			return depth, false
		}
		empty := ended || cur.src[first] == '\n'
		switch in := b.stack[depth]; {
		case in.quote:
			if empty || columns > 3 || cur.src[first] != '>' {
				return depth, true
			}
			cur.take(columns)
			if cur.mark(1); cur.at == len(cur.src) && !whole {
				return depth, false
			}
			cur.take(min(1, cur.columns()))
		case !empty && columns < in.indent && b.kind != kindFence:
			return depth, true
		default:
			cur.take(min(columns, in.indent))
		}
		depth++
	}
	return depth, true
}

// inItem reports whether the innermost container is an item.
func (b *blocks) inItem() bool {
	return len(b.stack) > 0 && !b.stack[len(b.stack)-1].quote
}

// leafKind classifies a line after its container markers.
func leafKind(rest []byte, whole bool) (k kind, decided bool) {
	switch c := rest[0]; c {
	case '`', '~':
		return fenceKind(rest, whole)
	case '#':
		n := run(rest, c)
		switch {
		case n > 6:
		case n == len(rest):
			return kindHeading, whole
		case strings.IndexByte(blanks+"\n", rest[n]) >= 0:
			return kindHeading, true
		}
	case '-', '*', '+', '_', '=':
		if onlyOf(rest, c) {
			return kindRule, whole
		}
	case '|':
		return kindTable, true
	}
	return kindText, true
}

// fenceKind distinguishes a code fence from a line that begins with a code span.
func fenceKind(rest []byte, whole bool) (k kind, decided bool) {
	c := rest[0]
	n := run(rest, c)
	switch {
	case n == len(rest) && !whole:
		return kindFence, false
	case n < 3, c == '`' && bytes.IndexByte(rest[n:], '`') >= 0:
		return kindText, true
	}
	return kindFence, whole
}

// itemMark returns the width of a list marker, or 0, and its number. Within a paragraph
// only an item with text starts a list, and only with the number 1, so that a wrapped
// "2024. Then" stays text.
func itemMark(rest []byte, whole, within bool) (width int, number string, decided bool) {
	n := 0
	switch c := rest[0]; {
	case bytes.HasPrefix(rest, bullet):
		n = len(bullet)
	case c == '-' || c == '*' || c == '+':
		n = 1
		if onlyOf(rest, c) { // or a rule
			if !whole {
				return 0, "", false
			}
			if len(bytes.TrimRight(rest, blanks+"\n")) > 1 || within {
				return 0, "", true
			}
		}
	case c >= '0' && c <= '9':
		for n < len(rest) && n <= maxNumber && rest[n] >= '0' && rest[n] <= '9' {
			n++
		}
		switch {
		case n > maxNumber || within && n < len(rest) && string(rest[:n]) != "1":
			return 0, "", true
		case n == len(rest):
			return 0, "", whole
		case rest[n] != '.' && rest[n] != ')':
			return 0, "", true
		}
		number = strings.TrimLeft(string(rest[:n-1]), "0") + string(rest[n-1:n])
		n++
		if within && len(bytes.Trim(rest[n:], blanks+"\n")) == 0 {
			return 0, "", whole
		}
	default:
		return 0, "", true
	}
	switch {
	case n == len(rest) && !whole:
		return 0, "", false
	case n < len(rest) && strings.IndexByte(blanks+"\n", rest[n]) < 0:
		return 0, "", true
	}
	return n, number, true
}

// onlyOf reports whether a line holds nothing but c and blanks.
func onlyOf(rest []byte, c byte) bool {
	for _, b := range rest {
		if b != c && b != ' ' && b != '\t' && b != '\r' && b != '\n' {
			return false
		}
	}
	return true
}

// run counts how often c repeats at the beginning of b.
func run(b []byte, c byte) int {
	n := 0
	for n < len(b) && b[n] == c {
		n++
	}
	return n
}

// closesFence reports whether a line ends the code block that fence opened.
func closesFence(fence, line []byte) bool {
	line = bytes.TrimSpace(line)
	n := run(line, fence[0])
	return n >= len(fence) && n == len(line)
}

// isDelimiterRow reports whether line is the second line of a table: dashes, colons and
// bars.
func isDelimiterRow(line []byte) bool {
	line = bytes.TrimSpace(line)
	return bytes.IndexByte(line, '-') >= 0 && bytes.IndexByte(line, '|') >= 0 && len(bytes.Trim(line, "-:| \t")) == 0
}

// cursor reads the markers at the beginning of a line. A tab advances to the next
// multiple of four columns, and can be consumed partly.
type cursor struct {
	src        []byte
	at, column int
	owed       int // columns of the tab before at that were not consumed
}

// first returns the position of the next non-blank byte.
func (c *cursor) first() int {
	at := c.at
	for at < len(c.src) && strings.IndexByte(blanks, c.src[at]) >= 0 {
		at++
	}
	return at
}

// columns counts the columns of the blanks ahead.
func (c *cursor) columns() int {
	n := c.owed
	for _, b := range c.src[c.at:c.first()] {
		n += width(b, c.column+n)
	}
	return n
}

func width(b byte, column int) int {
	if b == '\t' {
		return 4 - column%4
	}
	return 1
}

// take consumes n columns of blanks.
func (c *cursor) take(n int) {
	for n > 0 {
		if c.owed == 0 {
			c.owed = width(c.src[c.at], c.column)
			c.at++
		}
		step := min(n, c.owed)
		c.owed -= step
		c.column += step
		n -= step
	}
}

// mark consumes n bytes of a marker.
func (c *cursor) mark(n int) {
	c.at += n
	c.column += n
}

// enterItem consumes what lies between a list marker, which ends at column indent of its
// container, and the text: blanks and a task's box.
func (c *cursor) enterItem(ln *line, indent int, whole bool) (decided bool) {
	rest := c.src[c.first():]
	if len(rest) == 0 && !whole {
		return false
	}
	columns := c.columns()
	if len(rest) == 0 || rest[0] == '\n' || columns > 4 { // code follows
		c.take(min(1, columns))
		columns = 1
	} else {
		c.take(columns)
	}
	ln.opens = append(ln.opens, container{indent: indent + columns})
	const box = "[x]"
	switch n := len(rest); {
	case n == 0 || rest[0] != '[':
		return true
	case n < len(box)+1 && !whole && bytes.IndexByte(rest, '\n') < 0:
		return false
	case n < len(box) || rest[2] != ']' || strings.IndexByte(" xX", rest[1]) < 0 || n > len(box) && strings.IndexByte(blanks+"\n", rest[3]) < 0:
		return true
	}
	ln.box = rest[1]
	c.mark(len(box))
	return true
}
