package moonshine

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestTextSurvivesTokens: the tokens of a text spell it, whatever it contains.
func TestTextSurvivesTokens(t *testing.T) {
	v := realVocabulary(t)
	text := rapid.OneOf(
		rapid.StringMatching(`[A-Z][a-z]{0,12}( [a-z0-9'-]{1,12}){0,8}[.?!]`),
		rapid.Map(rapid.String(), func(s string) string { return strings.ReplaceAll(s, space, "") }),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return strings.ReplaceAll(string(b), space, "") }),
	)
	rapid.Check(t, func(t *rapid.T) {
		s := text.Draw(t, "text")
		if got := v.decode(v.encode(s)); got != s {
			t.Fatalf("%q became %q", s, got)
		}
	})
}

// TestTokensAreThoseOfTraining checks merges whose order matters: they are not the longest
// tokens that fit.
func TestTokensAreThoseOfTraining(t *testing.T) {
	v := realVocabulary(t)
	for text, want := range map[string][]string{
		"Yes.":        {" Yes", "."},
		"No, don't.":  {" No", ",", " don", "'", "t", "."},
		"goroutines":  {" g", "or", "out", "ines"},
		"don't é\x00": {" don", "'", "t", " é", "\x00"},
		"the the":     {" the", " the"},
		"":            nil,
		"<<ST_5>>":    {" <<", "ST", "_", "5", ">>"},
	} {
		var got []string
		for _, token := range v.encode(text) {
			got = append(got, v.text(token))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q has the tokens %q, want %q", text, got, want)
		}
	}
	for _, token := range []int32{0, tokenBegin, tokenEnd, firstMark, numTokens - 1} {
		if text := v.text(token); text != "" {
			t.Errorf("token %d is the text %q", token, text)
		}
	}
}

func TestDamagedTokenizers(t *testing.T) {
	long := strings.Repeat("x", 300)
	whole := append([]byte{172, 2}, long...) // 172 + 2*128 - 128 = 300
	for range numTokens - 1 {
		whole = append(whole, 1, 'a')
	}
	v, err := parseVocabulary(whole)
	if err != nil || v.texts[0] != long || v.texts[numTokens-1] != "a" {
		t.Errorf("a tokenizer with a long token: %v", err)
	}
	for name, data := range map[string][]byte{
		"empty": nil, "truncated": whole[:len(whole)-1], "too short": whole[:len(whole)-2],
		"too long": append(bytes.Clone(whole), 1, 'a'), "length only": {200},
	} {
		if _, err := parseVocabulary(data); err == nil || !strings.Contains(err.Error(), "install the model again") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTranscriptHasTheText: words, joined by spaces, are the text of their tokens.
func TestTranscriptHasTheText(t *testing.T) {
	v := realVocabulary(t)
	word := rapid.StringMatching(`[A-Za-zé0-9'"-]{1,10}[,.?!]?`)
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(word).Draw(t, "words"), " ")
		h := hypothesis{tokens: v.encode(text), complete: true}
		for range len(h.tokens) + 1 {
			h.logs = append(h.logs, -0.1)
			h.stops = append(h.stops, 0.5)
		}
		got := v.transcript(h)
		if got.Text != text || got.Text != textOf(got.Words) || got.Cut {
			t.Fatalf("%q became %+v", text, got)
		}
		for _, w := range got.Words {
			if !(w.Prob > 0 && w.Prob <= 1) {
				t.Fatalf("%+v", w)
			}
		}
	})
}

func TestPunctuationDoesNotCountForWords(t *testing.T) {
	v := realVocabulary(t)
	h := hypothesis{tokens: v.encode("Stop, please."), complete: true}
	for range len(h.tokens) + 1 {
		h.logs, h.stops = append(h.logs, 0), append(h.stops, 0)
	}
	comma := slices.IndexFunc(h.tokens, func(t int32) bool { return v.text(t) == "," })
	h.logs[comma], h.stops[comma] = -3, 0.3
	h.stops[len(h.tokens)-1] = 0.9 // instead of the last token, which is the full stop
	got := v.transcript(h)
	if got.Words[0] != (Word{"Stop,", 1}) || got.Stop != 0.9 || got.LogProb != -3 || got.Tokens != len(h.logs) {
		t.Errorf("%+v", got)
	}
}
