package voice

import (
	"regexp"
	"strings"
)

// Flite reads past its tables for a number that contains a comma. en_exp_number
// (us_expand.c) uses each character of its argument, minus '0', as an index, so all of
// them must be digits. us_text.c ensures this where it removes the commas first, but
// not
//
//   - for an amount in dollars, \$[0-9,]+(\.[0-9]+)?, that is followed by a word in
//     -illion, or has three decimals or more: "$1,234.5678";
//   - for a measure, [0-9,]*[0-9]+(kg|km|MB|...), with two commas in a row, of which it
//     removes only one: "1,,234kg".
//
// The engine splits text at spaces and strips punctuation from the ends of each token.
// The numbers are therefore safe if each comma is followed by a space or ends the text,
// which spaced ensures. numerals removes the commas from numbers first, so that they
// are still read as numbers.

// numeral matches a number in a locale's format, with its currency or percent sign.
var numeral = regexp.MustCompile(`(US\$|\$|€|£|¥|₹|₩|\b(?:EUR|USD|GBP|CHF|JPY)[ \x{a0}\x{202f}])?` + // 1: before
	`[ \x{a0}\x{202f}]?` +
	`([0-9]+(?:[.,'’\x{a0}\x{202f}\x{2009}][0-9]+)*)` + // 2: the number
	`([ \x{a0}\x{202f}][a-z]*illion\b)?` + // 3: its scale
	`([ \x{a0}\x{202f}]?(?:[$€£¥₹₩%]|(?:EUR|USD|GBP|CHF|JPY)\b))?`) // 4: after

// currencies are the spoken names, singular and plural, of signs that the engine does
// not know.
var currencies = map[string][2]string{
	"€": {"euro", "euros"}, "£": {"pound", "pounds"}, "¥": {"yen", "yen"}, "₹": {"rupee", "rupees"}, "₩": {"won", "won"},
	"$": {"dollar", "dollars"},
}

// numerals rewrites the numbers in text for the engine: without thousands separators,
// with a decimal point, and with the currency in its spoken position.
func numerals(text string) string {
	var b strings.Builder
	end := 0
	for _, at := range numeral.FindAllStringSubmatchIndex(text, -1) {
		group := func(n int) string {
			if at[2*n] < 0 {
				return ""
			}
			return text[at[2*n]:at[2*n+1]]
		}
		spoken, ok := spokenNumeral(group(1), group(2), group(3), group(4))
		if !ok {
			continue
		}
		b.WriteString(text[end:at[0]])
		if group(1) == "" && at[4] > at[0] { // the space before a bare number
			b.WriteByte(' ')
		}
		b.WriteString(spoken)
		end = at[1]
	}
	return b.String() + text[end:]
}

// spokenNumeral rewrites one number with its context. It returns false if the text is
// not a number, but a version or a list, for example.
func spokenNumeral(before, number, scale, after string) (string, bool) {
	sign := strings.TrimPrefix(before, "US")
	code := after // a code or a percent sign stays in place
	if c := strings.Trim(after, " \u00a0\u202f"); currencies[c] != [2]string{} && sign == "" {
		sign, code = c, ""
	}
	name, amount := currencies[sign]
	whole, fraction, ok := split(number, amount || before != "" || after != "", sign == "€")
	if !ok {
		return "", false
	}
	switch {
	case !amount:
		return before + point(whole, fraction) + scale + code, true
	case sign == "$" && scale != "":
		return "$" + point(whole, fraction) + scale + code, true // the engine says "dollars" after the scale
	case sign == "$" && len(fraction) == 0 || sign == "$" && len(fraction) == 2:
		return "$" + point(whole, fraction) + code, true
	case sign == "$" && len(fraction) == 1: // the engine would read 5 as five cents
		return "$" + point(whole, fraction+"0") + code, true
	case whole == "1" && fraction == "" && scale == "":
		return "1 " + name[0] + code, true
	default:
		return point(whole, fraction) + scale + " " + name[1] + code, true
	}
}

func point(whole, fraction string) string {
	if fraction == "" {
		return whole
	}
	return whole + "." + fraction
}

// split parses a number with separators. amount means that the number has a currency or
// a percent sign, so a comma is a decimal separator unless three digits follow; points
// means that a point before three digits separates thousands.
func split(number string, amount, points bool) (whole, fraction string, ok bool) {
	parts := strings.FieldsFunc(number, func(r rune) bool { return r < '0' || r > '9' })
	var marks []string
	for _, r := range number {
		if r < '0' || r > '9' {
			marks = append(marks, string(r))
		}
	}
	if len(marks) == 0 {
		return number, "", true
	}
	last, group := marks[len(marks)-1], marks[0]
	decimal := last == "." || last == ","
	switch {
	case last != group: // the last mark is the decimal separator, if possible
		if !decimal {
			return "", "", false
		}
	case len(marks) > 1: // thousands, a list or a version
		decimal = false
		if group == "." && !amount {
			return "", "", false
		}
	case last == ".":
		decimal = !points || !thousands(parts)
	case last == ",":
		decimal = !thousands(parts) || parts[0] == "0"
		if decimal && !amount {
			return "", "", false
		}
	}
	if decimal {
		fraction, parts, marks = parts[len(parts)-1], parts[:len(parts)-1], marks[:len(marks)-1]
	}
	for _, m := range marks {
		if m != group {
			return "", "", false
		}
	}
	return strings.Join(parts, ""), fraction, thousands(parts)
}

// thousands reports whether parts form a number that is grouped in thousands, or not
// grouped at all.
func thousands(parts []string) bool {
	for _, p := range parts[1:] {
		if len(p) != 3 {
			return false
		}
	}
	return len(parts) == 1 || len(parts[0]) <= 3
}

// spaced inserts a space after each comma that lacks one.
func spaced(text string) string {
	var b strings.Builder
	for i := range len(text) {
		b.WriteByte(text[i])
		if text[i] == ',' && i+1 < len(text) && text[i+1] != ' ' {
			b.WriteByte(' ')
		}
	}
	return b.String()
}
