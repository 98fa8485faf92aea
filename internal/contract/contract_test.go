package contract

import (
	"slices"
	"strings"
	"testing"
)

// checks find the orphans of each kind.
var checks = []struct {
	kind string
	find func(*source, testing.TB) []orphan
}{
	{"event", func(s *source, _ testing.TB) []orphan { return s.events() }},
	{"effect", func(s *source, _ testing.TB) []orphan { return s.effects() }},
	{"setting", func(s *source, _ testing.TB) []orphan { return s.settings() }},
	{"spoken command", func(s *source, _ testing.TB) []orphan { return s.words() }},
	{"method", (*source).methods},
	{"parameter", func(s *source, _ testing.TB) []orphan { return s.parameters() }},
	{"error code", (*source).codes},
	{"string", func(s *source, t testing.TB) []orphan { return append(s.localized(t), s.catalogue()...) }},
}

// orphans returns everything that the checks of a kind find, or those of all kinds ("").
func (s *source) orphans(t testing.TB, kind string) (all []orphan) {
	t.Helper()
	for _, c := range checks {
		if kind == "" || c.kind == kind {
			all = append(all, c.find(s, t)...)
		}
	}
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
	for _, o := range load(t, nil).orphans(t, "") {
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
