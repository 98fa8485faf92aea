//go:build cgo && !race

package rpc_test

import (
	"testing"
)

// The published bytes are linear in the length of the answer, both for a client that
// takes only the new text and for one that does not.
func TestPublishedTranscriptsAreLinear(t *testing.T) {
	for name, test := range map[string]struct {
		capabilities object
		perByte      int
	}{
		"append": {object{"copilot": true, "transcriptAppend": true}, 40},
		"whole":  {object{"copilot": true}, 150},
	} {
		t.Run(name, func(t *testing.T) {
			for _, size := range []int{20_000, 60_000} {
				published := longAnswer(t, size, test.capabilities)
				t.Logf("%d bytes: %d published, %d for each", size, published, published/size)
				if published > test.perByte*size {
					t.Errorf("an answer of %d bytes had %d published, over %d for each", size, published, test.perByte)
				}
			}
		})
	}
}
