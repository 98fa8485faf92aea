package voice

import (
	"regexp"
	"strings"
	"testing"
)

func TestNumbersReachTheEngineAsItReadsThem(t *testing.T) {
	for text, want := range map[string]string{
		"$1,234.5678":                   "1234.5678 dollars",
		"It costs $1,234.50, or so":     "It costs $1234.50, or so",
		"$1,234":                        "$1234",
		"$1,234 million":                "$1234 million",
		"$1.5 billion":                  "$1.5 billion",
		"$1.5":                          "$1.50",
		"US$5":                          "$5",
		"5$":                            "$5",
		"€1.234,56":                     "1234.56 euros",
		"1.234,56 €":                    "1234.56 euros",
		"1\u202f234\u202f567,89\u00a0€": "1234567.89 euros",
		"€1.234":                        "1234 euros",
		"1 €":                           "1 euro",
		"€5 million":                    "5 million euros",
		"£1,234.56":                     "1234.56 pounds",
		"¥1,234":                        "1234 yen",
		"CHF 1'234.50":                  "CHF 1234.50",
		"1’234.50 CHF":                  "1234.50 CHF",
		"1.234.567 EUR":                 "1234567 EUR",
		"12,5 %":                        "12.5 %",
		"1,234,567 files":               "1234567 files",
		"₹12,34,567":                    "₹12,34,567", // read in parts, after spaced
		"pi is 3.14159":                 "pi is 3.14159",
		"version 1.2.3":                 "version 1.2.3",
		"192.168.100.200":               "192.168.100.200",
		"max(1,2)":                      "max(1,2)",
		"in 2024, 12 of them":           "in 2024, 12 of them",
		"no numbers":                    "no numbers",
	} {
		if got := numerals(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// Flite's patterns for an amount in dollars and for a measure (make_us_regexes).
var (
	fliteMoney   = regexp.MustCompile(`^\$[0-9,]+(\.[0-9]+)?$`)
	fliteMeasure = regexp.MustCompile(`^[0-9,]*[0-9]+(lb|LB|lbs|LBS|ft|FT|kg|km|oz|hz|Hz|HZ|KHz|MHz|GHz|cm|mm|ml|KB|MB|GB|TB)$`)
)

// outOfBounds returns the part of a text that would make Flite read past its tables.
func outOfBounds(piece string) string {
	for token := range strings.SplitSeq(piece, " ") {
		token = strings.TrimLeft(token, "\"'`({[")
		token = strings.TrimRight(token, "\"'`.,:;!?(){}[]")
		if strings.Contains(token, ",") && (fliteMoney.MatchString(token) || fliteMeasure.MatchString(token)) {
			return token
		}
	}
	return ""
}

// FuzzTextReachesTheEngineInBounds checks that for any text, no number that the engine
// parses contains a comma.
func FuzzTextReachesTheEngineInBounds(f *testing.F) {
	for _, text := range []string{
		"$1,234.5678", "$1,234 million", "1,,234kg", "$1,.256", "$,", "$,5.678", "It is $1,234.", "1.234,5678 $",
		"€1.234,5678", "12,34,567 MB", "1,2,3", "$1,2,3.456 trillion", "\"$1,234.567\"", "($9,9.999)", "¥1,234,567.891",
		"$1\u00a0234,567", "$１,２３４.５６７", "$1'234,567.891", strings.Repeat("1,", 400) + "kg", strings.Repeat("$1,234.567", 90),
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, piece := range pieces(text) {
			if bad := outOfBounds(piece); bad != "" {
				t.Errorf("%q reaches the engine with %q", text, bad)
			}
			for i := range len(piece) {
				if piece[i] == ',' && i+1 < len(piece) && piece[i+1] != ' ' {
					t.Errorf("%q reaches the engine with a comma inside %q", text, piece)
				}
			}
			if piece == "" || len(piece) > maxPiece {
				t.Errorf("a piece of %d bytes", len(piece))
			}
		}
	})
}
