package vocab

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestNumbersAreWrittenInDigits(t *testing.T) {
	v := New(nil, nil)
	for heard, want := range map[string]string{
		"open port eighty eighty":                       "open port 8080",
		"Listen on port three thousand, please.":        "Listen on port 3000, please.",
		"postgres is on port fifty four thirty two now": "postgres is on port 5432 now",
		"port four forty three is taken":                "port 443 is taken",
		"use port Eighty-Eighty instead":                "use port 8080 instead",
		"port eight oh eight oh and port eighty":        "port 8080 and port 80",
		"port sixty five thousand five thirty five":     "port 65535",
		"open localhost eighty eighty":                  "open localhost:8080",
		"localhost port three thousand one":             "localhost port 3001",
		"why does line forty two panic":                 "why does line 42 panic",
		"delete line one hundred and five":              "delete line 105",
		"line seven, then line nine":                    "line 7, then line 9",
		"line five is wrong":                            "line 5 is wrong",
		"upgrade to version one point two":              "upgrade to version 1.2",
		"Go version one point twenty two":               "Go version 1.22",
		"version two point oh point eleven breaks it":   "version 2.0.11 breaks it",
		"version three":                                 "version 3",
		"it fails with error four oh four":              "it fails with error 404",
		"status five hundred":                           "status 500",
		"status code two hundred and four":              "status code 204",
		"it ends with exit code one":                    "it ends with exit code 1",
		"the line forty two":                            "the line 42",
		"port two hundred":                              "port 200",
		"line two hundred and then stop":                "line 200 and then stop",
		"version one dot two":                           "version 1.2",
		"Use port 5,432.":                               "Use port 5432.",
		"go to line 1,024, please":                      "go to line 1024, please",
	} {
		got, changes := v.Correct(heard)
		if got != want {
			t.Errorf("%q became %q, want %q", heard, got, want)
		}
		if len(changes) == 0 {
			t.Errorf("%q has no changes", heard)
		}
	}
}

// Where number words can mean something else, they stay.
func TestOtherNumbersStay(t *testing.T) {
	v := New(nil, nil)
	for _, heard := range []string{
		"I have eighty ideas", "eighty eighty", "in one line two things happen", "each version three people tested", "the line one writes",
		"the error one gets", "an error two users saw", "line two errors", "on line one two errors", "port two of them to Go", "online forty two",
		"the code two people wrote", "version one twenty one", "version two weeks ago", "line forty oh", "port, eighty eighty", "ports eighty eighty",
		"port eighty eighty eighty eighty", "line hundred", "line thousand", "line and", "version point", "port thousand two", "line two hundred hundred",
		"Port achtzig achtzig", "ポート八十", "line three hundred thousand", "port oh eight", "version oh", "line five point two",
		"this version three things changed", "Why do I get error four, O, four?", "line 7, 200 of them", "version 5,432", "I have 5,432 ideas",
	} {
		if got, changes := v.Correct(heard); got != heard || len(changes) > 0 {
			t.Errorf("%q became %q", heard, got)
		}
	}
	var off *Vocabulary
	if got, changes := off.Correct("port eighty eighty"); got != "port eighty eighty" || changes != nil {
		t.Errorf("without corrections: %q %v", got, changes)
	}
}

// Names take precedence over numbers, and the user's replacements over both.
func TestNamesPrecedeNumbers(t *testing.T) {
	v := New([]Term{{"portEightyEighty", Own}}, []Replacement{{"line forty two", "line42"}})
	for heard, want := range map[string]string{
		"call port eighty eighty": "call portEightyEighty", "go past line forty two": "go past line42", "line forty three": "line 43",
	} {
		if got, _ := v.Correct(heard); got != want {
			t.Errorf("%q became %q, want %q", heard, got, want)
		}
	}
}

var (
	teenWords = strings.Fields("ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen")
	tenWords  = strings.Fields("twenty thirty forty fifty sixty seventy eighty ninety")
)

// below100 returns the words of 0 to 99.
func below100(n int) string {
	switch {
	case n < 10:
		return digits[n]
	case n < 20:
		return teenWords[n-10]
	case n%10 == 0:
		return tenWords[n/10-2]
	}
	return tenWords[n/10-2] + " " + digits[n%10]
}

