package spoken

import (
	"bytes"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxSpokenCode is the length in bytes of the longest code span that is spoken. Longer
// spans are only announced.
const maxSpokenCode = 80

// speakCode returns the spoken form of a code span: names are split into words, dots and
// slashes between names are spoken, brackets are not.
func (l *language) speakCode(code string) string {
	code = strings.TrimSpace(string(withoutEscapes([]byte(code))))
	if name := l.bare[code]; name != "" {
		return name
	}
	code = l.speakNotation(l.shortCode(l.urls(code)))
	if len(code) > maxSpokenCode {
		return l.code
	}
	runes := make([]rune, 0, maxSpokenCode)
	for _, r := range code {
		runes = append(runes, r)
	}
	said := make([]byte, 0, 2*maxSpokenCode)
	for i := 0; i < len(runes); {
		if r := runes[i]; !isWordRune(r) {
			n := 1
			for _, long := range []int{3, 2} {
				if i+long <= len(runes) && l.operators[string(runes[i:i+long])] != "" {
					n = long
					break
				}
			}
			if w := l.speakSymbol(runes, i, n); w != "" {
				said = append(separated(said), w...)
			}
			i += n
			continue
		}
		j := i + 1
		for j < len(runes) && isWordRune(runes[j]) && !startsWord(runes, j) {
			j++
		}
		said = appendWord(separated(said), runes, i, j)
		i = j
	}
	return l.parted(string(said))
}

// separated ends a word with a blank before the next one.
func separated(said []byte) []byte {
	if len(said) == 0 {
		return said
	}
	return append(said, ' ')
}

var (
	placeholder = regexp.MustCompile(`(^|[\s"'=/])<([\w -]+)>`)     // <name>
	generic     = regexp.MustCompile(`(\w)<([\w\s,.:*&?\[\]|']+)>`) // List<T>, from the inside out
	escape      = regexp.MustCompile(`(?:\x1b|\\x1[bB]|\\033|\\u001[bB]|\\e)(?:\[[0-9;?]*[A-Za-z]|\][^\x07\x1b]*(?:\x07|\x1b\\)?)`)
)

// speakNotation puts placeholders and parameters of types into words.
func (l *language) speakNotation(code string) string {
	if strings.IndexByte(code, '<') < 0 || strings.IndexByte(code, '>') < 0 {
		return code
	}
	code = placeholder.ReplaceAllString(code, "$1$2")
	return l.speakGenerics(code)
}

// speakGenerics puts parameters of types into words.
func (l *language) speakGenerics(code string) string {
	for before := ""; code != before && strings.LastIndexByte(code, '<') > 0; {
		before, code = code, generic.ReplaceAllStringFunc(code, func(s string) string {
			if strings.Contains(s, "&&") || strings.Contains(s, "||") { // a<b && c>d
				return s
			}
			return generic.ReplaceAllString(s, "$1 "+l.of+" $2")
		})
	}
	return code
}

// withoutEscapes removes the colours of a terminal.
func withoutEscapes(s []byte) []byte {
	if bytes.IndexByte(s, 0x1b) < 0 && !bytes.ContainsAny(s, `\`) {
		return s
	}
	return escape.ReplaceAll(s, nil)
}

// shortCode shortens the ids and deep paths of code, and puts positions in files into words.
func (l *language) shortCode(code string) string {
	if len(code) < minHexID && !strings.ContainsAny(code, ":x+") {
		return code
	}
	words := strings.Fields(code)
	for i, w := range words {
		head, core, tail := wordParts(w)
		if strings.HasPrefix(tail, ")") && strings.Count(core, "(") > strings.Count(core, ")") {
			core, tail = core+")", tail[1:]
		}
		if core == "" {
			continue
		}
		if keys := l.sayKeys(core); keys != "" {
			words[i] = head + keys + tail
			continue
		}
		file, at := l.sayPosition(core)
		if isPath(core) {
			file = shortPath(file)
		}
		words[i] = head + l.shortIDs(shortName(file)) + at + tail
	}
	return strings.Join(words, " ")
}

// startsWord reports whether the rune at j begins a new word of a camelCase
// name: fooBar, HTTPServer.
func startsWord(rs []rune, j int) bool {
	if !unicode.IsUpper(rs[j]) {
		return false
	}
	if unicode.IsLower(rs[j-1]) || unicode.IsDigit(rs[j-1]) {
		return true
	}
	return unicode.IsUpper(rs[j-1]) && j+1 < len(rs) && unicode.IsLower(rs[j+1])
}

// appendWord appends one word of a name. It lowercases a capital that only marks the start
// of the word; acronyms stay.
func appendWord(said []byte, rs []rune, i, j int) []byte {
	inName := i > 0 && isWordRune(rs[i-1])
	lower := inName && (j-i == 1 || unicode.IsLower(rs[i+1]))
	for _, r := range rs[i:j] {
		if lower {
			r = unicode.ToLower(r)
		}
		said = utf8.AppendRune(said, r)
	}
	return said
}

// speakSymbol speaks the n runes at i, which stand between words.
func (l *language) speakSymbol(rs []rune, i, n int) string {
	if n > 1 {
		return l.operators[string(rs[i:i+n])]
	}
	before := i > 0 && isWordRune(rs[i-1])
	after := i+1 < len(rs) && isWordRune(rs[i+1])
	switch r := rs[i]; r {
	case '.':
		return l.dot
	case '-':
		if !before && i+1 < len(rs) && (after || rs[i+1] == '-') {
			return l.symbols['-']
		}
		return ""
	case '^':
		if before && after {
			return l.power
		}
		return l.symbols[r]
	case '&':
		if !before && after { // a reference
			return ""
		}
		return l.symbols[r]
	default:
		return l.symbols[r]
	}
}
