package turn

import (
	"slices"
	"strings"
	"testing"
)

// The arrows by hand. A cell that changes, an order that does, or a state that
// can no longer be reached turns this red.
func TestEdges(t *testing.T) {
	want := strings.Split(strings.TrimSpace(`
endPending/answered [an awaited one]/endPending
endPending/answered [the last awaited]/idle
endPending/commit/endPending
endPending/onset/userSpeaking
idle/onset/userSpeaking
userSpeaking/answered [an awaited one]/userSpeaking
userSpeaking/answered [the open one, more awaited]/endPending
userSpeaking/answered [the open one]/idle
userSpeaking/commit/endPending
userSpeaking/end/endPending
userSpeaking/silence/userSpeaking
userSpeaking/voice/userSpeaking
`), "\n")
	var got []string
	for _, e := range Edges() {
		got = append(got, e.From+"/"+e.On+"/"+e.To)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
