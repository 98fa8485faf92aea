package contract

import (
	"slices"
	"strings"
	"testing"
)

// orphans returns everything that the check finds.
func (s *source) orphans(t testing.TB) []orphan {
	t.Helper()
	all := slices.Concat(s.events(), s.effects(), s.settings(), s.words(), s.methods(t), s.parameters(), s.codes(t), s.localized(t), s.catalogue())
	slices.SortFunc(all, func(a, b orphan) int { return strings.Compare(a.String(), b.String()) })
	return slices.Compact(all)
}

// pending lists orphans that are being connected, with the reason. It is empty when
// everything is connected.
var pending = map[string]string{}

// TestEveryPromiseIsConnected fails on an orphan, and on an entry of pending that no
// longer is one.
func TestEveryPromiseIsConnected(t *testing.T) {
	found := map[string]bool{}
	for _, o := range load(t, nil).orphans(t) {
		found[o.key()] = true
		if why, known := pending[o.key()]; known {
			t.Logf("pending: %v (%s)", o, why)
			continue
		}
		t.Error(o)
	}
	for key := range pending {
		if !found[key] {
			t.Errorf("%s is connected; remove it from pending", key)
		}
	}
}
