package pronounce

import (
	"strconv"
	"strings"
)

var (
	ones = strings.Fields("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen")
	tens = strings.Fields("zero ten twenty thirty forty fifty sixty seventy eighty ninety")
	// scales are the names of the powers of 1000.
	scales = []string{"", "thousand", "million", "billion", "trillion"}
	months = strings.Fields("January February March April May June July August September October November December")
)

// maxCardinal is the number of digits up to which a number is read as one.
const maxCardinal = 15

// cardinal writes a whole number as words; leading zeros and very long numbers are read
// digit by digit.
func cardinal(digits string) []string {
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil || len(digits) > maxCardinal || len(digits) > 1 && digits[0] == '0' {
		return eachDigit(digits)
	}
	return cardinalOf(n)
}

func cardinalOf(n uint64) []string {
	if n < 1000 {
		return hundreds(n)
	}
	var words []string
	for i, scale := len(scales)-1, uint64(1e12); i > 0; i, scale = i-1, scale/1000 {
		if n >= scale {
			words = append(append(words, hundreds(n/scale)...), scales[i])
			n %= scale
		}
	}
	if n > 0 {
		words = append(words, hundreds(n)...)
	}
	return words
}

func hundreds(n uint64) []string {
	var words []string
	if n >= 100 {
		if words = append(words, ones[n/100], "hundred"); n%100 == 0 {
			return words
		}
		n %= 100
	}
	if n < 20 {
		return append(words, ones[n])
	}
	if words = append(words, tens[n/10]); n%10 > 0 {
		words = append(words, ones[n%10])
	}
	return words
}

func eachDigit(digits string) []string {
	words := make([]string, 0, len(digits))
	for i := range len(digits) {
		if digits[i] >= '0' && digits[i] <= '9' {
			words = append(words, ones[digits[i]-'0'])
		}
	}
	return words
}

// pairs reads a number as people read ports, years and codes: 8080 as "eighty eighty", 404
// as "four oh four", 256 as "two fifty six".
func pairs(digits string) []string {
	if len(digits) < 3 || len(digits) > 4 || digits[0] == '0' {
		return cardinal(digits)
	}
	head, tail := digits[:len(digits)-2], digits[len(digits)-2:]
	switch {
	case tail == "00" && head[len(head)-1] == '0': // 2000
		return cardinal(digits)
	case tail == "00":
		return append(cardinal(head), "hundred")
	case tail[0] == '0':
		return append(cardinal(head), "oh", ones[tail[1]-'0'])
	}
	return append(cardinal(head), cardinal(tail)...)
}

// year reads a year: 2024 as "twenty twenty four", 2006 as "two thousand six".
func year(digits string) []string {
	if len(digits) == 4 && strings.HasPrefix(digits, "200") {
		return cardinal(digits)
	}
	return pairs(digits)
}

// decimal reads a number with a fraction.
func decimal(whole, fraction string) []string {
	words := cardinal(whole)
	if fraction == "" {
		return words
	}
	return append(append(words, "point"), eachDigit(fraction)...)
}

var irregularOrdinals = map[string]string{
	"one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth", "nine": "ninth", "twelve": "twelfth",
}

// ordinal turns the words of a number into its ordinal.
func ordinal(words []string) []string {
	last := words[len(words)-1]
	switch o := irregularOrdinals[last]; {
	case o != "":
		last = o
	case strings.HasSuffix(last, "y"):
		last = last[:len(last)-1] + "ieth"
	default:
		last += "th"
	}
	return append(words[:len(words)-1:len(words)-1], last)
}

// clock reads a time of day: 10:30, 9:05, 10:00.
func clock(hour, minute string) []string {
	words := cardinal(strings.TrimPrefix(hour, "0"))
	if hour == "00" {
		words = []string{"zero"}
	}
	switch {
	case minute == "00" && words[0] != "zero" && (len(hour) == 1 || hour <= "12"):
		return append(words, "o'clock")
	case minute == "00":
		return append(words, "hundred")
	case minute[0] == '0':
		return append(words, "oh", ones[minute[1]-'0'])
	}
	return append(words, cardinal(minute)...)
}
