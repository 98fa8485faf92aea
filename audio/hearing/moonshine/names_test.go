package moonshine

import (
	"math"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// TestBonus follows texts through a trie: what is left of the bonus, in tokens of names.
func TestBonus(t *testing.T) {
	v := realVocabulary(t)
	n := v.names([]string{"goroutine", "stack trace", "stack", "async await", "Rename", "lint"})
	length := func(text string) int { return len(v.encode(text)) }
	for text, want := range map[string]int{
		"a goroutine leak":  length("goroutine"),
		"Goroutine":         length("Goroutine"), // the start of a sentence
		"a gorilla":         0,
		"stack":             length("stack"),
		"stack trace":       length("stack trace"),
		"the stack grows":   length("stack"),
		"stack tra":         length("stack"),
		"stack stack trace": length("stack") + length("stack trace"),
		"async":             0,
		"async await.":      length("async await"),
		"Rename it":         length("Rename"),
		"to rename":         0,
		"renaming":          0,
		"linted":            length("lint"),
		"lintel":            0,
		"lint, lint":        2 * length("lint"),
		"Goroutines run":    length("Goroutines"),
		"":                  0,
	} {
		var at place
		sum := 0.0
		for _, token := range append(v.encode(text), tokenEnd) {
			var change float64
			at, change = n.advance(at, token)
			sum += change
		}
		if math.Abs(sum-float64(want)*nameBonus) > 1e-9 {
			t.Errorf("%q has a bonus of %.1f tokens, want %d", text, sum/nameBonus, want)
		}
		if at != (place{}) {
			t.Errorf("%q ends within a name", text)
		}
	}
}

func TestExpectedTokens(t *testing.T) {
	v := realVocabulary(t)
	n := v.names([]string{"stack trace", " stack  dump ", "API", ""})
	at, _ := n.advance(place{}, v.encode("stack")[0])
	var got []string
	n.expected(at, func(token int32) { got = append(got, v.text(token)) })
	slices.Sort(got)
	if want := []string{" API", " Stack", " d", " dump", " stack", " trace", " traces"}; !slices.Equal(got, want) {
		t.Errorf("expected %q, want %q", got, want)
	}
	(*Names)(nil).expected(at, func(int32) { t.Error("no names expect a token") })
	if at, change := (*Names)(nil).advance(at, 300); at != (place{}) || change != 0 {
		t.Error("no names have a bonus")
	}
}

func TestPlurals(t *testing.T) {
	for name, want := range map[string]string{
		"stack trace": "stack traces", "index": "indexes", "class": "classes", "query": "queries", "key": "keys", "branch": "branches", "y": "ys",
	} {
		if got := plural(name); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestTerms(t *testing.T) {
	list := Terms()
	if len(list) < 400 || len(list) > 1000 {
		t.Errorf("%d terms", len(list))
	}
	seen := map[string]bool{}
	for _, term := range list {
		if seen[term] {
			t.Errorf("%q is there twice", term)
		}
		seen[term] = true
		if strings.IndexFunc(term, func(r rune) bool {
			return r > unicode.MaxASCII || !unicode.IsLetter(r) && r != ' ' && r != '-' && !unicode.IsDigit(r)
		}) >= 0 {
			t.Errorf("%q is not in spoken form", term)
		}
	}
	for _, term := range strings.Split("goroutine linter mutex regex Rename Cache Print Rebase", " ") {
		if !seen[term] {
			t.Errorf("%q is missing", term)
		}
	}
}
