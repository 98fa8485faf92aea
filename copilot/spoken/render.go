package spoken

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// render returns what to speak for a piece of a block, "" for nothing. last says
// that the block ends with the piece.
func (l *language) render(src []byte, b block, last bool) (string, Class) {
	//exhaustive:enforce
	switch b.kind {
	case blockNone, blockText:
	case blockFence:
		return l.renderFence(src), ClassCode
	case blockIndented:
		return l.block("", countLines(src)), ClassCode
	case blockTable:
		return l.renderTable(src), ClassNotice
	case blockItem:
		return l.renderItem(src, b, last), ClassList
	case blockHeading:
		return l.renderHeading(src, b, last), ClassHeading
	}
	return l.inline(unquoteAll(src, b)), ClassProse
}

func (l *language) renderFence(src []byte) string {
	src = bytes.TrimSuffix(src, []byte("\n"))
	text, _, _ := unquote(src)
	head, body, _ := bytes.Cut(src[text:], []byte("\n"))
	if last := lastLine(src); closesFence(src, len(src)-len(last)) {
		body = body[:max(0, len(body)-len(last)-1)]
	}
	if len(bytes.TrimSpace(body)) == 0 {
		return ""
	}
	return l.block(languageName(string(bytes.TrimLeft(head, "`~"))), countLines(body))
}

// countLines counts the lines of a block, without blank ones at its ends.
func countLines(src []byte) int {
	return bytes.Count(bytes.Trim(src, "\r\n"), []byte("\n")) + 1
}

func (l *language) renderHeading(src []byte, b block, last bool) string {
	text := src
	if b.first {
		at, _, _ := unquote(src)
		text = bytes.TrimLeft(src[at:], "#")
	}
	text = bytes.TrimSpace(text)
	if !last {
		return l.inline(text)
	}
	if end := bytes.TrimRight(text, "#"); len(end) == 0 || end[max(0, len(end)-1)] == ' ' {
		text = end
	}
	return closed(l.inline(text))
}

// renderItem speaks an ordered item with its number and says of a task whether
// it is done.
func (l *language) renderItem(src []byte, b block, last bool) string {
	lead, text := l.itemLead(src, b)
	s := l.inline(text)
	if s == "" {
		return ""
	}
	if last {
		s = closed(s)
	}
	return lead + s
}

// itemLead is what is said before the text of an item, and the text.
func (l *language) itemLead(src []byte, b block) (lead string, text []byte) {
	if !b.first {
		return b.lead, unquoteAll(src, b)
	}
	at, _, _ := unquote(src)
	rest := src[at+1:]
	if n := len(src[at:]) - len(bytes.TrimLeft(src[at:], "0123456789")); n > 0 {
		number := src[at : at+n]
		rest = src[at+n+1:]
		lead = strings.TrimLeft(string(number[:n-1]), "0") + string(number[n-1:]) + ". "
	}
	text = bytes.TrimSpace(unquoteAll(rest, b))
	if len(text) > 3 && strings.IndexByte(blanks+"\n", text[3]) < 0 {
		return lead, text
	}
	switch string(text[:min(3, len(text))]) { // it may have been cut off alone
	case "[ ]":
		return lead + l.todo, bytes.TrimSpace(text[3:])
	case "[x]", "[X]":
		return lead + l.done, bytes.TrimSpace(text[3:])
	}
	return lead, text
}

// closed ends s with a full stop, so that a synthesiser pauses after headings
// and items.
func closed(s string) string {
	if last, _ := utf8.DecodeLastRuneInString(s); last == '"' || last == '”' {
		return s
	}
	r, _ := utf8.DecodeLastRuneInString(strings.TrimRightFunc(s, isCloser))
	if isWordRune(r) || unicode.IsNumber(r) {
		return s + "."
	}
	return s
}

// unquoteAll takes the quote marks off the lines of a quote.
func unquoteAll(src []byte, b block) []byte {
	if !b.quote {
		return src
	}
	out := make([]byte, 0, len(src))
	for i, line := range bytes.SplitAfter(src, []byte("\n")) {
		text := 0
		if i > 0 || b.first || b.line {
			text, _, _ = unquote(line)
		}
		out = append(out, line[text:]...)
	}
	return out
}

// Tables of up to this size are read row by row, larger ones summarised.
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
		text, _, _ := unquote(line)
		line = bytes.TrimSpace(line[text:])
		if len(line) == 0 {
			continue
		}
		if isDelimiterRow(line) && len(rows) == 1 && !header {
			header = true
			continue
		}
		rows = append(rows, l.cells(line))
	}
	if !header { // bars, but no table
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

// cells splits a row at its bars; an escaped one belongs to the cell.
func (l *language) cells(line []byte) []string {
	const bar = "\x00"
	row := strings.ReplaceAll(string(line), `\|`, bar)
	row = strings.TrimSuffix(strings.TrimPrefix(row, "|"), "|")
	var cells []string
	for cell := range strings.SplitSeq(row, "|") {
		cells = append(cells, l.inline([]byte(strings.ReplaceAll(cell, bar, "|"))))
	}
	return cells
}

// joinRows reads rows one by one, each cell with the name of its column.
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
