package spoken

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Notation that the Markdown library leaves as text: formulas, footnotes, reference links
// and note labels.
var (
	// A link whose address is elsewhere in the answer; chained indexing (a[i][j]) does
	// not match.
	reference = regexp.MustCompile(`(^|[^\w\])\\!])\[([^\[\]\n]+)\]\[[^\[\]\n]*\]`)
	footnote  = regexp.MustCompile(`\[\^[^\s\]]+\]:?`)
	// An environment of LaTeX without dollars around it.
	environment = regexp.MustCompile(`(?s)\\begin\{\w+\*?\}.*?\\end\{\w+\*?\}`)
	note        = regexp.MustCompile(`^\[!([A-Za-z])([A-Za-z]+)\]`)
)

// maxFormula is the length in runes of the longest formula that is spoken.
const maxFormula = 24

// notation replaces notation that the Markdown library treats as text with words. Code
// spans are unchanged.
func (l *language) notation(src []byte) []byte {
	if bytes.IndexByte(src, '$') < 0 && bytes.IndexByte(src, '[') < 0 && !bytes.Contains(src, []byte(`\(`)) && !bytes.Contains(src, []byte(`\begin{`)) {
		return src
	}
	var out []byte
	for len(src) > 0 {
		at := bytes.IndexByte(src, '`')
		if at < 0 {
			return append(out, l.notationOfText(src, len(out) == 0)...)
		}
		n := run(src[at:], '`')
		code := at + n
		if end := bytes.Index(src[code:], src[at:code]); end >= 0 {
			code += end + n
		}
		out = append(out, l.notationOfText(src[:at], len(out) == 0)...)
		out = append(out, src[at:code]...)
		src = src[code:]
	}
	return out
}

func (l *language) notationOfText(src []byte, first bool) []byte {
	if bytes.Contains(src, []byte(`\begin{`)) {
		src = environment.ReplaceAllLiteral(src, []byte(l.formula))
	}
	src = l.formulas(src)
	if bytes.Contains(src, []byte("[^")) {
		src = footnote.ReplaceAll(src, nil)
	}
	if bytes.Contains(src, []byte("][")) {
		src = reference.ReplaceAll(src, []byte("$1$2"))
	}
	if !first || !bytes.HasPrefix(src, []byte("[!")) {
		return src
	}
	if m := note.FindSubmatch(src); m != nil {
		src = slices.Concat(bytes.ToUpper(m[1]), bytes.ToLower(m[2]), []byte(":"), src[len(m[0]):])
	}
	return src
}

// formulas puts formulas into words.
func (l *language) formulas(src []byte) []byte {
	var out []byte
	from := 0
	for at := 0; at < len(src); {
		next := bytes.IndexAny(src[at:], `$\`)
		if next < 0 {
			break
		}
		at += next
		open, size := formulaAt(src[at:])
		if size == 0 {
			at++
			continue
		}
		if tex := string(src[at+open : at+size-open]); isFormula(tex) {
			out = append(append(out, src[from:at]...), l.speakFormula(tex)...)
			from = at + size
		}
		_, after := utf8.DecodeRune(src[at+size:])
		at += size
		if open == 1 {
			at += after // it is no part of the next formula
		}
	}
	if from == 0 {
		return src
	}
	return append(out, src[from:]...)
}

// formulaEnds are the ends of formulas by their beginnings. A formula also stands between
// single dollars.
var formulaEnds = map[string]string{"$$": "$$", `\[`: `\]`, `\(`: `\)`}

// formulaAt returns the length of the formula at the start of a text, or 0, and of each of
// its delimiters. A dollar next to a blank on its inner side is money.
func formulaAt(src []byte) (delimiter, size int) {
	const space = " \t\r\n\f"
	if end := formulaEnds[string(src[:min(2, len(src))])]; end != "" && len(src) > 3 {
		if n := bytes.Index(src[3:], []byte(end)); n >= 0 {
			return len(end), 3 + n + len(end)
		}
	}
	n := bytes.IndexByte(src[1:], '$')
	if src[0] != '$' || n < 1 {
		return 0, 0
	}
	tex, after := src[1:n+1], src[n+2:]
	switch first, last := tex[0], tex[n-1]; {
	case strings.IndexByte(space, first) >= 0, strings.IndexByte(space, last) >= 0, bytes.IndexByte(tex, '\n') >= 0,
		n > 1 && last == '\\', len(after) > 0 && (isLatin(rune(after[0])) || isDigit(after[0]) || after[0] == '_'):
		return 0, 0
	}
	return 1, n + 2
}

// isFormula distinguishes a formula from prices and escaped brackets.
func isFormula(tex string) bool {
	if first := tex[0]; first >= '0' && first <= '9' {
		return strings.ContainsAny(tex, `\^`)
	}
	return len(tex) == 1 || strings.ContainsAny(tex, `\^_={}<>+/|(`)
}

// speakFormula speaks a short formula, and only announces a longer one.
func (l *language) speakFormula(tex string) string {
	tex = strings.TrimSpace(tex)
	if utf8.RuneCountInString(tex) > maxFormula || strings.ContainsAny(tex, `{}_&`) {
		return l.formula
	}
	return l.speakCode(strings.ReplaceAll(strings.ReplaceAll(tex, `\`, ""), "^", " "+l.power+" "))
}
