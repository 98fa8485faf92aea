//go:build !race

package explore

import (
	"math/rand/v2"
	"testing"
)

// Random walks keep every invariant and meet most of the situations that an exploration
// must meet.
func TestWalksMeetSituations(t *testing.T) {
	t.Parallel()
	const walks, percent = 5000, 55
	worlds := Worlds()
	met := map[string]bool{}
	for i := range walks {
		r := rand.New(rand.NewPCG(uint64(i), 2))
		if v := Walk(&worlds[i%len(worlds)], r.IntN, 100, func(name string) { met[name] = true }); v != nil {
			t.Fatalf("walk %d: %v\n%s", i, v, scenario(t, v))
		}
	}
	t.Logf("situations: %d of %d met in %d walks", len(met), len(Situations), walks)
	if 100*len(met) < percent*len(Situations) {
		t.Errorf("%d of %d situations were met; want %d %%", len(met), len(Situations), percent)
	}
}
