package connection

import (
	"slices"
	"strings"
	"testing"
)

// The arrows by hand. A cell that changes, an order that does, or a state that
// can no longer be reached turns this red.
func TestEdges(t *testing.T) {
	want := strings.Split(strings.TrimSpace(`
connecting/close/torn
connecting/dial/connecting
connecting/failed/disconnected
connecting/ready/open
disconnected/close/torn
disconnected/dial/connecting
open/close/torn
open/dial/reconnecting
open/failed [successor]/open
open/late/reconnecting
open/lost/reconnecting
open/lost [successor]/open
open/ready [successor]/open
open/succeed/open
open/swap/open
reconnecting/close/torn
reconnecting/dial/reconnecting
reconnecting/failed/disconnected
reconnecting/ready/open
`), "\n")
	var got []string
	for _, e := range Edges() {
		got = append(got, e.From+"/"+e.On+"/"+e.To)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
