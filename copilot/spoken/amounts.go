package spoken

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

var (
	isoDate    = regexp.MustCompile(`^(\d{4})-(\d{2})-(\d{2})(?:[T_](\d{2}:\d{2})(?::\d{2}(?:[.,]\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$`)
	clock      = regexp.MustCompile(`^(\d{1,2}:\d{2}:\d{2})[.,]\d+$`)
	duration   = regexp.MustCompile(`^(?:\d+(?:\.\d+)?(?:h|min|ms|m|s|µs|us|ns|d))+$`)
	component  = regexp.MustCompile(`(\d+(?:\.\d+)?)(h|min|ms|m|s|µs|us|ns|d)`)
	price      = regexp.MustCompile(`^([$€£¥])(\d[\d.,]*)([kKMB]?)(?:/(\w+))?$`)
	numbers    = regexp.MustCompile(`^(\d+(?:[.,]\d+)?)[-–](\d+(?:[.,]\d+)?)(\D*)$`)
	scientific = regexp.MustCompile(`^(\d+(?:\.\d+)?)[eE]([+-]?)(\d{1,3})$`)
	fraction   = regexp.MustCompile(`^(\d+[.,])(\d{7,})$`)
	comparison = regexp.MustCompile(`^(\^|~>|~=|>=|<=|==|!=|=|<|>|~)v?(\d\S*)$`)
	prerelease = regexp.MustCompile(`^(\d+\.\d+(?:\.\d+)?)-([A-Za-z][\w.-]*)(?:\+([\w.-]+))?$`)
	span       = regexp.MustCompile(`^([\w/~^.-]*\w)\.\.([\w^][\w/~^.-]*)$`)
	amounts    = regexp.MustCompile(`^(\d[\d.,]*[a-zA-Zµ%°]+)[-–](\d[\d.,]*[a-zA-Zµ%°]+)$`)
	raised     = regexp.MustCompile(`^(\w+)\^(-?\w+)(\)*)$`)
)

// sayAmount speaks a word that begins with a digit.
func (l *language) sayAmount(w string) string {
	if said, ok := l.sayTime(w); ok {
		return said
	}
	if said, ok := l.sayNumber(w); ok {
		return said
	}
	n := 0
	for n < len(w) && (isDigit(w[n]) || (w[n] == '.' || w[n] == ',') && n+1 < len(w) && isDigit(w[n+1])) {
		n++
	}
	number, rest := w[:n], w[n:]
	if u, ok := l.unitOf(rest); ok {
		return number + " " + u.of(number)
	}
	if rest == "k" || rest == "K" {
		return number + " " + l.thousand
	}
	return w
}

// sayTime says a date, a time of day with a fraction, or a duration.
func (l *language) sayTime(w string) (said string, ok bool) {
	if m := isoDate.FindStringSubmatch(w); m != nil {
		month, day := dateNumber(m[2]), dateNumber(m[3])
		if month < 1 || month > 12 || day < 1 || day > 31 {
			return "", false
		}
		said = l.date(m[1], month, day)
		if m[4] != "" {
			said += ", " + m[4]
		}
		if m[5] == "Z" {
			said += " UTC"
		}
		return said, true
	}
	if m := clock.FindStringSubmatch(w); m != nil {
		return m[1], true
	}
	if !duration.MatchString(w) {
		return "", false
	}
	parts := component.FindAllStringSubmatch(w, -1)
	if len(parts) == 1 && (parts[0][2] == "m" || parts[0][2] == "d") {
		return "", false // metres, or 3d
	}
	var out []string
	for _, p := range parts {
		out = append(out, p[1]+" "+l.periods[p[2]].of(p[1]))
	}
	return strings.Join(out, " "), true
}

// dateNumber reads the digits of a date.
func dateNumber(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}

