package realtime

import (
	"strings"
	"testing"
)

// TestDeviation: what a session says is compared while it is said. A deviation is found within a few words,
// and a reading that is right is never taken for one, whatever part of it is known.
func TestDeviation(t *testing.T) {
	const answer = "The test fails because parseConfig returns nil when the file is empty."
	const long = "The function reads the file line by line and keeps each of them in a list. It has no comment. The list is then sorted by the name of its owner, " +
		"which takes most of the time that the program needs. A map from the owner to the lines would be faster, and shorter to read for whoever comes next to this part of the program."
	for _, c := range []struct {
		text, said string
		whole      bool
		right      string
		differs    bool
	}{
		{answer, "The test fails because", false, "The test fails", false},
		{answer, "Sure! Here ", false, "", false},
		{answer, "Sure! Here is what I ", false, "", true},
		{answer, "The test fails because I think that something is ", false, "The test fails because", true},
		{answer, answer, true, answer, false},
		{answer, answer + " Let me know if you need anything else.", true, answer, true},
		{answer, "The test fails because parseConfig returns nil.", true, "The test fails because parseConfig returns nil", true},
		{"It does not delete the branch of your colleague on the server.", "It does delete the branch of your colleague on the server.", true, "It does", true},
		{"It isn't there.", "It is not there.", true, "It", false},
		{"All 12 tests passed in 3.5 seconds.", "All twelve tests passed in three point five seconds.", true, "", false},
		{"Do it.", "Do it.", true, "Do it.", false},
		// An abbreviation or a number with blanks is one word, in the text and in what is said.
		{"z. B., d. h., z. B.", "z. B., d. h., z. B.", true, "", false},
		{"z. B., d. h., z. B.", "zum Beispiel das heißt zum ", false, "", false},
		{"Das kostet 1\u202f234\u202f567 Euro.", "Das kostet 1234567 Euro.", true, "", false},
		{"", "Hello there, how are you?", true, "", true},
		// Words that are split in another way, and names that are spelled.
		{"Run npm run build and look at the output.", "Run N P M run build and ", false, "", false},
		{"getUserById in store.go returns nil.", "get user by ID in store dot go ", false, "", false},
		{"Set isNotEmpty to true.", "Set is not empty to true.", true, "", false},
		{"Use --no-verify only once.", "Use dash dash no verify ", false, "", false},
		// No negation, or the same one.
		{"Issue no. 5 is closed.", "Issue number 5 is closed.", true, "", false},
		{"I know the file.", "I no the file.", true, "", false},
		{"It won't work.", "It wont work.", true, "", false},
		{"Ich lösche den Zweig nicht, weil er dir gehört.", "Ich lösche den Zweig, weil er dir gehört.", true, "Ich lösche den Zweig", true},
		{"ファイルを削除しません。", "ファイルを削除します。", true, "ファイルを削除しま", true},
		{"ファイルを開いて三行目を直しました。", "ファイルを開いて", false, "", false},
		{"ファイルを開いて三行目を直しました。", "もちろんです。お手伝いします。", false, "", true},
		// Of a long text, a sentence is not lost in the share.
		{long, strings.Replace(long, " It has no comment.", "", 1) + " Let me know if you need any help with that.", true, "", true},
		{long, long[:len(long)/2] + " by the way elephants love to swim in the sea ", false, "", true},
	} {
		right, differs := newReading(c.text).deviation(c.said, c.whole)
		if differs != c.differs || c.differs && c.right != "" && c.text[:right] != c.right {
			t.Errorf("%q said as %q: %v from %q, want %v from %q", c.text, c.said, differs, c.text[:right], c.differs, c.right)
		}
	}
	// Each beginning of a right reading is right.
	for _, text := range []string{answer, "It's 3 o'clock, e.g. in v1.2.3, and 1,024 of them are 50 % done.", "Nein, das ist z. B. nicht 3,5 km lang."} {
		for i := range text {
			if right, differs := newReading(text).deviation(text[:i], false); differs || right > i && strings.Trim(text[i:right], " %") != "" {
				t.Errorf("%q so far: %v, %d right", text[:i], differs, right)
			}
		}
	}
}
