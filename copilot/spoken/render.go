package spoken

import (
	"bytes"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// render returns the spoken text of a piece of the open block, or "". last means that the
// block ends with the piece.
func (c *Chunker) render(src []byte, last bool) (text string, class Class) {
	if src = c.withoutThoughts(src); c.thought && len(src) == 0 {
		return "", ClassProse
	}
	//exhaustive:enforce
	switch c.kind {
	case kindNone, kindRule, kindText:
		text, class = c.lang.inline(src), ClassProse
		if c.item {
			class = ClassList
		}
		if c.item && last {
			text = closed(text)
		}
	case kindFence, kindIndented:
		text, class = c.renderCode(src), ClassCode
	case kindTable:
		text, class = c.lang.renderTable(src), ClassNotice
	case kindHeading:
		text, class = c.lang.renderHeading(src, last), ClassHeading
	}
	if text = pronounced(text, c.opts.Lexicon); text != "" {
		text, c.lead = c.lead+text, ""
	}
	return text, class
}

// thinkTags delimit the reasoning of a model, which is not part of its answer.
var thinkTags = regexp.MustCompile(`(?i)^\s*<(think|thinking|thought|reasoning)\s*>|</(?:think|thinking|thought|reasoning)\s*>`)

// withoutThoughts removes the reasoning of a model. It begins where a block does: elsewhere a
// text is about the tag.
func (c *Chunker) withoutThoughts(src []byte) []byte {
	if !c.kind.isText() {
		if c.thought {
			return nil
		}
		return src
	}
	if !c.thought && (c.body > 0 || bytes.IndexByte(src, '<') < 0) {
		return src
	}
	var out []byte
	for len(src) > 0 {
		tag := thinkTags.FindSubmatchIndex(src)
		switch {
		case tag == nil && c.thought:
			return out
		case tag == nil:
			return append(out, src...)
		case tag[2] >= 0: // it opens
			c.thought = true
		case c.thought:
			c.thought = false
		default: // a tag that nothing opened
			return append(out, src...)
		}
		src = src[tag[1]:]
	}
	return out
}

func (l *language) renderHeading(text []byte, last bool) string {
	text = bytes.TrimSpace(text)
	if !last {
		return l.inline(text)
	}
	if end := bytes.TrimRight(text, "#"); len(end) == 0 || end[len(end)-1] == ' ' {
		text = end
	}
	return closed(l.inline(text))
}

// closed ends s with a full stop, so that a synthesiser pauses after headings and items.
func closed(s string) string {
	if last, _ := utf8.DecodeLastRuneInString(s); last == '"' || last == '”' {
		return s
	}
	r, _ := utf8.DecodeLastRuneInString(strings.TrimRightFunc(s, isCloser))
	switch {
	case isWideLetter(r):
		return s + "。"
	case isWordRune(r) || unicode.IsNumber(r):
		return s + "."
	}
	return s
}

// Tables up to this size are read row by row; larger ones are summarised.
const (
	maxReadRows  = 3
	maxReadCells = 9
	maxReadChars = 240
	maxColumns   = 6
)

func (l *language) renderTable(src []byte) string {
	var rows [][]string
	header := false
	for line := range bytes.Lines(src) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		if isDelimiterRow(line) && len(rows) == 1 && !header {
			header = true
			continue
		}
		rows = append(rows, l.cells(line))
	}
	if !header { // bars without a table
		if read := joinRows(rows, nil); len(read) <= maxReadChars {
			return read
		}
		return l.table(len(rows), nil)
	}
	columns, rows := rows[0], rows[1:]
	read := joinRows(rows, columns)
	if len(rows) > 0 && len(rows) <= maxReadRows && len(rows)*len(columns) <= maxReadCells && len(read) <= maxReadChars {
		return read
	}
	columns = named(columns)
	if len(columns) > maxColumns || len(strings.Join(columns, ", ")) > maxReadChars {
		columns = nil
	}
	return l.table(len(rows), columns)
}

// cells splits a row at its unescaped bars.
func (l *language) cells(line []byte) []string {
	const bar = "\x00"
	row := strings.ReplaceAll(string(line), `\|`, bar)
	row = strings.TrimSuffix(strings.TrimPrefix(row, "|"), "|")
	var cells []string
	for cell := range strings.SplitSeq(row, "|") {
		if mark := l.marks[strings.Trim(cell, " \t*\ufe0f")]; mark != "" {
			cells = append(cells, mark)
			continue
		}
		cells = append(cells, l.inline([]byte(strings.ReplaceAll(cell, bar, "|"))))
	}
	return cells
}

// checkMarks maps cells that consist only of a check mark or cross to words.
func checkMarks(yes, no string) map[string]string {
	return map[string]string{"✅": yes, "✔": yes, "✓": yes, "☑": yes, "❌": no, "✗": no, "✘": no, "✖": no}
}

// joinRows reads rows one by one, each cell with its column name.
func joinRows(rows [][]string, columns []string) string {
	var out []string
	for _, row := range rows {
		var parts []string
		for i, cell := range row {
			switch {
			case cell == "":
			case i < len(columns) && columns[i] != "":
				parts = append(parts, columns[i]+": "+cell)
			default:
				parts = append(parts, cell)
			}
		}
		if len(parts) > 0 {
			out = append(out, strings.Join(parts, ", "))
		}
	}
	return closed(strings.Join(out, ". "))
}

func named(columns []string) []string {
	var out []string
	for _, c := range columns {
		if c != "" {
			out = append(out, c)
		}
	}
	return out
}