// cardinal returns "sixty five thousand five hundred [and] thirty five".
func cardinal(n int, and string) string {
	var out []string
	if n >= 1000 {
		out = append(out, below100(n/1000), "thousand")
	}
	if n%1000 >= 100 {
		out = append(out, digits[n%1000/100], "hundred")
	}
	if rest := n % 100; rest > 0 || n == 0 {
		if n >= 100 && and != "" {
			out = append(out, and)
		}
		out = append(out, below100(rest))
	}
	return strings.Join(out, " ")
}

// sayings returns the common ways to say a number, from 10 on.
func sayings(n int) (out []string) {
	text := strconv.Itoa(n)
	out = append(out, cardinal(n, ""), cardinal(n, "and"))
	var each, ohs []string
	for i, d := range text {
		each = append(each, digits[d-'0'])
		ohs = append(ohs, map[bool]string{true: "oh", false: digits[d-'0']}[d == '0' && i > 0])
	}
	out = append(out, strings.Join(each, " "))
	if strings.Count(text, "0") > 1 || text[len(text)-1] != '0' {
		out = append(out, strings.Join(ohs, " "))
	}
	pair := func(n int) string {
		if n < 10 {
			return "oh " + digits[n]
		}
		return below100(n)
	}
	if low := n % 100; low > 0 {
		switch high := n / 100; {
		case high == 0:
		case high < 10:
			out = append(out, digits[high]+" "+pair(low))
		case high < 100:
			out = append(out, pair(high)+" "+pair(low))
		case high/10 < 20 || high/10%10 > 0 || high%10 == 0: // "sixty five thirty" is 6530
			out = append(out, below100(high/10)+" "+map[bool]string{true: "oh", false: digits[high%10]}[high%10 == 0]+" "+pair(low))
		}
	} else if n >= 1100 && n < 10_000 && n%1000 > 0 {
		out = append(out, below100(n/100)+" hundred")
	}
	if low := n % 1000; n > 1000 && low >= 110 && low%100 >= 10 {
		out = append(out, below100(n/1000)+" thousand "+digits[low/100]+" "+pair(low%100))
	}
	return out
}

// TestEverySayingIsRead: every number up to 65535 is read from each of its sayings.
func TestEverySayingIsRead(t *testing.T) {
	for n := 10; n <= 65535; n++ {
		for _, said := range sayings(n) {
			if got := inDigits(strings.Fields(said)); got != strconv.Itoa(n) {
				t.Errorf("%q is %q, want %d", said, got, n)
			}
		}
	}
}

// TestEveryNumberIsWritten: any number up to 65535, in each of its common spoken forms,
// is written in digits after "port" and "line", and stays after other words.
func TestEveryNumberIsWritten(t *testing.T) {
	v := New(nil, nil)
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.OneOf(rapid.IntRange(0, 65535), rapid.IntRange(0, 999), rapid.Map(rapid.IntRange(0, 655), func(n int) int { return 100 * n })).Draw(t, "number")
		words := []string{cardinal(n, "")}
		if n >= 10 {
			words = sayings(n)
		}
		said := rapid.SampledFrom(words).Draw(t, "said")
		if rapid.Bool().Draw(t, "hyphens") {
			for _, ten := range tenWords {
				for _, one := range digits[1:] {
					said = strings.ReplaceAll(said, ten+" "+one, ten+"-"+one)
				}
			}
		}
		cue := rapid.SampledFrom([]string{"port", "line"}).Draw(t, "cue")
		if n < 10 {
			cue = "line"
		}
		end := rapid.SampledFrom([]string{"", ".", " is it", ", eighty ideas"}).Draw(t, "end")
		text := fmt.Sprintf("is %s %s%s", cue, said, end)
		got, changes := v.Correct(text)
		if want := fmt.Sprintf("is %s %d%s", cue, n, end); got != want || !slices.Equal(changes, []Change{{said, strconv.Itoa(n)}}) {
			t.Fatalf("%q became %q %v, want %q", text, got, changes, want)
		}
		other := rapid.SampledFrom([]string{"I have", "about", "ports", "lines", "reports", "the"}).Draw(t, "other")
		text = other + " " + said + " ideas"
		if got, changes := v.Correct(text); got != text || changes != nil {
			t.Fatalf("%q became %q", text, got)
		}
	})
}
