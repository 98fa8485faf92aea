package pronounce

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// texts generates any text, mostly of what assistants write.
func texts() *rapid.Generator[string] {
	parts := rapid.SampledFrom([]string{
		"the", "Parser", "config", "JSON", "I", "a", "read", "$5.99", "€3", "million", "1,234.5", "10:30", "2024-05-01", "1.2.3", "127.0.0.1:8080", "5-10", "0x1F", "3/5", "150ms", "1990s", "21st",
		"main.go:42", "parseConfigV2", "max_retries", "HTTPServer", "APIs", "don't", "C++", "e.g.", "No.", "https://go.dev/x?y=1", "...", "—", "(see", "below)", "!?", "\n\n", " ", ",", "é", "世界", "🎉", "\x00", "'", "s'", "𝒳", "½", "№", "ﬁ",
	})
	return rapid.Custom(func(t *rapid.T) string {
		var b strings.Builder
		for range rapid.IntRange(0, 12).Draw(t, "parts") {
			if rapid.IntRange(0, 4).Draw(t, "kind") == 0 {
				b.WriteString(rapid.String().Draw(t, "any"))
			} else {
				b.WriteString(parts.Draw(t, "part"))
			}
			if rapid.Bool().Draw(t, "blank") {
				b.WriteByte(' ')
			}
		}
		return b.String()
	})
}

// TestAnyTextGivesKnownSymbols: whatever the text is, the symbols are those of the voice, and
// the tokens are in the order of the text and end at the borders of its characters.
func TestAnyTextGivesKnownSymbols(t *testing.T) {
	symbols := vocabulary(t)
	for _, v := range []Variant{American, British} {
		d := dictionary(t, v)
		rapid.Check(t, func(t *rapid.T) {
			text := texts().Draw(t, "text")
			if c := foreign(symbols, d.Phonemes(text)); c != 0 {
				t.Fatalf("%q has the unknown symbol %q: %s", text, c, d.Phonemes(text))
			}
			start := 0
			for _, tok := range d.Tokens(text) {
				if tok.Start < start || tok.End <= tok.Start || tok.End > len(text) {
					t.Fatalf("%q: the token %+v is out of order", text, tok)
				}
				if utf8.ValidString(text) && !(utf8.RuneStart(text[tok.Start]) && (tok.End == len(text) || utf8.RuneStart(text[tok.End]))) {
					t.Fatalf("%q: the token %+v cuts a character", text, tok)
				}
				if (tok.Phonemes == "") == (tok.Mark == "") {
					t.Fatalf("%q: the token %+v is neither word nor mark", text, tok)
				}
				start = tok.Start
			}
		})
	}
}

// TestEveryWordIsSpoken: each run of Latin letters or digits is in a token.
func TestEveryWordIsSpoken(t *testing.T) {
	d := dictionary(t, American)
	rapid.Check(t, func(t *rapid.T) {
		text := texts().Draw(t, "text")
		if strings.Contains(text, "://") { // the scheme of an address is not spoken
			return
		}
		tokens := d.Tokens(text)
		for i := range len(text) {
			if !isLetter(text[i]) && !isDigit(text[i]) {
				continue
			}
			spoken := false
			for _, tok := range tokens {
				spoken = spoken || tok.Start <= i && i < tok.End && tok.Phonemes != ""
			}
			if !spoken {
				t.Fatalf("%q: %q at %d is not spoken: %+v", text, text[i], i, tokens)
			}
		}
	})
}

// TestLongTextsTakeLinearTime: a text without blanks does not take much longer than one with.
func TestLongTextsTakeLinearTime(t *testing.T) {
	d := dictionary(t, American)
	for _, part := range []string{"a", "1", ".", "(", "'s", "1.2.", "aB", "a.b", "://a", "unre"} {
		begin := time.Now()
		d.Phonemes(strings.Repeat(part, 40_000/len(part)))
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("40 KB of %q take %v", part, took)
		}
	}
}

func FuzzPhonemes(f *testing.F) {
	f.Add("Open main.go:42, e.g. parseConfig(), for $5.99.")
	d, symbols := dictionary(f, American), vocabulary(f)
	f.Fuzz(func(t *testing.T, text string) {
		if c := foreign(symbols, d.Phonemes(text)); c != 0 {
			t.Errorf("%q has the unknown symbol %q", text, c)
		}
	})
}
