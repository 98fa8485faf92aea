package spoken

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// plainInline is a fast path for parse: it handles the markup of most answers. ok is false
// for other or ambiguous text, which goes to the library at ten times the cost.
func (l *language) plainInline(src []byte) (text string, ok bool) {
	out := make([]byte, 0, len(src)+16)
	// Without an address or a definition, a bracket opens no link.
	linked := bytes.Contains(src, []byte("](")) && bytes.IndexByte(src, ')') >= 0 || bytes.Contains(src, []byte("]:"))
	open, mark, end := 0, byte(0), 0 // the open emphasis: its length, its character, and where it ends if it begins a line
	for at := 0; at < len(src); {
		from := at
		for at < len(src) && src[at] != '!' && !isMarkup(src[at]) {
			at++
		}
		out = append(out, src[from:at]...)
		if at == len(src) {
			break
		}
		rest, c, size, n := src[at:], src[at], 1, 0
		if isEmphasis(c) {
			n = run(rest, c)
		}
		switch {
		case c == '[' && !linked, isLiteral(src, at):
			out = append(out, c)
		case c == '`':
			var code string
			code, size = codeSpan(rest)
			out = append(out, l.speakCode(code)...)
		case c == '[':
			out, size = l.plainLink(out, rest)
		case c == '!':
			if out, size = l.plainLink(out, rest[1:]); size > 0 {
				size++
			}
		case c == '<':
			out, size = l.plainTag(out, rest)
		case c == '\\' && len(rest) > 1 && isPunctuation(rest[1]) && rest[1] != '&':
			out, size = append(out, rest[1]), 2
		case open == 0 && opens(src, at, n):
			open, mark, size = n, c, n
			if end, ok = boldEnd(src, at, n); !ok {
				return "", false
			}
			if end > 0 && src[end-1] == ':' { // see isLabel
				out = append(out[:len(out)-1], ". "...)
			}
		case open == n && mark == c && closes(src, at, n) && (end == 0 || end == at):
			open, size = 0, n
		default:
			return "", false
		}
		if size == 0 {
			return "", false
		}
		at += size
	}
	return string(out), open == 0
}

// isLiteral reports whether the markup character at position at of src stands for itself.
func isLiteral(src []byte, at int) bool {
	rest, next := src[at:], byte(' ')
	if len(rest) > 1 {
		next = rest[1]
	}
	switch rest[0] {
	case '!':
		return next != '['
	case '&':
		return !isLatin(rune(next)) && next != '#'
	case '_':
		return at > 0 && isLatin(rune(src[at-1])) && isLatin(rune(next))
	case '~':
		return bytes.Count(src, []byte("~")) == 1
	case '<':
		return next == ' ' || isDigit(next) || next == '=' || bytes.IndexByte(rest, '>') < 0
	case '\\':
		return isLatin(rune(next)) || isDigit(next)
	}
	return false
}

// boldEnd returns where bold text ends that begins at position at of src, if it begins a
// line other than the first, or 0.
func boldEnd(src []byte, at, marks int) (end int, ok bool) {
	line := bytes.TrimRight(src[:at], " ")
	switch {
	case src[at] != '*' || marks != 2 || len(line) < 2 || line[len(line)-1] != '\n':
		return 0, true
	case len(line) < at || line[at-2] <= ' ' || line[at-2] == '>':
		return 0, false
	}
	end = bytes.Index(src[at+marks:], []byte("**"))
	return at + marks + end, end > 0
}

// codeSpan returns the code of a span at the start of a text, and the length of the span,
// or 0.
func codeSpan(src []byte) (code string, size int) {
	n := run(src, '`')
	for at := n; at < len(src); {
		next := bytes.IndexByte(src[at:], '`')
		if next < 0 {
			return "", 0
		}
		at += next
		m := run(src[at:], '`')
		if m == n {
			return strings.ReplaceAll(string(src[n:at]), "\n", " "), at + m
		}
		at += m
	}
	return "", 0
}

// isPunctuation reports whether a backslash escapes c.
func isPunctuation(c byte) bool {
	return c < utf8.RuneSelf && c > ' ' && c != 0x7f && !isLatin(rune(c)) && !isDigit(c)
}

func isEmphasis(c byte) bool { return c == '*' || c == '_' || c == '~' }

// opens reports whether one or two emphasis marks unambiguously open emphasis.
func opens(src []byte, at, marks int) bool {
	if !isEmphasis(src[at]) || marks > 2 || at > 0 && strings.IndexByte(" (\n", src[at-1]) < 0 {
		return false
	}
	r, _ := utf8.DecodeRune(src[at+marks:])
	return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '`' || r == '['
}

// closes reports whether they close it.
func closes(src []byte, at, marks int) bool {
	before, _ := utf8.DecodeLastRune(src[:at])
	if unicode.IsSpace(before) || before == rune(src[at]) || before == '\\' {
		return false
	}
	return at+marks == len(src) || strings.IndexByte(" \n.,;:!?)", src[at+marks]) >= 0
}

// plainLink appends the label of a link at the start of a text, and returns the length of
// the link; 0 if there is no link or its label is ambiguous.
func (l *language) plainLink(out, src []byte) (said []byte, size int) {
	end := bytes.Index(src, []byte("]("))
	if end < 2 || bytes.ContainsAny(src[1:end], "[]\n!<") {
		return nil, 0
	}
	for i := end + 2; i < len(src); i++ {
		switch c := src[i]; {
		case c == ')' && i > end+2:
			if label, ok := l.plainInline(src[1:end]); ok {
				return append(out, label...), i + 1
			}
			return nil, 0
		case c <= ' ', c == '(', c == ')', c == '<', c == '>', c == '\\', c == '&', c == '"', c == '\'', c >= utf8.RuneSelf:
			return nil, 0
		}
	}
	return nil, 0
}

// plainTag appends what is said for an HTML tag without attributes, a comment or the
// address in angle brackets at the start of a text, and returns its length, or 0.
func (l *language) plainTag(out, src []byte) (said []byte, size int) {
	end := bytes.IndexByte(src, '>')
	text := src[:end+1]
	switch {
	case bytes.HasPrefix(src, []byte("<!--")):
		_, after, found := bytes.Cut(src[2:], []byte("-->"))
		if !found {
			return nil, 0
		}
		return out, len(src) - len(after)
	case bytes.HasPrefix(src, []byte("<https://")), bytes.HasPrefix(src, []byte("<http://")):
		if bytes.ContainsFunc(text[1:], func(r rune) bool { return r <= ' ' || r == '<' || r == 0x7f }) {
			return nil, 0
		}
		return append(out, text[1:end]...), len(text)
	}
	if !isTagName(strings.TrimPrefix(string(text[1:end]), "/")) {
		return nil, 0
	}
	return append(out, l.speakTag(string(out), string(text))...), len(text)
}
