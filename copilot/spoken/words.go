package spoken

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// unit is the singular and plural of a unit.
type unit struct{ one, many string }

// sayWords replaces text that is written differently from how it is spoken: versions,
// amounts with a unit, signs, paths and code names.
func (l *language) sayWords(s string) string {
	if !l.hasWritten(s) {
		return s
	}
	var b strings.Builder
	b.Grow(2 * len(s))
	number, dropped := "", false // the previous word, if it is a number; whether it was dropped
	for len(s) > 0 {
		n, wide := wordEnd(s)
		if n > 0 && number == "" && isPlainWord(s[:n]) {
			b.WriteString(s[:n])
			s, dropped = s[n:], false
			continue
		}
		if n == 0 {
			n = 1
			if dropped && !wide {
				s, dropped = s[1:], false
				continue
			}
			if wide {
				_, n = utf8.DecodeRuneInString(s)
				number = ""
			}
			b.WriteString(s[:n])
			s = s[n:]
			continue
		}
		if dropped = isOrnament(s[:n]); dropped {
			s, number = s[n:], ""
			continue
		}
		head, core, tail := wordParts(s[:n])
		if strings.HasPrefix(tail, ")") && strings.Count(core, "(") > strings.Count(core, ")") { // f(), main.cs(4,2)
			core, tail = core+")", tail[1:]
		}
		said := head + l.sayWord(core, tail, number) + tail
		b.WriteString(said)
		dropped, number = said == "", ""
		if tail == "" && (isNumber(core) || numbers.MatchString(core) || hours.MatchString(core)) {
			number = core
		}
		s = s[n:]
	}
	return oneBlank(b.String())
}

// oneBlank returns a text with one blank between its words, and none around them. A sign that is
// said has blanks of its own.
func oneBlank(s string) string {
	s = strings.Trim(s, " ")
	for strings.Contains(s, "  ") {
		s = strings.ReplaceAll(s, "  ", " ")
	}
	return s
}

// caller matches a function and its place, as traces of Java have it.
var caller = regexp.MustCompile(`^([\w.$]+)\((\w+\.\w+:\d+)\)$`)

// hours matches a duration whose minutes follow after a blank.
var hours = regexp.MustCompile(`^\d+h$`)

// isOrnament reports whether a word is drawn rather than said: a rule, a smiley, or the name
// of a picture between colons.
func isOrnament(w string) bool {
	switch w {
	case ":)", ":-)", ";)", ";-)", ":(", ":-(", ":D", ":-D", ":P", "^^", "@@":
		return true
	}
	if len(w) > 3 && w[0] == ':' && w[len(w)-1] == ':' {
		return !strings.ContainsFunc(w[1:len(w)-1], func(r rune) bool { return !isLatin(r) && !unicode.IsDigit(r) && r != '_' && r != '-' && r != '+' })
	}
	return len(w) > 2 && w != "===" && strings.Trim(w, "-=+~*#|_") == ""
}

// wordEnd returns where the first word of a text ends: at a blank, or at the start of a
// script without blanks. wide reports such a script.
func wordEnd(s string) (n int, wide bool) {
	for n < len(s) {
		if c := s[n]; c < utf8.RuneSelf {
			if c == ' ' || c == '\n' || c == '\t' || c == '\r' {
				return n, false
			}
			n++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[n:])
		if isWideLetter(r) || isWideClause(r) || endingOf(r) == endWide || isWideBracket(r) || unicode.IsSpace(r) {
			return n, true
		}
		n += size
	}
	return n, false
}

func isWideBracket(r rune) bool { return strings.ContainsRune("「」『』（）", r) }

// isPlainWord reports whether a word is spoken as written: Latin letters, capitals only at
// the start, and a punctuation mark.
func isPlainWord(w string) bool {
	for i := 1; i < len(w); i++ {
		if w[i] < 'a' || w[i] > 'z' {
			return i == len(w)-1 && strings.IndexByte(".,;:!?", w[i]) >= 0 && isLatin(rune(w[0]))
		}
	}
	return isLatin(rune(w[0]))
}

