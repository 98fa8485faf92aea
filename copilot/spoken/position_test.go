package spoken_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agentvoice/agentvoice-daemon/copilot/spoken"
)

// rewritten are pieces of answers whose spoken form differs from the text.
var rewritten = []string{
	"`parseConfigV2`", "`internal/parser.go:42`", "v1.2.3", "10 km/h", "3.5 GB", "**very** ", "[the page](https://example.com/a/b?c=d)", "https://example.com/x",
	"`f(x) != nil`", "->", "50 %", "$12", "😀", "*really*", "#42", "2026-11-24", "`a_b_c`", "e.g.", "1,234", "C++", "~5",
	"72a3277cd7abc1234567890abcdef12345678901", "550e8400-e29b-41d4-a716-446655440000", "/home/ada/work/app/internal/x.go:142", "--no-verify", "Ctrl+C", "a != b", "2m30s", "192.168.0.1:8080",
}

type failing interface {
	Fatalf(format string, args ...any)
}

func checkPositions(t failing, source, text string) {
	p := spoken.Align(source, text)
	chars, whole := utf8.RuneCountInString(text), utf8.RuneCountInString(source)
	before := 0
	for at := range chars + 1 {
		now := p.Source(at)
		if now < before || now > whole {
			t.Fatalf("character %d of %q maps to %d of %q, after %d", at, text, now, source, before)
		}
		before = now
	}
	if p.Source(0) != 0 || p.Source(chars) != whole {
		t.Fatalf("the ends of %q map to %d and %d of %q", text, p.Source(0), p.Source(chars), source)
	}
	for i := 'a'; i <= 'z'; i++ {
		for n := range 3 {
			word := fmt.Sprintf("%cord%s", i, strings.Repeat("x", n))
			said, written := find(text, word), find(source, word)
			if said < 0 || written < 0 {
				continue
			}
			if said > 0 && p.Source(said) != written || said+len(word) < chars && p.Source(said+len(word)) != written+len(word) {
				t.Fatalf("%q, at %d to %d of %q, maps to %d to %d of %q", word, said, said+len(word), text, p.Source(said), p.Source(said+len(word)), source)
			}
		}
	}
}

// find returns the position of a whole word in a text, in characters, or -1.
func find(text, word string) int {
	for from := 0; ; {
		at := strings.Index(text[from:], word)
		if at < 0 {
			return -1
		}
		at += from
		from = at + len(word)
		if from == len(text) || !strings.ContainsAny(text[from:from+1], "xyz") {
			return utf8.RuneCountInString(text[:at])
		}
	}
}

func TestPositionsOfRealAnswers(t *testing.T) {
	for _, c := range []struct {
		source, text string
		word, at     string // a position in the text, and the source position that it maps to
	}{
		{"See `internal/parser.go:42` for it.", "See internal slash parser dot go line 42 for it.", "parser", "parser"},
		{"See `internal/parser.go:42` for it.", "See internal slash parser dot go line 42 for it.", "for it", "for it"},
		{"Call `parseConfigV2` now.", "Call parse config V 2 now.", "config", "Config"},
		{"Read [the page](https://example.com/a) first.", "Read the page first.", "first", "first"},
		{"設定を`main.go`で変更します。", "設定をmain ドット goで変更します。", "変更", "変更"},
		{"no no yes no", "no no yes no", "yes", "yes"},
	} {
		p := spoken.Align(c.source, c.text)
		said := utf8.RuneCountInString(c.text[:strings.Index(c.text, c.word)])
		want := utf8.RuneCountInString(c.source[:strings.Index(c.source, c.at)])
		if got := p.Source(said); got != want {
			t.Errorf("%q of %q maps to %d of %q, want %d", c.word, c.text, got, c.source, want)
		}
	}
}
