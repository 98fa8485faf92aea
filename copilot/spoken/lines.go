package spoken

import (
	"bytes"
	"strings"
)

// blockKind is what a run of lines is.
type blockKind int

const (
	blockNone blockKind = iota
	blockText
	blockItem
	blockHeading
	blockFence
	blockIndented
	blockTable
)

type block struct {
	kind  blockKind
	quote bool   // the block opened with a quote mark
	first bool   // nothing of the block was emitted yet: its marker is still there
	line  bool   // what was not emitted begins with a line, and with its quote mark
	lead  string // of an item whose marker was cut off alone: it is said with what follows
}

// isText says that the block is read sentence by sentence.
func (b block) isText() bool {
	return b.kind == blockText || b.kind == blockItem || b.kind == blockHeading
}

// lineKind is what the beginning of a line says about it.
type lineKind int

const (
	lineOpen lineKind = iota // cannot be said yet
	lineBlank
	lineRule // thematic break or underline of a heading
	lineText
	lineItem
	lineHeading
	lineFence
	lineIndented
	lineRow
)

var blockOf = map[lineKind]blockKind{
	lineText: blockText, lineItem: blockItem, lineHeading: blockHeading,
	lineFence: blockFence, lineIndented: blockIndented, lineRow: blockTable,
}

type lineContext struct {
	block  block
	inList bool
}

type lineInfo struct {
	kind   lineKind
	skip   string // of lineOpen: more of these runes leave it open
	text   int    // where the text begins, after all marks
	quote  bool
	indent int // columns of blanks before anything else
}

const (
	untilNewline  = "\n"  // in lineInfo.skip: all runes up to the newline
	untilBacktick = "\n`" // in lineInfo.skip: all runes up to a backtick or the newline
	blanks        = " \t\r"
	// maxNumber is how many digits an ordered item can have (CommonMark 5.2).
	maxNumber = 9
)

// classifyLine sorts a line by its beginning. With whole false there may be more
// of the line to come, and the answer can be lineOpen.
func classifyLine(line []byte, whole bool, ctx lineContext) lineInfo {
	text, quote, indent := unquote(line)
	rest := bytes.TrimRight(line[text:], "\n")
	info := func(k lineKind, mark int) lineInfo {
		return lineInfo{kind: k, text: text + mark, quote: quote, indent: indent}
	}
	open := func(skip string) lineInfo { return lineInfo{kind: lineOpen, skip: skip} }
	if len(bytes.TrimLeft(rest, blanks)) == 0 {
		if whole {
			return info(lineBlank, 0)
		}
		return open(blanks + ">")
	}
	if indent >= 4 && !quote && !ctx.inList && (ctx.block.kind == blockNone || ctx.block.kind == blockIndented) {
		return info(lineIndented, 0)
	}
	if ctx.block.kind == blockTable && rest[0] != '|' && !whole {
		return open(untilNewline) // only the whole row shows its columns
	}
	switch c := rest[0]; c {
	case '`', '~':
		return classifyFence(rest, whole, info, open)
	case '#':
		n := run(rest, c)
		switch {
		case n > 6:
		case n == len(rest) && !whole:
			return open("")
		case n == len(rest), strings.IndexByte(blanks, rest[n]) >= 0:
			return info(lineHeading, n)
		}
	case '-', '*', '+', '_', '=':
		if ln, ok := classifyMark(rest, whole, info, open); ok {
			return ln
		}
	case '|':
		return info(lineRow, 0)
	default:
		if ln, ok := classifyNumber(rest, whole, ctx, info, open); ok {
			return ln
		}
	}
	if ctx.block.kind == blockTable && bytes.IndexByte(rest, '|') >= 0 {
		return info(lineRow, 0)
	}
	return info(lineText, 0)
}

type (
	infoFunc func(kind lineKind, mark int) lineInfo
	openFunc func(skip string) lineInfo
)

// classifyFence tells a code fence from a line that begins with a code span.
func classifyFence(rest []byte, whole bool, info infoFunc, open openFunc) lineInfo {
	c := rest[0]
	n := run(rest, c)
	switch {
	case n < 3 && (n < len(rest) || whole):
		return info(lineText, 0)
	case n == len(rest) && !whole:
		return open(string(c))
	case c == '`' && bytes.IndexByte(rest[n:], '`') >= 0:
		return info(lineText, 0)
	case c == '`' && !whole:
		return open(untilBacktick)
	}
	return info(lineFence, 0)
}

// classifyMark knows bullets, thematic breaks and underlines.
func classifyMark(rest []byte, whole bool, info infoFunc, open openFunc) (lineInfo, bool) {
	c := rest[0]
	if onlyOf := string(c) + blanks; len(bytes.Trim(rest, onlyOf)) == 0 {
		if !whole {
			return open(onlyOf), true
		}
		return info(lineRule, 0), true // or an empty item: nothing to speak either
	}
	if c != '_' && c != '=' && strings.IndexByte(blanks, rest[1]) >= 0 {
		return info(lineItem, 1), true
	}
	return lineInfo{}, false
}

// classifyNumber knows ordered items. In the middle of a paragraph only the
// number 1 begins a list, so that a wrapped "2024. Then" stays text.
func classifyNumber(rest []byte, whole bool, ctx lineContext, info infoFunc, open openFunc) (lineInfo, bool) {
	n := 0
	for n < len(rest) && rest[n] >= '0' && rest[n] <= '9' {
		n++
	}
	if n == 0 || n > maxNumber || ctx.block.kind == blockText && string(rest[:n]) != "1" && n < len(rest) {
		return lineInfo{}, false
	}
	switch {
	case n == len(rest):
		return open(""), !whole
	case rest[n] != '.' && rest[n] != ')':
		return lineInfo{}, false
	case n+1 == len(rest):
		return open(""), !whole
	}
	return info(lineItem, n+1), strings.IndexByte(blanks, rest[n+1]) >= 0
}

// unquote skips indentation and quote marks. It returns where the text begins,
// whether a mark was there, and the columns of the indentation before all.
func unquote(line []byte) (text int, quote bool, indent int) {
	for i, b := range line {
		switch b {
		case ' ':
			if !quote {
				indent++
			}
		case '\t':
			if !quote {
				indent += 4
			}
		case '>':
			quote = true
		default:
			return i, quote, indent
		}
	}
	return len(line), quote, indent
}

// run counts how often c stands at the beginning of b.
func run(b []byte, c byte) int {
	n := 0
	for n < len(b) && b[n] == c {
		n++
	}
	return n
}

// closesFence reports whether the line of block that begins at position line
// ends the code block, whose first line is the opening fence.
func closesFence(block []byte, line int) bool {
	if line == 0 {
		return false
	}
	text, _, _ := unquote(block)
	fence := block[text:]
	text, _, _ = unquote(block[line:])
	last := block[line+text:]
	n := run(last, fence[0])
	return n >= run(fence, fence[0]) && len(bytes.TrimSpace(last[n:])) == 0
}

// isDelimiterRow knows the second line of a table: dashes, colons and bars.
func isDelimiterRow(line []byte) bool {
	line = bytes.TrimSpace(line)
	return bytes.IndexByte(line, '-') >= 0 && bytes.IndexByte(line, '|') >= 0 && len(bytes.Trim(line, "-:| \t")) == 0
}

func lastLine(b []byte) []byte {
	return b[bytes.LastIndexByte(b, '\n')+1:]
}
