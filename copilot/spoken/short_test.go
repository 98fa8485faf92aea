package spoken_test

import (
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/copilot/spoken"
)

// marks are the characters by which the renderer tells one kind of word from another, with a
// letter and a digit of each kind.
const marks = "/\\.:~#@$%&()[]{}<>=+-*_`'\",;!?|^ \na1Zé"

// TestEveryShortText says each text of up to three of these characters, and of words that are said
// in another way, as text and as code, alone and at the end of a sentence. Nothing is read past the end of
// a text, and one blank separates the words that are said.
func TestEveryShortText(t *testing.T) {
	chars := append(strings.Split(marks, ""), "A.0", "a/b", "x()", "1.2", "v1.2", "C:\\", "a_b", "aB", "--a", "<b>", "#L1", "kB", "ctrl+c")
	var each func(text string, n int)
	each = func(text string, n int) {
		if n == 0 {
			return
		}
		for _, c := range chars {
			for _, in := range []string{text + c, "`" + text + c + "`", "See " + text + c + "."} {
				checkTiles(t, in, chunk(spoken.Options{Locale: "en"}, in))
				checkTiles(t, in, chunk(spoken.Options{Locale: "de"}, in))
			}
			each(text+c, n-1)
		}
	}
	each("", 3)
}
