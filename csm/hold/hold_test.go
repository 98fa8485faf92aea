package hold

import "testing"

// A reason is set from its addition to its removal, independent of others.
func TestNext(t *testing.T) {
	for are := range Reasons(8) {
		for which := range Reasons(8) {
			if got := Next(are, Give, which); got != are|which {
				t.Errorf("%b and %b: %b", are, which, got)
			}
			if got := Next(are, Take, which); got != are&^which {
				t.Errorf("%b without %b: %b", are, which, got)
			}
		}
	}
}

// The rows lead to the state that the set implies.
func TestRowsAgreeWithSet(t *testing.T) {
	for are := range Reasons(8) {
		for which := range Reasons(8) {
			at := none
			if are != 0 {
				at = held
			}
			for in := range Take + 1 {
				row := table.Choose(at, in, change{are, which})
				if which == 0 && are == 0 || row == nil {
					continue
				}
				if got := row.Do(change{are, which}); (row.Next(at) == held) != (got != 0) {
					t.Errorf("%v of %b in %b leads to %v with %b", in, which, are, row.Next(at), got)
				}
			}
		}
	}
}
