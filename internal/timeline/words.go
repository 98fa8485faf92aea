package timeline

import (
	"fmt"
	"math"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// round rounds to a number of decimals.
func round(f float64, decimals int) float64 {
	scale := math.Pow10(decimals)
	return math.Round(f*scale) / scale
}

// clock formats a time on the axis, like 1:02.345.
func clock(d time.Duration) string {
	ms := d.Round(time.Millisecond).Milliseconds()
	return fmt.Sprintf("%d:%02d.%03d", ms/60000, ms/1000%60, ms%1000)
}

// minutes formats a time in whole seconds, like 1:02.
func minutes(d time.Duration) string {
	s := int(math.Round(d.Seconds()))
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// short formats a duration in the most readable unit.
func short(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Round(time.Millisecond).Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.2f s", d.Seconds())
	default:
		return clock(d)
	}
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// humanise converts a camel case name to words. Copilot in it means whichever assistant
// answers: waitingForCopilot becomes "waiting for the assistant".
func humanise(name string) string {
	var b strings.Builder
	for i, c := range name {
		if unicode.IsUpper(c) && i > 0 {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return strings.NewReplacer("for copilot", "for the assistant", "copilot", "assistant").Replace(b.String())
}

// stateName returns a phase's display name.
func stateName(phase string) string { return capital(humanise(phase)) }

func capital(s string) string {
	if s == "" {
		return s
	}
	c, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(c)) + s[n:]
}

func firstLine(s string) (first, rest string) {
	first, rest, _ = strings.Cut(s, "\n")
	return first, strings.ReplaceAll(rest, "\n", "; ")
}