// hasWritten reports whether a text contains anything that is spoken differently.
func (l *language) hasWritten(s string) bool {
	lower := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= '0' && c <= '9', strings.IndexByte(`/\_%&#=<>|+^~$@*`, c) >= 0:
			return true
		case c == '-' && (i == 0 || s[i-1] == ' ' || s[i-1] == '-'), c == ':' && i+1 < len(s) && s[i+1] > ' ', c == ')' && i > 0 && s[i-1] == '(', c == ';' && i+1 < len(s) && s[i+1] == ')':
			return true
		case c == '.' && i+2 < len(s) && isLatin(rune(s[i+1])):
			return true
		case c >= utf8.RuneSelf:
			if r, _ := utf8.DecodeRuneInString(s[i:]); l.signs[r] != "" || r == '€' || r == '£' || r == '¥' || r == '−' {
				return true
			}
		case c >= 'A' && c <= 'Z' && lower:
			return true
		}
		lower = s[i] >= 'a' && s[i] <= 'z'
	}
	return false
}

// wordParts separates a word from the punctuation around it.
func wordParts(word string) (head, core, tail string) {
	const before, after = `("'“„«[`, `.,;:!?)"'”“»]…`
	if core = word; word != "" && !isLatin(rune(word[0])) { // TrimLeft is slow
		core = strings.TrimLeft(word, before)
	}
	head = word[:len(word)-len(core)]
	trimmed := strings.TrimRight(core, after)
	return head, trimmed, core[len(trimmed):]
}

