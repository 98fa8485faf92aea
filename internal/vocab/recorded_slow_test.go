//go:build cgo && !race

package vocab

import (
	"testing"
)

// TestRecordedNamesAreCorrected: in 500 sentences outside of the training data, the
// correction halves the names with a misheard word, and changes fewer than 1 % of the
// ordinary words and of the sentences wrongly. With all of PocketSphinx's errors it removes
// 45 %: 8 of 358 names fewer than before names of a workspace had to keep the words that decide
// what a sentence means, such as "isn't". BenchmarkRecorded prints all figures.
func TestRecordedNamesAreCorrected(t *testing.T) {
	v, list := load(t, "test")
	if len(list) != 500 {
		t.Fatalf("%d sentences, want 500", len(list))
	}
	for share, removed := range map[float64]int{0.25: 50, 0.5: 50, 1: 45} { // per cent
		f := measure(v.Correct, recogniser(list, share))
		t.Logf("errors %.2f: %v", share, f)
		if (f.missedBefore-f.missedAfter)*100 < removed*f.missedBefore {
			t.Errorf("errors %.2f: less than %d %% of the wrong names are corrected: %v", share, removed, f)
		}
		if f.changed*100 >= f.plain || f.touched*100 >= f.sentences {
			t.Errorf("errors %.2f: too much is changed: %v", share, f)
		}
	}
}
