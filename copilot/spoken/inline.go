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

// inlineParser parses paragraphs only: blocks were already split, and a sentence from the
// middle of a text must not become a list because it looks like one. It is safe for
// concurrent use.
var inlineParser = parser.NewParser(
	parser.WithBlockParsers(util.Prioritized(parser.NewParagraphParser(), 1000)),
	parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
	parser.WithInlineParsers(append(parser.DefaultInlineParsers(),
		util.Prioritized(extension.NewStrikethroughParser(), 500))...),
)

// maxMarks limits the brackets, stars and the like that are parsed at once. The parser
// takes quadratic time for some texts ("[a](" repeated).
const maxMarks = 64

// inline returns the speakable text of inline Markdown.
func (l *language) inline(src []byte) string {
	if src = l.notation(withoutEscapes(src)); !hasMarkup(src) {
		return l.say(string(src))
	}
	if !utf8.Valid(src) {
		src = bytes.ToValidUTF8(src, nil)
	}
	if text, ok := l.plainInline(src); ok {
		return l.say(text)
	}
	var b strings.Builder
	for len(src) > 0 {
		n, marks := 0, 0
		for n < len(src) && marks < maxMarks {
			if isMarkup(src[n]) {
				marks++
			}
			n++
		}
		if marks == maxMarks && n < 5*maxMarks/2 {
			b.Write(src[:n]) // real text has fewer
		} else {
			l.parse(&b, src[:n])
		}
		src = src[n:]
	}
	return l.say(b.String())
}

// say returns what is said for a text without markup.
func (l *language) say(s string) string {
	s = l.hosts(s)
	if strings.IndexByte(s, '<') > 0 && strings.IndexByte(s, '>') > 0 {
		s = l.speakGenerics(s)
	}
	if strings.Contains(s, "@@ ") {
		s = hunk.ReplaceAllString(s, "")
	}
	return l.sayWords(l.clean(s))
}

// hunk matches the place of a change in a diff.
var hunk = regexp.MustCompile(`@@ -[\d,]+ \+[\d,]+ @@`)

// hasMarkup reports whether a text may contain markup. An underscore within a name does
// not count.
func hasMarkup(src []byte) bool {
	for i, b := range src {
		if isMarkup(b) && (b != '_' || i == 0 || i == len(src)-1 || !isLatin(rune(src[i-1])) || !isLatin(rune(src[i+1]))) {
			return true
		}
	}
	return false
}

// isMarkup reports whether b may be markup or part of it.
func isMarkup(b byte) bool {
	switch b {
	case '\\', '`', '*', '_', '~', '[', '<', '&':
		return true
	}
	return false
}

func (l *language) parse(b *strings.Builder, src []byte) {
	src = bytes.TrimLeft(src, blanks+"\n") // the library drops indented text
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
			if isLabel(n.NextSibling(), src) {
				b.WriteByte('.')
			}
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
		b.WriteString(l.speakTag(b.String(), string(n.Segments.Value(src))))
		return ast.WalkSkipChildren
	}
	return ast.WalkContinue
}

var htmlTags = set("a abbr b big blockquote body br center cite code col dd del details dfn div dl dt em font footer form h1 h2 h3 h4 h5 h6 head header hr html i img input ins kbd li link main mark nav ol p picture pre q s samp script section small span strike strong style sub summary sup svg table tbody td tfoot th thead title tr tt u ul var video wbr")

// blockTags are the tags that separate words.
var blockTags = set("details dd div dl dt h1 h2 h3 h4 h5 h6 hr li ol p pre summary table td th tr ul")

// speakTag returns what is said for a tag after the text before. An unknown HTML tag is a
// placeholder or a type parameter.
func (l *language) speakTag(before, tag string) string {
	name := tag[1 : len(tag)-1]
	switch lower := strings.ToLower(name); {
	case strings.HasPrefix(lower, "br"), blockTags[strings.TrimPrefix(lower, "/")]:
		return " "
	case !isTagName(lower) || htmlTags[lower]:
		return ""
	case before != "" && isLatin(rune(before[len(before)-1])): // List<T>
		return " " + l.of + " " + name
	}
	return name
}

// isTagName reports whether a text is the name of a tag: letters, digits and hyphens.
func isTagName(name string) bool {
	for i := range len(name) {
		if c := rune(name[i]); !isLatin(c) && (i == 0 || c != '-' && !isDigit(name[i])) {
			return false
		}
	}
	return name != ""
}

