package pronounce

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// signs are the spoken forms of characters.
var signs = map[rune]string{
	'%': "percent", '&': "and", '+': "plus", '=': "equals", '/': "slash", '#': "hash", '@': "at", '$': "dollar", '€': "euro", '£': "pound", '¥': "yen",
	'<': "less than", '>': "greater than", '|': "pipe", '~': "tilde", '^': "caret", '\\': "backslash", '*': "star",
	'°': "degrees", '×': "times", '÷': "divided by", '≤': "at most", '≥': "at least", '≠': "is not", '±': "plus or minus", '≈': "about",
	'→': "to", '⇒': "to", '←': "from", '↔': "to", '∞': "infinity", '√': "root of", '∑': "sum of", '∈': "in",
	'α': "alpha", 'β': "beta", 'γ': "gamma", 'δ': "delta", 'Δ': "delta", 'ε': "epsilon", 'λ': "lambda", 'μ': "mu", 'π': "pi", 'σ': "sigma", 'Σ': "sigma", 'τ': "tau", 'φ': "phi", 'Ω': "omega", 'ω': "omega", 'θ': "theta",
}

// operators are the spoken forms of pairs of characters.
var operators = []struct{ written, spoken string }{
	{"://", ""}, {"...", "—"}, {"==", "equals"}, {"!=", "is not"}, {"<=", "at most"}, {">=", "at least"}, {"&&", "and"}, {"||", "or"},
	{"->", "to"}, {"=>", "to"}, {":=", "is"}, {"++", "plus plus"}, {"+=", "plus equals"}, {"-=", "minus equals"}, {"--", "dash dash"}, {"::", ""},
}

func set(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}

// letterForm matches a word with its apostrophes.
var letterForm = regexp.MustCompile(`^[A-Za-z]+(?:'[A-Za-z]+)*`)

// core reads a chunk without the marks around it; it begins at byte offset of the chunk.
func (r *reader) core(s string, offset int) {
	if r.afterNumber && spacedUnits[s] {
		r.unit(s, offset, offset+len(s))
		return
	}
	if strings.HasSuffix(s, "illion") && r.pendingCurrency != "" {
		r.add(word, offset, offset+len(s), s, r.pendingCurrency)
		r.pendingCurrency = ""
		return
	}
	for at := 0; at < len(s); {
		n := 0
		switch c := s[at]; {
		case isLetter(c):
			n = len(letterForm.FindString(s[at:]))
			if n == 1 && len(s) > 1 {
				r.add(letters, offset+at, offset+at+1, s[at:at+1])
			} else {
				r.name(s[at:at+n], offset+at)
			}
		case isDigit(c):
			n = r.numeral(s, at, offset)
		default:
			n = r.sign(s, at, offset)
		}
		at += n
	}
}

// sign reads the character at s[at], which is no letter or digit, and returns its length.
func (r *reader) sign(s string, at, offset int) int {
	for _, o := range operators {
		if strings.HasPrefix(s[at:], o.written) {
			from, to := offset+at, offset+at+len(o.written)
			switch {
			case o.written == "://":
				r.withoutScheme(from)
			case o.spoken == "—":
				r.mark(o.spoken, from, to)
			case o.written == "--" && at > 0: // a dash between words
				r.mark("—", from, to)
			default:
				r.add(word, from, to, strings.Fields(o.spoken)...)
			}
			return len(o.written)
		}
	}
	c, size := utf8.DecodeRuneInString(s[at:])
	before := at > 0 && (isDigit(s[at-1]) || isLetter(s[at-1]))
	after := at+size < len(s) && (isDigit(s[at+size]) || isLetter(s[at+size]))
	digit := after && isDigit(s[at+size])
	from, to := offset+at, offset+at+size
	say := func(words string) { r.add(word, from, to, strings.Fields(words)...) }
	switch {
	case c == '.' && (after || at+size < len(s)):
		if digit && !before {
			say("point")
		} else {
			say("dot")
		}
	case c == '-' && len(s) == 1:
		r.mark("—", from, to)
	case c == '-' && digit && !before:
		say("minus")
	case c == '-' && after && at == 0:
		say("dash")
	case c == ':' && digit && strings.Contains(s[:at], ".") && !strings.Contains(s, "/") && isLetter(s[at-1]):
		say("line")
	case strings.ContainsRune(ends, c) && (before || after) && c != ':' && c != '.':
		r.mark(string(c), from, to)
	case c == '#' && digit:
		say("number")
	case c == '~' && digit:
		say("about")
	case c == '*' && len(s) > 1 && s[at:] != "*" && !digit && at+size < len(s) && s[at+size] != '.':
	case c == '*' && at > 0 && !digit:
	case c == '*' && digit && before:
		say("times")
	case c == '/' && before && digit && isShare(s, at):
		say("out of")
	case currencies[c] != [2]string{} && digit:
	case signs[c] != "":
		say(signs[c])
	}
	return size
}

// isShare reports whether the slash at s[at] stands between a part and a whole: 3/5.
func isShare(s string, at int) bool {
	a, errA := strconv.Atoi(s[:at])
	b, errB := strconv.Atoi(s[at+1:])
	return errA == nil && errB == nil && a <= b
}

// withoutScheme drops the scheme of an address, which was just read.
func (r *reader) withoutScheme(at int) {
	for len(r.items) > 0 && r.items[len(r.items)-1].start >= r.start && r.items[len(r.items)-1].end <= r.start+at {
		r.items = r.items[:len(r.items)-1]
	}
}
