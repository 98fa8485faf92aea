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
	// A dollar next to a blank on its inner side is money.
	formula = regexp.MustCompile(`(?s)\$\$(.+?)\$\$|\\\[(.+?)\\\]|\\\((.+?)\\\)|\$([^\s$](?:[^$\n]*[^\s$\\])?)\$([^\w]|$)`)
	// A link whose address is elsewhere in the answer; chained indexing (a[i][j]) does
	// not match.
	reference = regexp.MustCompile(`(^|[^\w\])\\!])\[([^\[\]\n]+)\]\[[^\[\]\n]*\]`)
	footnote  = regexp.MustCompile(`\[\^[^\s\]]+\]:?`)
	note      = regexp.MustCompile(`^\[!([A-Za-z])([A-Za-z]+)\]`)
)

// maxFormula is the length in runes of the longest formula that is spoken.
const maxFormula = 24

// notation replaces notation that the Markdown library treats as text with words. Code
// spans are unchanged.
func (l *language) notation(src []byte) []byte {
	if !bytes.ContainsAny(src, `$[`) && !bytes.Contains(src, []byte(`\(`)) {
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
	if bytes.IndexByte(src, '$') >= 0 || bytes.Contains(src, []byte(`\(`)) || bytes.Contains(src, []byte(`\[`)) {
		src = formula.ReplaceAllFunc(src, func(found []byte) []byte {
			m := formula.FindSubmatch(found)
			tex := bytes.Join(m[1:5], nil)
			if !isFormula(string(tex)) {
				return found
			}
			return append([]byte(l.speakFormula(string(tex))), m[5]...)
		})
	}
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
