package pronounce

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

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
	"px": {"pixel", "pixels"}, "mm": {"millimeter", "millimeters"}, "cm": {"centimeter", "centimeters"}, "km": {"kilometer", "kilometers"}, "m": {"minute", "minutes"},
	"kg": {"kilogram", "kilograms"}, "g": {"gram", "grams"}, "dB": {"decibel", "decibels"}, "C": {"celsius", "celsius"}, "fps": {"frame per second", "frames per second"},
}

// spacedUnits are the units that also stand after a blank; the others mean something else there.
var spacedUnits = set("ns μs ms s sec secs min mins h hr hrs B kB KB KiB MB MiB GB GiB TB Mbps Gbps kbps Hz kHz MHz GHz px mm cm km kg dB")

var currencies = map[rune][2]string{'$': {"dollar", "dollars"}, '€': {"euro", "euros"}, '£': {"pound", "pounds"}, '¥': {"yen", "yen"}}

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
)

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
		if isDigit(s[0]) { // 1m30s
			n += r.suffix(rest[n:], offset+at+n)
		}
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
			r.pendingCurrency = name[1]
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
		words, n = append(words[:len(words)-1], pluralWord(words[len(words)-1])), len(rest)
	}
	r.add(word, offset+at, offset+at+n, words...)
	r.afterNumber = true
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

// pluralWord returns the plural of a number's word.
func pluralWord(word string) string {
	switch {
	case strings.HasSuffix(word, "y"):
		return word[:len(word)-1] + "ies"
	case strings.HasSuffix(word, "x"):
		return word + "es"
	}
	return word + "s"
}
