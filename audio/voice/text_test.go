package voice

import (
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"Hello, world.":         "Hello, world.",
		"  a\tb\n\nc\x00d\x7f ": "a b c d",
		"“It’s” naïve – Zoë…":   `"It's" naive , Zoe...`,
		"ship it 🚀🎉 now":        "ship it now",
		"Straße, Łódź, ﬁne, ½":  "Strasse, Lodz, fine, 1 2",
		"\xff\xfe broken \xc3":  "broken",
		"日本語":                   "",
		"":                      "",
	} {
		if got := plain(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestPieces(t *testing.T) {
	sentence := strings.Repeat("word ", 30) + "end." // 154 bytes
	long := strings.Repeat("x", maxPiece)
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"short", "One. Two.", []string{"One. Two."}},
		{"nothing to say", " ... !? 🚀 --", nil},
		{"at the last sentence that fits", "Yes. " + sentence + " " + sentence, []string{"Yes. " + sentence, sentence}},
		{"at a comma", long[:200] + ", " + long[:200], []string{long[:200] + ",", long[:200]}},
		{"a decimal point is no end", long[:150] + " 3.14" + long[:200], []string{long[:150], "3.14" + long[:200]}},
		{"at a space", long[:200] + " " + long[:200], []string{long[:200], long[:200]}},
		{"anywhere", long + "y", []string{long, "y"}},
		{"just fits", long, []string{long}},
	} {
		if got := pieces(tt.text); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: got %q", tt.name, got)
		}
	}
}

func TestPiecesAreBoundedAndLoseNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.StringMatching(`[a-z]{1,400}[.,;!? ]?`), 0, 30).Draw(t, "text"), " ")
		var whole string
		for _, piece := range pieces(text) {
			if len(piece) > maxPiece || piece == "" {
				t.Fatalf("a piece of %d bytes", len(piece))
			}
			whole += piece
		}
		letters := func(s string) string {
			return strings.Map(func(r rune) rune {
				if r < 'a' {
					return -1
				}
				return r
			}, s)
		}
		if letters(whole) != letters(text) {
			t.Fatal("letters are lost")
		}
	})
}
