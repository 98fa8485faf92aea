//go:build !race

package spoken_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/agentvoice/agentvoice-daemon/copilot/spoken"
)

// Every spoken character maps to the source: in order, within the segment, exactly if the
// word is spoken as written, and otherwise between its neighbours.
func TestSpokenCharactersMapToTheSource(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var answer strings.Builder
		for i := range rapid.IntRange(1, 60).Draw(t, "words") {
			word := fmt.Sprintf("%cord%s", 'a'+rune(i%26), strings.Repeat("x", i/26)) // unique
			answer.WriteString(word)
			if rapid.IntRange(0, 3).Draw(t, "rewritten") == 0 {
				answer.WriteString(" " + rapid.SampledFrom(rewritten).Draw(t, "piece"))
			}
			answer.WriteString(rapid.SampledFrom([]string{" ", " ", " ", ", ", ". ", "\n", "\n\n", "\n- ", "\n\n# "}).Draw(t, "then"))
		}
		source := answer.String()
		c := spoken.New(spoken.Options{})
		for _, seg := range append(c.Push(source), c.Flush()...) {
			if seg.Text != "" {
				checkPositions(t, source[seg.Start:seg.End], seg.Text)
			}
		}
	})
}
