package session

import "testing"

// The guard map and the mapping of statuses, cell by cell. Changing any entry
// of either table makes this red.
func TestNextEveryCell(t *testing.T) {
	const (
		in, ac, re, ru, wa, de, er = Inactive, Activating, Ready, Running, Waiting, Deactivating, Error
		no                         = numStates // rejected
	)
	want := [numStates][numStatuses]State{
		//            created conn started complete t.error question approved term'ing term'ed error
		Inactive:     {ac, no, no, no, no, no, no, no, no, no},
		Activating:   {no, re, no, re, er, no, no, no, in, er},
		Ready:        {no, no, ru, no, er, no, ru, de, in, er},
		Running:      {no, re, no, re, re, wa, no, de, no, er},
		Waiting:      {no, no, ru, no, no, no, ru, de, no, er},
		Deactivating: {no, no, no, no, er, no, no, no, in, er},
		Error:        {ac, no, no, no, no, no, no, no, in, no},
	}
	for s := State(0); s < numStates; s++ {
		for st := Status(0); st < numStatuses; st++ {
			got, ok := Next(s, st)
			switch w := want[s][st]; {
			case w == no && (ok || got != s):
				t.Errorf("%v + %v: got %v, want it rejected and the state kept", s, st, got)
			case w != no && (!ok || got != w):
				t.Errorf("%v + %v: got %v (ok %v), want %v", s, st, got, ok, w)
			}
		}
	}
}
