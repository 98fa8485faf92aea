package pronounce

import (
	"regexp"
	"slices"
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

// unit is the spoken singular and plural of a unit after a number.
type unit struct{ one, many string }

var units = map[string]unit{
	"ns": {"nanosecond", "nanoseconds"}, "us": {"microsecond", "microseconds"}, "μs": {"microsecond", "microseconds"},
	"ms": {"millisecond", "milliseconds"}, "s": {"second", "seconds"}, "sec": {"second", "seconds"}, "secs": {"second", "seconds"},
	"min": {"minute", "minutes"}, "mins": {"minute", "minutes"}, "h": {"hour", "hours"}, "hr": {"hour", "hours"}, "hrs": {"hour", "hours"}, "d": {"day", "days"},
	"B": {"byte", "bytes"}, "kB": {"kilobyte", "kilobytes"}, "KB": {"kilobyte", "kilobytes"}, "KiB": {"kibibyte", "kibibytes"},
	"MB": {"megabyte", "megabytes"}, "MiB": {"mebibyte", "mebibytes"}, "GB": {"gigabyte", "gigabytes"}, "GiB": {"gibibyte", "gibibytes"}, "TB": {"terabyte", "terabytes"},
	"Mbps": {"megabit per second", "megabits per second"}, "Gbps": {"gigabit per second", "gigabits per second"}, "kbps": {"kilobit per second", "kilobits per second"},
	"Hz": {"hertz", "hertz"}, "kHz": {"kilohertz", "kilohertz"}, "MHz": {"megahertz", "megahertz"}, "GHz": {"gigahertz", "gigahertz"},
	"px": {"pixel", "pixels"}, "mm": {"millimeter", "millimeters"}, "cm": {"centimeter", "centimeters"}, "km": {"kilometer", "kilometers"}, "m": {"meter", "meters"},
	"kg": {"kilogram", "kilograms"}, "g": {"gram", "grams"}, "dB": {"decibel", "decibels"}, "C": {"celsius", "celsius"}, "fps": {"frame per second", "frames per second"},
}

// apart are the units that also stand after a blank; the others mean something else there.
var apart = set("ns us μs ms s sec secs min mins h hr hrs B kB KB KiB MB MiB GB GiB TB Mbps Gbps kbps Hz kHz MHz GHz px mm cm km kg dB")

var currencies = map[rune][2]string{'$': {"dollar", "dollars"}, '€': {"euro", "euros"}, '£': {"pound", "pounds"}, '¥': {"yen", "yen"}}

func set(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}

// The words before a number that say how it is read.
var (
	beforePort    = set("port ports localhost pid")
	beforeCode    = set("http https status code codes error errors rfc issue")
	beforeYear    = set("in since by until of from year before after copyright january february march april may june july august september october november december")
	beforeVersion = set("version versions go python node java ruby rust php v release typescript kotlin swift postgres redis ubuntu debian macos android ios vscode npm tag")
)

var (
	dateForm    = regexp.MustCompile(`^(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])\b`)
	versionForm = regexp.MustCompile(`^\d+(?:\.\d+){2,}`)
	timeForm    = regexp.MustCompile(`^([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?\b`)
	numberForm  = regexp.MustCompile(`^(\d{1,3}(?:,\d{3})+\b|\d+)(?:\.(\d+))?`)
	ordinalForm = regexp.MustCompile(`^(st|nd|rd|th)\b`)
	letterForm  = regexp.MustCompile(`^(?:[A-Za-z]+(?:'[A-Za-z]+)*)`)
)

// core reads a chunk without the marks around it; it begins at byte offset of the chunk.
func (r *reader) core(s string, offset int) {
	if r.number && apart[s] {
		r.unit(s, offset, offset+len(s))
		return
	}
	if strings.HasSuffix(s, "illion") && r.owed != "" {
		r.add(word, offset, offset+len(s), s, r.owed)
		r.owed = ""
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

// unit appends the unit of the number before it.
func (r *reader) unit(written string, from, to int) {
	u := units[written]
	spoken := u.many
	if n := len(r.items); r.items[n-1].text == "one" && (n == 1 || r.items[n-2].end != r.items[n-1].end) {
		spoken = u.one
	}
	r.add(word, from, to, strings.Fields(spoken)...)
}

// numeral reads a number at s[at] and returns its length.
func (r *reader) numeral(s string, at, offset int) int {
	rest, before := s[at:], r.before()
	if at > 0 && (isDigit(s[at-1]) || isLetter(s[at-1])) { // sha256, x86
		if v := versionForm.FindString(rest); v != "" {
			r.add(word, offset+at, offset+at+len(v), version(v)...)
			return len(v)
		}
		n := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		r.add(word, offset+at, offset+at+n, pairs(rest[:n])...)
		return n
	}
	if m := dateForm.FindStringSubmatch(rest); m != nil {
		month, _ := strconv.Atoi(m[2])
		words := append([]string{months[month-1]}, ordinal(cardinal(strings.TrimPrefix(m[3], "0")))...)
		r.add(word, offset+at, offset+at+len(m[0]), append(words, year(m[1])...)...)
		return len(m[0])
	}
	if m := timeForm.FindStringSubmatch(rest); m != nil && len(m[0]) >= 4 {
		words := clock(m[1], m[2])
		if m[3] != "" {
			words = append(words, cardinal(strings.TrimPrefix(m[3], "0"))...)
		}
		r.add(word, offset+at, offset+at+len(m[0]), words...)
		return len(m[0])
	}
	if v := versionForm.FindString(rest); v != "" {
		r.add(word, offset+at, offset+at+len(v), version(v)...)
		return len(v)
	}
	m := numberForm.FindStringSubmatch(rest)
	n := len(m[0])
	whole, fraction := strings.ReplaceAll(m[1], ",", ""), m[2]
	sign := rune(0)
	if at > 0 {
		sign, _ = utf8.DecodeLastRuneInString(s[:at])
	}
	var words []string
	name, money := currencies[sign]
	switch {
	case money && len(fraction) == 2 && fraction != "00":
		words = slices.Concat(cardinal(whole), []string{plural(whole, name), "and"}, cardinal(strings.TrimPrefix(fraction, "0")), []string{"cents"})
	case money:
		words = decimal(whole, strings.TrimRight(fraction, "0"))
		if scale, ok := scaleOf[rest[n:]]; ok {
			words, n = append(words, scale, name[1]), len(rest)
		} else if r.scaleFollows() {
			r.owed = name[1]
		} else {
			words = append(words, plural(whole+fraction, name))
		}
	default:
		words = r.plainNumber(m[1], whole, fraction, before, sign)
	}
	if suffix := ordinalForm.FindString(rest[n:]); suffix != "" && fraction == "" {
		words, n = ordinal(words), n+len(suffix)
	}
	if rest[n:] == "s" && len(whole) == 4 && fraction == "" { // the 1990s
		words = year(whole)
		words, n = append(words[:len(words)-1], several(words[len(words)-1])), len(rest)
	}
	r.add(word, offset+at, offset+at+n, words...)
	r.number = true
	return n + r.suffix(rest[n:], offset+at+n)
}

var scaleOf = map[string]string{"k": "thousand", "K": "thousand", "M": "million", "bn": "billion", "B": "billion"}

func plural(number string, name [2]string) string {
	if number == "1" {
		return name[0]
	}
	return name[1]
}

// scaleFollows reports whether the next word is "million" or alike, which stands before
// the currency when it is spoken.
func (r *reader) scaleFollows() bool {
	next, _, _ := strings.Cut(strings.TrimLeft(r.text[r.end:], " \u00a0"), " ")
	return strings.HasSuffix(strings.TrimRight(next, ends), "illion")
}

// plainNumber decides how a number without a unit is read.
func (r *reader) plainNumber(written, whole, fraction, before string, sign rune) []string {
	switch {
	case fraction != "" && beforeVersion[before]:
		return version(whole + "." + fraction)
	case fraction != "" || written != whole:
		return decimal(whole, fraction)
	case sign == ':' && len(whole) == 4, beforePort[before], beforeCode[before], whole == "404":
		return pairs(whole)
	case len(whole) == 4 && beforeYear[before] && whole >= "1800" && whole < "2100":
		return year(whole)
	}
	return cardinal(whole)
}

// suffix reads what directly follows a number and returns its length.
func (r *reader) suffix(rest string, offset int) int {
	if strings.HasPrefix(rest, "-") || strings.HasPrefix(rest, "—") { // a range
		dash := len(rest) - len(strings.TrimLeft(rest, "-—"))
		if dash < len(rest) && isDigit(rest[dash]) {
			r.add(word, offset, offset+dash, "to")
			return dash
		}
		return 0
	}
	w := letterForm.FindString(rest)
	if _, ok := units[w]; ok && w != "" {
		r.unit(w, offset, offset+len(w))
	} else {
		w = ""
	}
	return len(w)
}

// version reads the parts of a version or an address as numbers.
func version(v string) []string {
	var words []string
	parts := strings.Split(v, ".")
	separator := "point"
	if len(parts) == 4 {
		separator = "dot"
	}
	for i, p := range parts {
		if i > 0 {
			words = append(words, separator)
		}
		if len(p) == 3 {
			words = append(words, pairs(p)...)
		} else {
			words = append(words, cardinal(p)...)
		}
	}
	return words
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

// several returns the plural of a number's word.
func several(word string) string {
	switch {
	case strings.HasSuffix(word, "y"):
		return word[:len(word)-1] + "ies"
	case strings.HasSuffix(word, "x"):
		return word + "es"
	}
	return word + "s"
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
