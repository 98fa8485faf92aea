package realtime

import "testing"

// TestSpokenDistance checks that a verbatim reading has distance 0, however numbers,
// symbols and abbreviations are spoken, and that other words exceed realMismatch.
func TestSpokenDistance(t *testing.T) {
	for _, c := range []struct {
		text, spoken string
		same         bool
	}{
		{"", "", true},
		{"…", "", true},
		{"Okay.", "okay", true},
		{"don’t", "don't", true},
		{"It's 3 o'clock, Ben!", "its three o'clock ben", true},
		{"42.", "Forty-two.", true},
		{"Forty-two.", "42.", true},
		{"42.", "Zweiundvierzig.", true},
		{"84 Dateien", "quatre-vingt-quatre Dateien", true},
		{"Es sind 1.234 Zeilen.", "Es sind eintausendzweihundertvierunddreißig Zeilen.", true},
		{"Sono 42 file.", "Sono quarantadue file.", true},
		{"全部で42個です", "全部で四十二個です", true},
		{"In 1999 it was 3.14.", "In nineteen ninety-nine it was three point one four.", true},
		{"It costs $5.20, up 10%.", "It costs five dollars and twenty cents, up ten percent.", true},
		{"The 3rd of 12 tests", "The third of twelve tests", true},
		{"Version 1.26.8 is out.", "Version one point twenty-six point eight is out.", true},
		{"It took 250 ms.", "It took two hundred and fifty milliseconds.", true},
		{"1,234,567 rows", "1234567 rows", true},
		{"Use e.g. a map vs. a slice.", "Use for example a map versus a slice.", true},
		{"Nimm z. B. eine Map usw.", "Nimm zum Beispiel eine Map und so weiter.", true},
		{"Open README.md in src/lib.", "Open readme dot md in src slash lib.", true},
		{"Run gopls and golangci-lint.", "Run go pls and golang ci lint.", true},
		{"Straße und Größe", "Strasse und Größe", true},
		{"one two three four", "one too three four", true},

		{"Okay.", "", false},
		{"", "hello", false},
		{"42.", "", false},
		{"42.", "Forty-three.", false},
		{"42.", "Seventeen.", false},
		{"42.", "I'm sorry, I can't help with that.", false},
		{"Delete the old branch.", "I'm sorry, I can't help with that.", false},
		{"All tests pass.", "Great, what shall we do next?", false},
		{"There are 3 errors in the parser.", "The parser looks fine to me.", false},
		{"one two", "one two and three", false},
		{"我们走吧", "你好，再见", false},
	} {
		if d := spokenDistance(c.text, c.spoken); c.same && d > realMismatch || !c.same && d <= realMismatch {
			t.Errorf("spokenDistance(%q, %q) = %.2f, want the same: %v", c.text, c.spoken, d, c.same)
		}
	}
}

// TestSpokenDistanceOfNumbers checks that the numbers themselves do not count at all.
func TestSpokenDistanceOfNumbers(t *testing.T) {
	for text, spoken := range map[string]string{
		"42.": "Forty-two.", "7": "seven", "1999": "nineteen ninety-nine", "100 %": "a hundred percent", "Am 21. Mai": "Am einundzwanzigsten Mai",
	} {
		if d := spokenDistance(text, spoken); d > 0.34 || text == "42." && d != 0 {
			t.Errorf("spokenDistance(%q, %q) = %.2f", text, spoken, d)
		}
	}
}

func FuzzSpokenDistance(f *testing.F) {
	f.Add("42.", "Forty-two.")
	f.Add("z. B. 1.234,5 €", "zum Beispiel")
	f.Fuzz(func(t *testing.T, text, spoken string) {
		if d := spokenDistance(text, spoken); d < 0 || d > 1 {
			t.Errorf("%v", d)
		}
		if d := spokenDistance(text, text); d != 0 {
			t.Errorf("a text differs from itself by %v", d)
		}
		if right, _ := newReading(text).deviation(spoken, false); right < 0 || right > len(text) {
			t.Errorf("%d of %d bytes are right", right, len(text))
		}
		if _, differs := newReading(text).deviation(text, true); differs {
			t.Error("a text deviates from itself")
		}
	})
}