func isNumber(w string) bool {
	w = strings.TrimLeft(w, "~+-<>")
	if w == "" || !isDigit(w[0]) {
		return false
	}
	for i := 0; i < len(w); i++ {
		if !isDigit(w[i]) && w[i] != '.' && w[i] != ',' {
			return false
		}
	}
	return true
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// sayWord returns the spoken form of a word. tail is the punctuation after it; number is
// the amount before it, or "".
func (l *language) sayWord(w, tail, number string) string {
	if w == "" {
		return ""
	}
	if said, ok := l.saySign(w, tail, number); ok {
		return said
	}
	if short := l.shortIDs(w); short != w {
		var said []string
		for part := range strings.FieldsSeq(short) {
			said = append(said, l.sayWord(part, "", ""))
		}
		return strings.Join(said, " ")
	}
	if said, ok := l.sayAddress(w); ok {
		return said
	}
	if said, ok := l.sayWritten(w, tail); ok {
		return said
	}
	if isPath(w) {
		file, at := l.sayPosition(w)
		return l.speakCode(shortPath(file)) + at
	}
	if isFlag(w) || isCodeName(w) || isCode(w) {
		return l.speakCode(w)
	}
	return l.parted(shortName(w))
}

// saySign says a unit after a number, an operator or a sign.
func (l *language) saySign(w, tail, number string) (said string, ok bool) {
	if number != "" {
		if u, ok := l.unitOf(w); ok && (w != "min" || tail != ".") {
			return u.of(number), true
		}
		if hours.MatchString(number) && duration.MatchString(w) && strings.HasSuffix(w, "m") {
			return w[:len(w)-1] + " " + l.periods["m"].of(w[:len(w)-1]), true
		}
	}
	switch w {
	case "->", "=>":
		return l.to, true
	case "--":
		return "–", true
	case "*":
		return l.signs['×'], true
	case "=", "<", ">", "|", "+", "^", "\\":
		return l.symbols[rune(w[0])], true
	}
	if said := l.operators[w]; said != "" {
		return said, true
	}
	r, size := utf8.DecodeRuneInString(w)
	sign := l.signs[r]
	switch {
	case sign == "":
		return "", false
	case size == len(w):
		return sign, true
	}
	return sign + " " + l.sayWord(w[size:], tail, ""), r >= utf8.RuneSelf || r == '&'
}

// sayWritten says versions, amounts, bounds and other words with digits or signs.
func (l *language) sayWritten(w, tail string) (said string, ok bool) {
	if (w[0] == 'v' || w[0] == 'V') && len(w) > 2 && isDigit(w[1]) && strings.IndexByte(w, '.') > 0 && onlyVersion(w[1:]) && !strings.Contains(w, "..") {
		return l.version + " " + l.sayWord(w[1:], tail, ""), true
	}
	if m := span.FindStringSubmatch(w); m != nil {
		return l.sayWord(m[1], "", "") + " " + l.until + " " + l.sayWord(m[2], tail, ""), true
	}
	if m := raised.FindStringSubmatch(w); m != nil {
		return l.sayWord(m[1], "", "") + " " + l.power + " " + l.sayWord(m[2], "", "") + m[3], true
	}
	if keys := l.sayKeys(w); keys != "" {
		return keys, true
	}
	if before, after, found := strings.Cut(w, "@"); found && before != "" && after != "" && strings.ContainsAny(after[:1], "0123456789^~<>=v") {
		return l.sayWord(before, "", "") + " " + l.at + " " + l.sayWord(after, tail, ""), true
	}
	if name, value, found := strings.Cut(w, "="); found && name != "" && value != "" && isDigit(value[0]) && isWordRune(rune(name[len(name)-1])) {
		return l.sayWord(name, "", "") + " " + l.symbols['='] + " " + l.sayWord(value, tail, ""), true
	}
	if m := caller.FindStringSubmatch(w); m != nil {
		return l.sayWord(m[1], "", "") + " (" + l.sayWord(m[2], "", "") + ")", true
	}
	switch {
	case isColour(w):
		return spell(w[1:]), true
	case w[0] == '#' && len(w) > 1 && isNumber(w[1:]):
		return l.number + " " + w[1:], true
	case w[0] == '\\' && len(w) > 2 && isLatin(rune(w[1])):
		if strings.IndexByte(w, '{') > 0 {
			return l.formula, true
		}
		if isTagName(w[1:]) {
			return w[1:], true
		}
	case isDigit(w[0]):
		if said = l.sayAmount(w); said == w {
			return l.parted(w), !isPath(w) && !isCode(w)
		}
		return said, true
	}
	for _, say := range []func(string) (string, bool){l.sayPrice, l.sayComparison, l.saySigned} {
		if said, ok := say(w); ok {
			return said, true
		}
	}
	return "", false
}

// sayKeys says a combination of keys, such as Ctrl+Shift+P, or returns "".
func (l *language) sayKeys(w string) string {
	keys := strings.Split(w, "+")
	if len(keys) < 2 || l.keys[strings.ToLower(keys[0])] == "" {
		return ""
	}
	for i, key := range keys {
		if name := l.keys[strings.ToLower(key)]; name != "" {
			keys[i] = name
		}
	}
	return strings.Join(keys, " ")
}

// isFlag reports whether w is an option of a command: --no-verify, -v.
func isFlag(w string) bool {
	name := strings.TrimLeft(w, "-")
	dashes := len(w) - len(name)
	if dashes == 0 || dashes > 2 || name == "" || !isLatin(rune(name[0])) || !onlyASCII(w) {
		return false
	}
	return dashes == 2 || len(name) < 5 || strings.IndexByte(name, '=') > 0
}

// isCode reports whether a word is code because of the signs in it: a!=b, std::vector, $HOME,
// FOO=bar, f().
func isCode(w string) bool {
	if len(w) > maxSpokenCode || len(w) < 3 || strings.Contains(w, "://") {
		return false
	}
	if w[0] == '$' && (isLatin(rune(w[1])) || w[1] == '{') || strings.HasSuffix(w, "()") {
		return true
	}
	for i := 1; i < len(w)-1; i++ {
		switch w[i] {
		case '=', '<', '>', '|', '^', '~':
			return true
		case ':', '&', '+', '-':
			if w[i+1] == w[i] && i+2 < len(w) && (w[i] != '-' || i+2 == len(w)) || w[i] == '+' && isWordRune(rune(w[i+1])) {
				return true
			}
		}
	}
	return false
}

func (u unit) of(number string) string {
	if number == "1" {
		return u.one
	}
	return u.many
}

func onlyVersion(w string) bool {
	for _, r := range w {
		if r != '.' && r != '-' && r != '+' && (r >= utf8.RuneSelf || !unicode.IsLetter(r) && !unicode.IsDigit(r)) {
			return false
		}
	}
	return true
}

// isCodeName recognises a code name by a lower-case letter before a capital, an underscore, or
// three capitals that begin words: parseConfigV2, MAX_SIZE, ReadWriteCloser. Product names
// have two.
func isCodeName(w string) bool {
	if len(w) > maxSpokenCode || !isLatin(rune(w[0])) {
		return false
	}
	marked, humps := false, 0
	for i := 1; i < len(w); i++ {
		switch c := w[i]; {
		case c == '_' && i < len(w)-1:
			marked = true
		case c >= 'A' && c <= 'Z' && w[i-1] >= 'a' && w[i-1] <= 'z':
			marked = marked || w[0] >= 'a'
			humps++
		case c == '_', !isLatin(rune(c)) && !isDigit(c):
			return false
		}
	}
	return marked || humps > 1
}

// pronounced applies the user's pronunciations.
func pronounced(s string, lexicon map[string]string) string {
	if len(lexicon) == 0 {
		return s
	}
	words := strings.Split(s, " ")
	for i, w := range words {
		head, core, tail := wordParts(w)
		if said := lexicon[strings.ToLower(core)]; said != "" {
			words[i] = head + said + tail
		}
	}
	return strings.Join(words, " ")
}
