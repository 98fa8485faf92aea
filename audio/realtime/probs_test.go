package realtime

import (
	"math"
	"slices"
	"testing"
)

func TestWordProbs(t *testing.T) {
	token := func(text string, prob float64) TokenProb { return TokenProb{text, math.Log(prob)} }
	for name, c := range map[string]struct {
		text   string
		tokens []TokenProb
		want   []float64
	}{
		"none":               {"All tests pass.", nil, nil},
		"no words":           {"", []TokenProb{token(" ", 0.5)}, nil},
		"a token each":       {"All tests", []TokenProb{token("All", 0.5), token(" tests", 0.25)}, []float64{0.5, 0.25}},
		"parts of a word":    {"pars er", []TokenProb{token(" pa", 0.5), token("rs", 0.5), token(" er", 1)}, []float64{0.25, 1}},
		"punctuation":        {"Yes, delete it.", []TokenProb{token("Yes", 0.5), token(",", 0.1), token(" delete", 0.5), token(" it", 1), token(".", 0.1)}, []float64{0.5, 0.5, 1}},
		"without the text":   {"All tests", []TokenProb{token("", 0.5), token("", 0.25)}, []float64{0.375, 0.375}},
		"other words":        {"All tests", []TokenProb{token("Some", 0.5), token(" tests", 0.25)}, []float64{0.375, 0.375}},
		"several in a token": {"All tests", []TokenProb{token("All tests", 0.5)}, []float64{0.5, 0.5}},
		"without spaces":     {"はい、どうぞ", []TokenProb{token("はい", 0.5), token("、", 0.5), token("どうぞ", 0.5)}, []float64{0.5}},
		"above one":          {"sure", []TokenProb{{"sure", 0.2}}, []float64{1}},
	} {
		got := WordProbs(c.text, c.tokens)
		if !slices.EqualFunc(got, c.want, func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
