package spoken

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// plainInline is a fast path for parse: it handles text whose only markup is code spans,
// emphasis, links with an address and backslashes, which is most of what assistants
// write. ok is false for other or ambiguous text, which goes to the library at ten times
// the cost.
func (l *language) plainInline(src []byte) (text string, ok bool) {
	var b strings.Builder
	b.Grow(len(src) + 16)
	stars := 0 // of the open emphasis
	for at := 0; at < len(src); {
		from := at
		for at < len(src) && src[at] != '!' && !isMarkup(src[at]) {
			at++
		}
		b.Write(src[from:at])
		if at == len(src) {
			break
		}
		rest := src[at:]
		switch c := rest[0]; {
		case c == '!' && (len(rest) == 1 || rest[1] != '['), c == '&' && len(rest) > 1 && rest[1] == ' ':
			b.WriteByte(c)
			at++
		case c == '_' && at > 0 && len(rest) > 1 && isLatin(rune(src[at-1])) && isLatin(rune(rest[1])):
			b.WriteByte(c)
			at++
		case c == '`':
			code, size := codeSpan(rest)
			if size == 0 {
				return "", false
			}
			b.WriteString(l.speakCode(code))
			at += size
		case c == '*' && stars == 0 && opens(src, at, run(rest, c)):
			stars = run(rest, c)
			at += stars
		case c == '*' && stars > 0 && stars == run(rest, c) && closes(src, at, stars):
			at += stars
			stars = 0
		case c == '\\' && len(rest) > 1 && isPunctuation(rest[1]) && rest[1] != '_' && rest[1] != '&':
			b.WriteByte(rest[1])
			at += 2
		case c == '<' && len(rest) > 1 && (rest[1] == ' ' || isDigit(rest[1]) || rest[1] == '='), c == '~' && bytes.Count(src, []byte("~")) == 1:
			b.WriteByte(c)
			at++
		case c == '[':
			label, size := plainLink(rest)
			if size == 0 {
				return "", false
			}
			b.Write(label)
			at += size
		default:
			return "", false
		}
	}
	return b.String(), stars == 0
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
			inner := bytes.ReplaceAll(src[n:at], []byte("\n"), []byte(" "))
			return string(inner), at + m
		}
		at += m
	}
	return "", 0
}

// isPunctuation reports whether a backslash escapes c.
func isPunctuation(c byte) bool {
	return c < utf8.RuneSelf && c > ' ' && c != 0x7f && !isLatin(rune(c)) && !isDigit(c)
}

// opens reports whether one or two stars unambiguously open emphasis.
func opens(src []byte, at, stars int) bool {
	if stars > 2 || at > 0 && src[at-1] != ' ' && src[at-1] != '(' || bytes.IndexByte(src, '\n') >= 0 {
		return false
	}
	r, _ := utf8.DecodeRune(src[at+stars:])
	return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '`'
}

// closes reports whether they close it.
func closes(src []byte, at, stars int) bool {
	before, _ := utf8.DecodeLastRune(src[:at])
	if unicode.IsSpace(before) || before == '*' || before == '\\' {
		return false
	}
	if at+stars == len(src) {
		return true
	}
	return strings.IndexByte(" .,;:!?)", src[at+stars]) >= 0
}

// plainLink returns the label of a link at the start of a text, and the length of the
// link; 0 if there is no link or the label contains markup.
func plainLink(src []byte) (label []byte, size int) {
	end := bytes.IndexByte(src, ']')
	if end < 2 || end+2 >= len(src) || src[end+1] != '(' {
		return nil, 0
	}
	label = src[1:end]
	if bytes.ContainsFunc(label, func(r rune) bool { return r < utf8.RuneSelf && isMarkup(byte(r)) || r == '\n' || r == '!' }) {
		return nil, 0
	}
	for i := end + 2; i < len(src); i++ {
		switch c := src[i]; {
		case c == ')' && i > end+2:
			return label, i + 1
		case c <= ' ', c == '(', c == ')', c == '<', c == '>', c == '\\', c == '&', c == '"', c == '\'', c >= utf8.RuneSelf:
			return nil, 0
		}
	}
	return nil, 0
}
