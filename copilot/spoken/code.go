package spoken

import (
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
	code = strings.TrimSpace(code)
	if len(code) > maxSpokenCode {
		return l.code
	}
	if strings.Contains(code, "://") {
		return l.hosts(code)
	}
	if name := l.bare[code]; name != "" {
		return name
	}
	code = l.speakNotation(code)
	runes := make([]rune, 0, maxSpokenCode)
	for _, r := range code {
		runes = append(runes, r)
	}
	said := make([]byte, 0, 2*maxSpokenCode)
	for i := 0; i < len(runes); {
		if r := runes[i]; !isWordRune(r) {
			n := 1
			if i+1 < len(runes) && operators[string(runes[i:i+2])] != "" {
				n = 2
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
	return string(said)
}

// separated ends a word with a blank before the next one.
func separated(said []byte) []byte {
	if len(said) == 0 {
		return said
	}
	return append(said, ' ')
}

var (
	position    = regexp.MustCompile(`^(\S*[\w]\.\w+):(\d+)(?::\d+)?$`) // main.go:42
	placeholder = regexp.MustCompile(`(^|[\s"'=/])<([\w -]+)>`)         // <name>
	generic     = regexp.MustCompile(`(\w)<([\w\s,.:*&?\[\]|']+)>`)     // List<T>, from the inside out
)

// speakNotation puts a position in a file, placeholders and parameters of types into words.
func (l *language) speakNotation(code string) string {
	if file, line := positionIn(code); line != "" {
		return file + " " + l.line + " " + line
	}
	if strings.IndexByte(code, '<') < 0 || strings.IndexByte(code, '>') < 0 {
		return code
	}
	code = placeholder.ReplaceAllString(code, "$1$2")
	for before := ""; code != before && strings.LastIndexByte(code, '<') > 0; {
		before, code = code, generic.ReplaceAllString(code, "$1 "+l.of+" $2")
	}
	return code
}

// positionIn splits a position in a file, such as main.go:42 or main.go:42:7, into file
// and line.
func positionIn(code string) (file, line string) {
	if code == "" || !isDigit(code[len(code)-1]) || strings.IndexByte(code, ':') < 0 {
		return "", ""
	}
	m := position.FindStringSubmatch(code)
	if m == nil {
		return "", ""
	}
	return m[1], m[2]
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

var operators = map[string]string{
	"==": "equals", "!=": "is not", "<=": "at most", ">=": "at least", "&&": "and", "||": "or",
	"->": "arrow", "=>": "arrow", ":=": "is", "++": "plus plus", "+=": "plus equals",
}

var symbols = map[rune]string{
	'/': "slash", '\\': "backslash", '=': "equals", '+': "plus", '*': "star", '<': "less than", '>': "greater than",
	'@': "at", '#': "hash", '$': "dollar", '%': "percent", '&': "and", '|': "pipe", '~': "tilde", '^': "caret",
}

// speakSymbol speaks the n runes at i, which stand between words.
func (l *language) speakSymbol(rs []rune, i, n int) string {
	if n == 2 {
		return operators[string(rs[i:i+2])]
	}
	before := i > 0 && isWordRune(rs[i-1])
	after := i+1 < len(rs) && isWordRune(rs[i+1])
	switch r := rs[i]; r {
	case '.':
		return l.dot
	case '-':
		if !before && i+1 < len(rs) && (after || rs[i+1] == '-') {
			return "dash"
		}
		return ""
	case '&':
		if !before && after { // a reference
			return ""
		}
		return symbols[r]
	default:
		return symbols[r]
	}
}
