package realtime

import (
	"strings"
	"testing"
)

// TestDeviation: what a session says is compared while it is said. A deviation is found within a few words,
// and a reading that is right is never taken for one, whatever part of it is known.
func TestDeviation(t *testing.T) {
	const answer = "The test fails because parseConfig returns nil when the file is empty."
	for _, c := range []struct {
		text, said string
		whole      bool
		right      string
		differs    bool
	}{
		{answer, "The test fails because", false, "The test fails", false},
		{answer, "Sure! Here ", false, "", false},
		{answer, "Sure! Here is the ", false, "", true},
		{answer, "The test fails because I think that something is ", false, "The test fails because", true},
		{answer, answer, true, answer, false},
		{answer, answer + " Let me know if you need anything else.", true, answer, true},
		{answer, "The test fails because parseConfig returns nil.", true, "The test fails because parseConfig returns nil", true},
		{"It does not delete the branch of your colleague on the server.", "It does delete the branch of your colleague on the server.", true, "It does", true},
		{"It isn't there.", "It is not there.", true, "It", false},
		{"All 12 tests passed in 3.5 seconds.", "All twelve tests passed in three point five seconds.", true, "", false},
		{"Do it.", "Do it.", true, "Do it.", false},
		{"", "Hello there, how are you?", true, "", true},
	} {
		right, differs := deviation(c.text, c.said, c.whole)
		if differs != c.differs || c.differs && c.text[:right] != c.right {
			t.Errorf("%q said as %q: %v from %q, want %v from %q", c.text, c.said, differs, c.text[:right], c.differs, c.right)
		}
	}
	// Each beginning of a right reading is right.
	for _, text := range []string{answer, "It's 3 o'clock, e.g. in v1.2.3, and 1,024 of them are 50 % done.", "Nein, das ist z. B. nicht 3,5 km lang."} {
		for i := range text {
			if right, differs := deviation(text, text[:i], false); differs || right > i && strings.Trim(text[i:right], " %") != "" {
				t.Errorf("%q so far: %v, %d right", text[:i], differs, right)
			}
		}
	}
}