// isLabel reports whether n is bold text with a colon, which starts a new statement.
func isLabel(n ast.Node, src []byte) bool {
	bold, ok := n.(*ast.Emphasis)
	if !ok || bold.Level != 2 {
		return false
	}
	text, ok := bold.LastChild().(*ast.Text)
	return ok && bytes.HasSuffix(text.Segment.Value(src), []byte(":"))
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

// urlPattern matches URLs in text. In Chinese and Japanese, text may follow a URL without
// a blank.
var urlPattern = regexp.MustCompile(`(?i)\b(?:[a-z][a-z0-9+]*://|www\.)[^\s<>"\p{Han}\p{Hiragana}\p{Katakana}\x{3000}-\x{303f}\x{ff00}-\x{ffef}]+`)

// arrows replaces ASCII arrows.
var arrows = strings.NewReplacer(" -> ", " → ", " => ", " → ")

// hosts replaces ASCII arrows, and each URL with its host.
func (l *language) hosts(s string) string {
	if strings.Contains(s, "> ") {
		s = arrows.Replace(s)
	}
	return l.urls(s)
}

// urls replaces each URL with its host, the only part worth speaking, or with the path of a
// local file.
func (l *language) urls(s string) string {
	if !strings.Contains(s, "://") && !strings.Contains(s, "www.") && !strings.Contains(s, "WWW.") {
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
			if _, path, _ := strings.Cut(trimmed, "://"); path != "" {
				return path + rest
			}
			return link
		}
		return l.dots(strings.TrimPrefix(strings.ToLower(u.Hostname()), "www.")) + rest
	})
}

func (l *language) dots(name string) string {
	return strings.ReplaceAll(name, ".", " "+l.dot+" ")
}

// clean drops what cannot be spoken: emoji, control characters, and unpaired markers of
// emphasis that spans several sentences. It collapses white space to single blanks.
func (l *language) clean(s string) string {
	if s = strings.Trim(s, " \n"); isClean(s) {
		return s
	}
	out := make([]byte, 0, len(s))
	blank, dropped := false, false // a pending blank; the previous symbol was dropped
	prev := ' '
	for i, size := 0, 0; i < len(s); i += size {
		r := rune(s[i])
		if size = 1; r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(s[i:])
		}
		if said := l.glyphs[r]; said != "" && r >= utf8.RuneSelf {
			if len(out) > 0 {
				out = append(out, ' ')
			}
			out = append(out, said...)
			blank, dropped, prev = true, true, r
			continue
		}
		switch class := speakable(prev, r, s[i+size:]); {
		case class == saysBlank:
			blank = true
		case class == saysArrow:
			if len(out) > 0 {
				out = append(out, ' ')
			}
			out = append(out, l.to...)
			blank, dropped = true, false
		case class == saysNothing:
			dropped = dropped || isEmoji(r)
		default:
			if blank && len(out) > 0 && (!dropped || !endsText(r, s[i+size:])) {
				out = append(out, ' ')
			}
			blank, dropped = false, false
			out = append(out, s[i:i+size]...)
		}
		prev = r
	}
	return string(out)
}

// endsText reports whether the punctuation r, after a picture that was dropped, belongs to the
// word before it. rest is the text after r: "./a" is a word.
func endsText(r rune, rest string) bool {
	return strings.ContainsRune(".,;:!?)", r) && !isWordRune(firstOr(rest, ' ')) && firstOr(rest, ' ') != '/'
}

// isClean reports whether a text needs no cleaning: letters and marks that stay, with
// single blanks.
func isClean(s string) bool {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z':
		case c == ' ':
			if s[i+1] == ' ' { // it is not at the end
				return false
			}
		case c <= ' ', c >= 0x7f, c == '*', c == '_', c == '~', c == '`':
			return false
		}
	}
	return true
}

// says classifies how a rune is spoken.
type says int

const (
	saysItself says = iota
	saysNothing
	saysBlank
	saysArrow
)

// speakable classifies the rune r between prev and rest.
func speakable(prev, r rune, rest string) says {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z':
	case r == ' ', unicode.IsSpace(r):
		return saysBlank
	case isMark(r):
		if !keepsMark(prev, r, firstOr(rest, ' ')) {
			return saysNothing
		}
	case r == '`':
		return saysNothing
	case r < utf8.RuneSelf:
		if r < ' ' || r == 0x7f {
			return saysNothing
		}
	case isArrow(r):
		return saysArrow
	case r >= 0x2190 && r <= 0x21FF, r >= 0x27F0 && r <= 0x27FF, r >= 0x2900 && r <= 0x297F: // other arrows
		return saysBlank
	case r == '\u200c' || r == '\u200d':
		// Between letters of Persian or Indic scripts a joiner changes the word.
		if !isWordRune(prev) || !isWordRune(firstOr(rest, ' ')) || prev <= 0x7f {
			return saysNothing
		}
	case isEmoji(r), r == utf8.RuneError, unicode.IsControl(r), unicode.Is(unicode.Cf, r):
		return saysNothing
	}
	return saysItself
}

func firstOr(s string, or rune) rune {
	if s == "" {
		return or
	}
	return firstRune(s)
}

func isMark(r rune) bool { return r == '*' || r == '_' || r == '~' }

// keepsMark distinguishes an operator or part of a name (2 * 3, a_b, ~5, ~/src) from a
// left-over emphasis marker.
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

func isArrow(r rune) bool { return strings.ContainsRune("→⇒➜➔➡⟶⟹↦⇨", r) }

// isEmoji matches pictures and ornaments by block, because the Unicode category So also
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