// sayNumber says a range, a power or a version.
func (l *language) sayNumber(w string) (said string, ok bool) {
	if m := amounts.FindStringSubmatch(w); m != nil {
		from, to := l.sayAmount(m[1]), l.sayAmount(m[2])
		return from + " " + l.until + " " + to, from != m[1] && to != m[2]
	}
	if m := numbers.FindStringSubmatch(w); m != nil {
		u, known := l.unitOf(m[3])
		if m[3] != "" && !known || !ascends(m[1], m[2]) {
			return "", false
		}
		said = m[1] + " " + l.until + " " + m[2]
		if m[3] != "" {
			said += " " + u.many
		}
		return said, true
	}
	if m := scientific.FindStringSubmatch(w); m != nil {
		exponent := m[3]
		if m[2] == "-" {
			exponent = l.minus + " " + exponent
		}
		said = "10 " + l.power + " " + exponent
		if m[1] != "1" {
			said = m[1] + " " + l.signs['×'] + " " + said
		}
		return said, true
	}
	if m := prerelease.FindStringSubmatch(w); m != nil {
		said = m[1] + " " + strings.NewReplacer("-", " ", ".", " ").Replace(m[2])
		if m[3] != "" {
			said += " " + l.plus + " " + m[3]
		}
		return said, true
	}
	return "", false
}

// rounded cuts a fraction after four digits.
func rounded(whole, digits string) string {
	if digits = strings.TrimRight(digits[:maxFraction-2], "0"); digits != "" {
		return whole + digits
	}
	return whole[:len(whole)-1]
}

// ascends reports whether two numbers are a range: "3-5", but not "2026-11".
func ascends(from, to string) bool {
	a, err := strconv.ParseFloat(strings.Replace(from, ",", ".", 1), 64)
	b, err2 := strconv.ParseFloat(strings.Replace(to, ",", ".", 1), 64)
	return err == nil && err2 == nil && a < b
}

func onlyDigits(w string) bool {
	for i := range len(w) {
		if !isDigit(w[i]) {
			return false
		}
	}
	return w != ""
}

// unitOf returns a unit, or the quotient of two, such as MB/s.
func (l *language) unitOf(written string) (unit, bool) {
	if u, ok := l.units[written]; ok {
		return u, true
	}
	above, below, found := strings.Cut(written, "/")
	u, known := l.units[above]
	per, knownToo := l.units[below]
	if !found || !known || !knownToo {
		return unit{}, false
	}
	if l.perFirst {
		return unit{l.per + per.one + u.one, l.per + per.one + u.many}, true
	}
	return unit{u.one + " " + l.per + " " + per.one, u.many + " " + l.per + " " + per.one}, true
}

// sayPrice says a price whose currency is in front.
func (l *language) sayPrice(w string) (said string, ok bool) {
	m := price.FindStringSubmatch(w)
	if m == nil {
		return "", false
	}
	u, known := l.units[m[1]]
	if !known {
		return "", false
	}
	amount := m[2]
	if m[3] != "" {
		amount += " " + l.multiples[strings.ToUpper(m[3])]
	}
	if said = amount + " " + u.of(amount); m[4] != "" {
		said += " " + l.per + " " + m[4]
	}
	return said, true
}

// sayComparison says a range of versions or a bound: ^1.2.3, >=18, ~5.
func (l *language) sayComparison(w string) (said string, ok bool) {
	m := comparison.FindStringSubmatch(w)
	if m == nil {
		return "", false
	}
	first, rest, more := m[2], "", false
	if i := strings.IndexAny(m[2], ",<>"); i > 0 {
		first, rest, more = m[2][:i], strings.TrimLeft(m[2][i:], ","), true
	}
	sign := l.bounds[m[1]]
	if m[1] == "~" && strings.Count(first, ".") < 2 {
		sign = l.about
	}
	said = sign + " " + l.sayWord(first, "", "")
	if more {
		said += ", " + l.sayWord(rest, "", "")
	}
	return said, true
}

// saySigned says a word with a sign in front of a number.
func (l *language) saySigned(w string) (said string, ok bool) {
	r, size := utf8.DecodeRuneInString(w)
	if len(w) == size || !isDigit(w[size]) {
		return "", false
	}
	switch r {
	case '+':
		return l.plus + " " + l.sayWord(w[size:], "", ""), true
	case '-', '−':
		return l.minus + " " + l.sayWord(w[size:], "", ""), true
	}
	return "", false
}
