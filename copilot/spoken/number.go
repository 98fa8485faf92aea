package spoken

import (
	"math"
	"strconv"
	"strings"
	"unicode"
)

// numberWords maps number words to values; values of 100 and more multiply.
var numberWords = map[string]float64{
	"zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
	"eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19,
	"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
	"a": 1, "to": 2, "too": 2, "half": 0.5, "double": 2, "triple": 3, "twice": 2,
	"null": 0, "eins": 1, "ein": 1, "eine": 1, "zwei": 2, "zwo": 2, "drei": 3, "vier": 4, "fünf": 5, "sechs": 6, "sieben": 7, "acht": 8, "neun": 9,
	"zehn": 10, "elf": 11, "zwölf": 12, "sechzehn": 16, "siebzehn": 17, "dreizehn": 13, "vierzehn": 14, "fünfzehn": 15, "achtzehn": 18, "neunzehn": 19,
	"zwanzig": 20, "dreißig": 30, "dreissig": 30, "vierzig": 40, "fünfzig": 50, "sechzig": 60, "siebzig": 70, "achtzig": 80, "neunzig": 90,
	"halbe": 0.5, "halbes": 0.5, "doppelte": 2, "doppeltes": 2, "anderthalb": 1.5, "anderthalbfache": 1.5,
	"〇": 0, "零": 0, "一": 1, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9,
}

var multipliers = map[string]float64{"hundred": 100, "thousand": 1000, "hundert": 100, "tausend": 1000, "十": 10, "百": 100, "千": 1000, "万": 10000}

// maxCommandNumber is the largest number in a command.
const maxCommandNumber = 1_000_000

// numberOf parses a number in digits or in English, German or Japanese words.
func numberOf(text string) (n float64, ok bool) {
	whole, part, point := text, "", false
	for _, w := range []string{" point ", " komma ", " punkt ", "点"} {
		if b, a, found := strings.Cut(text, w); found {
			whole, part, point = b, a, true
		}
	}
	if n, ok = wholeNumber(whole); !ok || !point {
		return n, ok
	}
	scale := 0.1
	for _, w := range numerals(part) {
		digits, err := strconv.Atoi(w)
		if err != nil {
			d, known := numberWords[w]
			if !known || d >= 10 || d != float64(int(d)) {
				return 0, false
			}
			digits, w = int(d), "0"
		}
		for range len(w) - 1 {
			scale /= 10
		}
		n += float64(digits) * scale
		scale /= 10
	}
	return n, part != ""
}

func wholeNumber(text string) (n float64, ok bool) {
	total, section, unit := 0.0, 0.0, -1.0 // below a million: thousands, hundreds, and the rest; -1 for nothing yet
	for _, w := range numerals(text) {
		if (w == "and" || w == "und") && ok {
			continue
		}
		if m := multipliers[w]; m != 0 {
			if unit < 0 && section == 0 {
				unit = 1
			}
			if m < 1000 || m == 1000 && w == "千" {
				section, unit = section+math.Abs(unit)*m, -1
			} else {
				total, section, unit = total+(section+max(unit, 0))*m, 0, -1
			}
		} else {
			v, known := numberWords[w]
			if !known {
				d, err := strconv.Atoi(w)
				if err != nil {
					return 0, false
				}
				v = float64(d)
			}
			switch {
			case unit < 0:
				unit = v
			case unit >= 20 && math.Mod(unit, 10) == 0 && v < 10: // "forty two", but not "four two"
				unit += v
			default:
				return 0, false
			}
		}
		ok = true
	}
	n = total + section + max(unit, 0)
	return n, ok && n <= maxCommandNumber
}

// numerals splits a number into its words; it also splits German compounds and Japanese
// characters.
func numerals(text string) (out []string) {
	for _, w := range strings.Fields(text) {
		switch r := []rune(w); {
		case unicode.IsDigit(r[0]):
			out = append(out, strings.Map(plainDigit, w))
		case unicode.Is(unicode.Han, r[0]):
			for _, c := range r {
				out = append(out, string(c))
			}
		default:
			out = append(out, germanNumerals(w)...)
		}
	}
	return out
}

func plainDigit(r rune) rune {
	if r >= '０' && r <= '９' {
		return r - '０' + '0'
	}
	return r
}

// germanNumerals splits a number such as zweihundertzweiundvierzig into two, hundred,
// forty, two.
func germanNumerals(w string) []string {
	if _, known := numberWords[w]; known || multipliers[w] != 0 {
		return []string{w}
	}
	for _, m := range []string{"tausend", "hundert"} {
		if before, after, found := strings.Cut(w, m); found {
			out := []string{m}
			if before != "" {
				out = append(germanNumerals(before), m)
			}
			if after != "" {
				out = append(out, germanNumerals(after)...)
			}
			return out
		}
	}
	if unit, ten, found := strings.Cut(w, "und"); found && numberWords[ten] >= 20 && numberWords[unit] > 0 {
		return []string{ten, unit}
	}
	return []string{w}
}
