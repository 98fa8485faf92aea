package spoken

import (
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
	number := "" // the previous word, if it is a number
	for len(s) > 0 {
		n, wide := wordEnd(s)
		if n > 0 && number == "" && isPlainWord(s[:n]) {
			b.WriteString(s[:n])
			s = s[n:]
			continue
		}
		if n == 0 {
			n = 1
			if wide {
				_, n = utf8.DecodeRuneInString(s)
				number = ""
			}
			b.WriteString(s[:n])
			s = s[n:]
			continue
		}
		head, core, tail := wordParts(s[:n])
		b.WriteString(head)
		b.WriteString(l.sayWord(core, tail, number))
		b.WriteString(tail)
		number = ""
		if tail == "" && isNumber(core) {
			number = core
		}
		s = s[n:]
	}
	return b.String()
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
		if isWideLetter(r) || isWideClause(r) || endingOf(r) == endWide || unicode.IsSpace(r) {
			return n, true
		}
		n += size
	}
	return n, false
}

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
		case c >= '0' && c <= '9', c == '/', c == '\\', c == '_', c == '%', c == '&', c == '#':
			return true
		case c >= utf8.RuneSelf:
			if r, _ := utf8.DecodeRuneInString(s[i:]); l.signs[r] != "" {
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
	if u, ok := l.units[w]; ok && number != "" && (w != "min" || tail != ".") {
		return u.of(number)
	}
	if said := operators[w]; said != "" {
		return said
	}
	if sign := l.signs[firstRune(w)]; sign != "" && utf8.RuneCountInString(w) == 1 {
		return sign
	}
	switch {
	case (w[0] == 'v' || w[0] == 'V') && len(w) > 2 && isDigit(w[1]) && strings.IndexByte(w, '.') > 0 && onlyVersion(w[1:]):
		return l.version + " " + w[1:]
	case w[0] == '#' && len(w) > 1 && isNumber(w[1:]):
		return l.number + " " + w[1:]
	case isDigit(w[0]):
		return l.sayAmount(w)
	case (w[0] == '+' || w[0] == '-') && len(w) > 1 && isDigit(w[1]):
		return w[:1] + l.sayAmount(w[1:])
	case utf8.RuneCountInString(w) > 1 && l.signs[firstRune(w)] != "":
		r := firstRune(w)
		return l.signs[r] + " " + l.sayWord(w[utf8.RuneLen(r):], tail, "")
	case isPath(w), isCodeName(w):
		return l.speakCode(w)
	}
	return w
}

func (u unit) of(number string) string {
	if number == "1" {
		return u.one
	}
	return u.many
}

// sayAmount speaks an amount whose unit follows without a blank: 60s, 35%.
func (l *language) sayAmount(w string) string {
	n := 0
	for n < len(w) && (isDigit(w[n]) || (w[n] == '.' || w[n] == ',') && n+1 < len(w) && isDigit(w[n+1])) {
		n++
	}
	number, rest := w[:n], w[n:]
	if u, ok := l.units[rest]; ok && rest != "h" { // "1h 20m" is unchanged
		return number + " " + u.of(number)
	}
	return w
}

func onlyVersion(w string) bool {
	for _, r := range w {
		if r != '.' && r != '-' && r != '+' && (r >= utf8.RuneSelf || !unicode.IsLetter(r) && !unicode.IsDigit(r)) {
			return false
		}
	}
	return true
}

// isPath reports whether w is a file path: with a folder and an extension, or a file with
// a line.
func isPath(w string) bool {
	if strings.Contains(w, "://") || len(w) > maxSpokenCode || strings.ContainsFunc(w, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return false
	}
	slash := strings.LastIndexAny(w, `/\`)
	dot := strings.IndexByte(w[slash+1:], '.')
	if _, line := positionIn(w); line != "" && w[0] != ':' {
		return true
	}
	if slash < 0 || dot < 0 {
		return false
	}
	ext := w[slash+1+dot+1:]
	return ext != "" && isLatin(rune(ext[0])) && !strings.ContainsAny(w, "()<>|*?")
}

// isCodeName recognises a code name by a lower-case letter before a capital, or an
// underscore: parseConfigV2, max_size. Product names begin with a capital.
func isCodeName(w string) bool {
	if len(w) > maxSpokenCode || w[0] < 'a' || w[0] > 'z' {
		return false
	}
	marked := false
	for i := 1; i < len(w); i++ {
		switch c := w[i]; {
		case c == '_' && i < len(w)-1, c >= 'A' && c <= 'Z' && w[i-1] >= 'a' && w[i-1] <= 'z':
			marked = true
		case c == '_', !isLatin(rune(c)) && !isDigit(c):
			return false
		}
	}
	return marked
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
