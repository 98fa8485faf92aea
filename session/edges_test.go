package session

import (
	"slices"
	"strings"
	"testing"
)

// The arrows by hand. A cell that changes, an order that does, or a state that
// can no longer be reached turns this red.
func TestEdges(t *testing.T) {
	want := strings.Fields(`
		activating/connected/ready
		activating/error/error
		activating/terminated/inactive
		activating/turn_complete/ready
		activating/turn_error/error
		deactivating/error/error
		deactivating/terminated/inactive
		deactivating/turn_error/error
		error/created/activating
		error/terminated/inactive
		inactive/created/activating
		ready/approval_resolved/running
		ready/error/error
		ready/terminated/inactive
		ready/terminating/deactivating
		ready/turn_error/error
		ready/turn_started/running
		running/connected/ready
		running/error/error
		running/question_requested/waiting
		running/terminating/deactivating
		running/turn_complete/ready
		running/turn_error/ready
		waiting/approval_resolved/running
		waiting/error/error
		waiting/terminating/deactivating
		waiting/turn_started/running`)
	var got []string
	for _, e := range Edges() {
		got = append(got, e.From+"/"+e.On+"/"+e.To)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Each of the guard map's 19 arrows is drawn: no entry of it is out of reach of
// every status.
func TestEveryArrowOfTheGuardMapHasAStatus(t *testing.T) {
	drawn := map[string]bool{}
	for _, e := range Edges() {
		drawn[e.From+" to "+e.To] = true
	}
	arrows := 0
	for _, row := range rows(guardMap) {
		for _, to := range strings.Split(row[1], ", ") {
			arrows++
			if !drawn[row[0]+" to "+to] {
				t.Errorf("no status leads from %s to %s", row[0], to)
			}
		}
	}
	if arrows != len(drawn) {
		t.Errorf("%d arrows are drawn, the guard map has %d", len(drawn), arrows)
	}
}

// Nobody can change the arrows for others.
func TestEdgesAreFresh(t *testing.T) {
	Edges()[0] = Edge{}
	if Edges()[0] == (Edge{}) {
		t.Error("what one caller writes the next one reads")
	}
}
