package voice

import (
	"slices"
	"testing"
)

func TestSentences(t *testing.T) {
	for text, want := range map[string][]string{
		"":                          nil,
		"...":                       nil,
		"All tests pass":            {"All tests pass"},
		"Yes. Now 1.5 of main.go!":  {"Yes.", "Now 1.5 of main.go!"},
		"Wait... what? a: b":        {"Wait...", "what?", "a:", "b"},
		"東京です。大阪です。":                {"東京です。", "大阪です。"},
		"one\ntwo \xff three. \xff": {"one", "two \xff three."},
	} {
		if got := sentences(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
