package spoken

import (
	"regexp"
	"strings"
	"unicode"
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
	if strings.ContainsAny(code, "<:") {
		code = l.speakNotation(code)
	}
	var words []string
	runes := []rune(code)
	for i := 0; i < len(runes); {
		if r := runes[i]; !isWordRune(r) {
			n := 1
			if i+1 < len(runes) && operators[string(runes[i:i+2])] != "" {
				n = 2
			}
			if w := l.speakSymbol(runes, i, n); w != "" {
				words = append(words, w)
			}
			i += n
			continue
		}
		j := i + 1
		for j < len(runes) && isWordRune(runes[j]) && !startsWord(runes, j) {
			j++
		}
		words = append(words, wordOf(runes, i, j))
		i = j
	}
	return strings.Join(words, " ")
}

var (
	position    = regexp.MustCompile(`^(\S*[\w]\.\w+):(\d+)(?::\d+)?$`) // main.go:42
	placeholder = regexp.MustCompile(`(^|[\s"'=/])<([\w -]+)>`)         // <name>
	generic     = regexp.MustCompile(`(\w)<([\w\s,.:*&?\[\]|']+)>`)     // List<T>, from the inside out
)

// speakNotation puts a position in a file, placeholders and parameters of types into words.
func (l *language) speakNotation(code string) string {
	if m := position.FindStringSubmatch(code); m != nil {
		return m[1] + " " + l.line + " " + m[2]
	}
	code = placeholder.ReplaceAllString(code, "$1$2")
	for generic.MatchString(code) {
		code = generic.ReplaceAllString(code, "$1 "+l.of+" $2")
	}
	return code
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

// wordOf returns one word of a name. It lowercases a capital that only marks the start of
// the word; acronyms stay.
func wordOf(rs []rune, i, j int) string {
	w := string(rs[i:j])
	inName := i > 0 && isWordRune(rs[i-1])
	if inName && (j-i == 1 || unicode.IsLower(rs[i+1])) {
		return strings.ToLower(w)
	}
	return w
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
