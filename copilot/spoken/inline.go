package spoken

import (
	"bytes"
	"net/url"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// inlineParser knows paragraphs only: the blocks were sorted before, and a
// sentence from the middle of a text that looks like a list must not become one.
// It is safe for concurrent use.
var inlineParser = parser.NewParser(
	parser.WithBlockParsers(util.Prioritized(parser.NewParagraphParser(), 1000)),
	parser.WithInlineParsers(append(parser.DefaultInlineParsers(),
		util.Prioritized(extension.NewStrikethroughParser(), 500))...),
)

// maxParsed is the largest piece in bytes that is parsed at once. The parser
// takes quadratic time for some texts ("[a](" repeated), and a text without any
// blank is not cut before.
const maxParsed = 8 << 10

// inline returns the speakable text of inline Markdown.
func (l *language) inline(src []byte) string {
	src = bytes.ToValidUTF8(src, nil)
	var b strings.Builder
	for len(src) > 0 {
		n := min(len(src), maxParsed)
		for n < len(src) && !utf8.RuneStart(src[n]) {
			n--
		}
		l.parse(&b, src[:n])
		src = src[n:]
	}
	return l.clean(l.hosts(b.String()))
}

func (l *language) parse(b *strings.Builder, src []byte) {
	doc := inlineParser.Parse(text.NewReader(src))
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		return l.speakNode(b, n, src), nil
	})
}

func (l *language) speakNode(b *strings.Builder, n ast.Node, src []byte) ast.WalkStatus {
	switch n := n.(type) {
	case *ast.Paragraph:
		b.WriteByte(' ')
	case *ast.Text:
		b.Write(util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(n.Segment.Value(src)))))
		if n.SoftLineBreak() || n.HardLineBreak() {
			b.WriteByte(' ')
		}
	case *ast.String:
		b.Write(n.Value)
	case *ast.CodeSpan:
		b.WriteString(l.speakCode(string(codeText(n, src))))
		return ast.WalkSkipChildren
	case *ast.Image:
		if n.ChildCount() == 0 {
			b.WriteString(l.image)
		}
	case *ast.AutoLink:
		if n.AutoLinkType == ast.AutoLinkEmail {
			name, host, _ := strings.Cut(string(n.Label(src)), "@")
			b.WriteString(l.dots(name) + " " + l.at + " " + l.dots(host))
		} else {
			b.Write(n.URL(src))
		}
		return ast.WalkSkipChildren
	case *ast.RawHTML:
		if tag := string(n.Segments.Value(src)); strings.HasPrefix(strings.ToLower(tag), "<br") {
			b.WriteByte(' ')
		}
		return ast.WalkSkipChildren
	}
	return ast.WalkContinue
}

func codeText(n *ast.CodeSpan, src []byte) []byte {
	var out []byte
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			out = append(out, t.Segment.Value(src)...)
		}
	}
	return out
}

// urlPattern finds URLs in text. In Chinese and Japanese the text goes on behind
// a URL without a blank.
var urlPattern = regexp.MustCompile(`(?i)\b(?:[a-z][a-z0-9+]*://|www\.)[^\s<>"\p{Han}\p{Hiragana}\p{Katakana}\x{3000}-\x{303f}\x{ff00}-\x{ffef}]+`)

// hosts replaces each URL with its host, the part of it that can be spoken.
func (l *language) hosts(s string) string {
	if !strings.Contains(s, "://") && !strings.Contains(strings.ToLower(s), "www.") {
		return s
	}
	return urlPattern.ReplaceAllStringFunc(s, func(link string) string {
		trimmed := strings.TrimRight(link, ".,;:!?)]}'*_")
		rest := link[len(trimmed):]
		if !strings.Contains(trimmed, "://") {
			trimmed = "https://" + trimmed
		}
		u, err := url.Parse(trimmed)
		if err != nil || u.Hostname() == "" {
			return link
		}
		return l.dots(strings.TrimPrefix(strings.ToLower(u.Hostname()), "www.")) + rest
	})
}

func (l *language) dots(name string) string {
	return strings.ReplaceAll(name, ".", " "+l.dot+" ")
}

// clean drops what cannot be spoken: emoji, control characters, and marks that
// had no partner because their emphasis reaches over several sentences. White
// space becomes single blanks.
func (l *language) clean(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	blank, dropped := false, false // owed blank; a symbol was dropped just before
	put := func(r rune) {
		if blank && b.Len() > 0 && (!dropped || !strings.ContainsRune(".,;:!?)", r)) {
			b.WriteByte(' ')
		}
		blank, dropped = false, false
		b.WriteRune(r)
	}
	prev := ' '
	for i, r := range s {
		next := ' '
		if at := i + utf8.RuneLen(r); at < len(s) {
			next, _ = utf8.DecodeRuneInString(s[at:])
		}
		switch {
		case unicode.IsSpace(r):
			blank = true
		case isArrow(r):
			blank = true
			for _, a := range l.to {
				put(a)
			}
			blank = true
		case isEmoji(r):
			dropped = true
		case r == '\u200c' || r == '\u200d':
			// Between letters of Persian or Indic scripts a joiner changes the word.
			if isWordRune(prev) && isWordRune(next) && prev > 0x7f {
				put(r)
			}
		case r == utf8.RuneError, r == '`', unicode.IsControl(r), unicode.Is(unicode.Cf, r):
		case isMark(r) && !keepsMark(prev, r, next):
		default:
			put(r)
		}
		prev = r
	}
	return strings.TrimSpace(b.String())
}

func isMark(r rune) bool { return r == '*' || r == '_' || r == '~' }

// keepsMark tells an operator or part of a name (2 * 3, a_b, ~5, ~/src) from a
// left-over mark of emphasis.
func keepsMark(prev, r, next rune) bool {
	if prev == r || next == r {
		return false
	}
	if r == '~' {
		return unicode.IsDigit(next) || next == '/'
	}
	return isWordRune(prev) && isWordRune(next) || r == '*' && unicode.IsSpace(prev) && unicode.IsSpace(next)
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

func isArrow(r rune) bool { return r == '→' || r == '⇒' || r == '➜' || r == '➔' }

// isEmoji knows pictures and ornaments by block: the Unicode category So also
// holds signs that are spoken, such as the degree sign.
func isEmoji(r rune) bool {
	switch {
	case r >= 0x1F000 && r <= 0x1FAFF, r >= 0x2600 && r <= 0x27BF, r >= 0x2B00 && r <= 0x2BFF,
		r >= 0x2300 && r <= 0x23FF, r >= 0x2500 && r <= 0x25FF,
		r >= 0xFE00 && r <= 0xFE0F, r == 0x20E3, r >= 0xE0000 && r <= 0xE007F:
		return true
	}
	return r == '•' || r == '·'
}
