package spoken

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestJoin(t *testing.T) {
	for _, c := range []struct{ first, second, want string }{
		{"Rename the function parse config.", "To load settings.", "Rename the function parse config to load settings."},
		{"I would like to know whether.", "The tests pass.", "I would like to know whether the tests pass."},
		{"Show me the.", "README.", "Show me the README."},
		{"Delete the file.", "And commit it.", "Delete the file and commit it."},
		{"Benenne die Funktion um.", "Weil sie falsch heißt.", "Benenne die Funktion um weil sie falsch heißt."},
		{"Zeig mir die.", "Funktion.", "Zeig mir die Funktion."},
		// Two sentences, a question, and what only looks like an end.
		{"Fix the bug.", "Then run the tests.", "Fix the bug. Then run the tests."},
		{"Are the tests green?", "And the build?", "Are the tests green? And the build?"},
		{"I think...", "to be honest, no.", "I think... to be honest, no."},
		{"open main", "in the editor", "open main in the editor"},
		{"", "Yes.", "Yes."}, {"Yes.", "", "Yes."}, {"Yes.", "…", "Yes. …"},
	} {
		if got := Join(c.first, c.second); got != c.want {
			t.Errorf("%q, %q: %q, want %q", c.first, c.second, got, c.want)
		}
	}
}

// Only a full stop and a capital can change.
func TestJoinKeepsTheWords(t *testing.T) {
	text := rapid.StringMatching(`( |[A-Za-zäé']|the |To |and |\.|\?|3){0,30}`)
	rapid.Check(t, func(t *rapid.T) {
		first, second := text.Draw(t, "first"), text.Draw(t, "second")
		plain := func(s string) string {
			return strings.ToLower(strings.Join(strings.Fields(strings.ReplaceAll(s, ".", " ")), " "))
		}
		if got, want := plain(Join(first, second)), plain(first+" "+second); got != want {
			t.Fatalf("%q and %q: %q", first, second, Join(first, second))
		}
	})
}
