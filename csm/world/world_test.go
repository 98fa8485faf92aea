package world

import "testing"

// Each group has a name.
func TestGroupsHaveNames(t *testing.T) {
	if Phrases != Voice<<(len(groupNames)-1) {
		t.Errorf("%d groups have names, and there are more or fewer", len(groupNames))
	}
}
