package kokoro

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/agentvoice/agentvoice-daemon/audio/voice/pronounce"
)

// tokensOf makes tokens with one symbol for each letter of a text.
func tokensOf(text string) []pronounce.Token {
	var tokens []pronounce.Token
	for at := 0; at < len(text); {
		n := strings.IndexAny(text[at:], " .,;?\n")
		switch {
		case n < 0:
			n = len(text) - at
			fallthrough
		case n > 0:
			tokens = append(tokens, pronounce.Token{Start: at, End: at + n, Phonemes: text[at : at+n]})
		case text[at] == ' ':
			n = 1
		default:
			n = 1
			tokens = append(tokens, pronounce.Token{Start: at, End: at + 1, Mark: text[at : at+1]})
		}
		at += n
	}
	return tokens
}

// piecesOf cuts a text with a limit for the first piece and one for the others.
func piecesOf(text string, tokens []pronounce.Token, first, later int) []piece {
	var list []piece
	p := plan{text: text, tokens: tokens}
	for limit := first; ; limit = later {
		next, ok := p.next(limit)
		if !ok {
			return list
		}
		list = append(list, next)
	}
}

// later is a usual limit of the pieces after the first one.
const later = 64

func TestPiecesEndAtNaturalPlaces(t *testing.T) {
	for _, tt := range []struct {
		text, want string
	}{
		{"Done.", "Done. "},
		{"One change is not committed.", "One change is not committed. "},
		{"Yes. I did it. And now the tests pass.", "Yes. I did it. |And now the tests pass. "},
		{"I moved the parser into its own package.", "I moved the parser |into its own package. "},
		{"The build passes, but two of the integration tests are still red.", "The build passes, |but two of the integration tests are still red. "},
		{"Run the migration against the staging database first.", "Run the migration |against the staging database first. "},
		{"First.\n\nSecond paragraph here.", "First.\n\n|Second paragraph here. "},
		{"It renames the helper and fixes every caller, which makes the tests in the other package pass; nothing else changes. Shall I commit?", "It renames the helper |and fixes every caller, |which makes the tests in the other package pass; |nothing else changes. |Shall I commit? "},
	} {
		var got []string
		for _, p := range piecesOf(tt.text, tokensOf(tt.text), mostFirst, later) {
			got = append(got, tt.text[p.start:p.end])
		}
		if text := strings.Join(got, "|"); strings.TrimRight(text, " ") != strings.TrimRight(tt.want, " ") {
			t.Errorf("pieces are %q, want %q", text, tt.want)
		}
	}
}

// TestAShortFirstPiece: it ends between phrases where it can, and after a word otherwise.
func TestAShortFirstPiece(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"Done.", "Done."},
		{"All tests pass.", "All tests pass."},
		{"You are on the branch main.", "You are on |the branch main."},
		{"One test fails, TestLastField.", "One test fails, |TestLastField."},
		{"One change is not committed: fields_test.go.", "One change |is not committed: fields_test.go."},
		{"I moved the parser into its own package.", "I moved the |parser into its own package."},
		{"Internationalization is not supported yet.", "Internationalization |is not supported yet."},
	} {
		pieces := piecesOf(tt.text, tokensOf(tt.text), leastFirst, 32)
		if got := tt.text[:pieces[0].end] + "|" + tt.text[pieces[0].end:]; strings.TrimRight(got, "|") != tt.want {
			t.Errorf("pieces are %q, want %q", got, tt.want)
		}
	}
}

func TestPieceKnowsItsPause(t *testing.T) {
	text := "I moved the parser into its own package, as you said.\n\nDone?"
	var got []string
	for _, p := range piecesOf(text, tokensOf(text), mostFirst, later) {
		got = append(got, p.mark)
	}
	if want := []string{"", "\n", "?"}; strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("%q, want %q", got, want)
	}
	if pauseAfter(".", 1) != SampleRate*35/100 || pauseAfter(".", 2) != SampleRate*175/1000 || pauseAfter("", 1) == 0 {
		t.Error("wrong pauses")
	}
}

// TestPiecesCoverAnyText: the pieces are in order, cover the text, lose no symbol and keep
// the limit of the model.
func TestPiecesCoverAnyText(t *testing.T) {
	d, err := pronounce.New(pronounce.American, []byte(`{"the": "ðə", "A": "ˈA", "B": "bˈi", "X": "ˈɛks", "zero": "zˈɪɹO", "one": "wˈʌn", "point": "pˈYnt", "long": "`+strings.Repeat("lɔŋ", 30)+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	parts := rapid.SampledFrom([]string{"the", "a", "AB", "long", "1000000", strings.Repeat("0", 300), "ABABA" + strings.Repeat("X", 900), ",", ". ", "\n\n", " ", "— ", "é", "🎉", "0.1"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(parts, 0, 40).Draw(t, "parts"), rapid.SampledFrom([]string{"", " "}).Draw(t, "blank"))
		tokens := d.Tokens(text)
		end := 0
		var symbols strings.Builder
		list := piecesOf(text, tokens, rapid.IntRange(1, 300).Draw(t, "first"), rapid.IntRange(1, 300).Draw(t, "later"))
		for i, p := range list {
			if p.start != end || p.end < p.start {
				t.Fatalf("piece %d is %d to %d, after %d", i, p.start, p.end, end)
			}
			if end = p.end; p.symbols > maxSymbols-2 {
				t.Fatalf("piece %d has %d symbols: %s", i, p.symbols, p.phonemes)
			}
			for _, token := range p.tokens {
				symbols.WriteString(token.Phonemes)
			}
		}
		if len(list) > 0 && end != len(text) {
			t.Fatalf("the pieces end at %d of %d", end, len(text))
		}
		var want strings.Builder
		for _, token := range tokens {
			want.WriteString(token.Phonemes)
		}
		if symbols.String() != want.String() {
			t.Fatalf("spoken\n%s\nof\n%s", symbols.String(), want.String())
		}
	})
}

func TestHalvesKeepAllTokens(t *testing.T) {
	text := "It renames the helper and fixes every caller."
	p := piecesOf(text, tokensOf(text), 200, 200)[0]
	first, second, ok := p.halves(text)
	if !ok || len(first.tokens)+len(second.tokens) != len(p.tokens) || first.mark != "" || second.mark != "." {
		t.Errorf("%+v and %+v", first, second)
	}
	if word := piecesOf("Done.", tokensOf("Done."), 200, 200)[0]; true {
		if _, _, ok := word.halves("Done."); ok {
			t.Error("one word has halves")
		}
	}
}

// TestPaceFollowsTheMachine: the slower the machine and the less audio is ahead, the shorter
// is a piece.
func TestPaceFollowsTheMachine(t *testing.T) {
	var p pace
	p.start(2)
	if n := p.limit(0); n < leastFirst || n >= mostFirst {
		t.Errorf("a piece of %d without audio ahead", n)
	}
	if n := p.limit(time.Minute); n != longestPiece {
		t.Errorf("a piece of %d with a minute ahead", n)
	}
	before := p.limit(5 * time.Second)
	for range 20 {
		p.learn(100, 8*time.Second)
	}
	if n := p.limit(5 * time.Second); n >= before {
		t.Errorf("a piece of %d on a slow machine, %d before", n, before)
	}
	if n := p.limit(0); n != leastFirst {
		t.Errorf("a first piece of %d on a slow machine", n)
	}
	for range 20 {
		p.learn(100, 500*time.Millisecond)
	}
	if n := p.limit(0); n != mostFirst {
		t.Errorf("a first piece of %d on a quick machine", n)
	}
}
