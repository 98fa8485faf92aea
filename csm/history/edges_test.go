package history

import (
	"slices"
	"strings"
	"testing"
)

// The arrows by hand. A cell that changes, an order that does, or a state that
// can no longer be reached turns this red.
func TestEdges(t *testing.T) {
	want := strings.Split(strings.TrimSpace(`
compacting/heard/compacting
compacting/said/compacting
compacting/stop/normal
compacting/summarised/normal
compacting/summarised [failed]/normal
compacting/tool/compacting
normal/compact/compacting
normal/heard/normal
normal/said/normal
normal/tool/normal
`), "\n")
	var got []string
	for _, e := range Edges() {
		got = append(got, e.From+"/"+e.On+"/"+e.To)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
