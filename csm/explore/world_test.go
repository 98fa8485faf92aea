//go:build !race

package explore

import (
	"testing"

	"github.com/agentvoice/agentvoice-daemon/csm/world"
)

// Every state of a small world is reached and keeps every invariant.
func TestSmallWorldCloses(t *testing.T) {
	r := Run(Options{MaxStates: enough, Worlds: small(world.Voice|world.Text|world.User|world.Retrying|world.Failing, world.Text|world.User|world.Failing|world.Holding|world.Tooling), Workers: 2})
	for _, v := range r.Violations() {
		t.Errorf("%v\n%s", v, scenario(t, v))
	}
	if !r.Closed() || r.States < 2500 {
		t.Errorf("not every state was reached:\n%v", r)
	}
	if r.Coverage.RowsFired < 60 || r.Stale < r.States {
		t.Errorf("%d rows of the table were met and %d stale events delivered", r.Coverage.RowsFired, r.Stale)
	}
	for _, region := range regionNames {
		if len(r.Worlds[0].Regions[region]) < 2 {
			t.Errorf("the %s region was only ever %v", region, r.Worlds[0].Regions[region])
		}
	}
}
