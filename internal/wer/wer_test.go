package wer

import "testing"

func TestCompute(t *testing.T) {
	for _, tt := range []struct {
		name, ref, hyp string
		errors, words  int
	}{
		{"equal", "he was not", "he was not", 0, 3},
		{"case and punctuation", "“He was -- not!”", "he, was not.", 0, 3},
		{"apostrophes", "I don’t 'know'", "i don't know", 0, 3},
		{"hyphen parts words", "ill-disposed", "ill disposed", 0, 2},
		{"substituted", "open the file", "open a file", 1, 3},
		{"missing", "open the file", "open file", 1, 3},
		{"added", "open the file", "open the the file", 1, 3},
		{"all three", "a b c d", "x a c d e f", 4, 4},
		{"nothing heard", "a b c", "", 3, 3},
		{"nothing said", "", "a b", 2, 0},
		{"nothing at all", " ", "...", 0, 0},
		{"digits", "port eighty eighty, ten lines, twenty-one", "port 80 80, 10 lines, 21", 0, 7},
		{"other digits", "line 007 of 100", "line seven of one hundred", 3, 4},
		{"other scripts", "Ärger naïve 12", "ärger naïve 12", 0, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if errors, words := Compute(tt.ref, tt.hyp); errors != tt.errors || words != tt.words {
				t.Errorf("got %d of %d, want %d of %d", errors, words, tt.errors, tt.words)
			}
		})
	}
}
