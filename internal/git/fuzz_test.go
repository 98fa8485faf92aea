package git

import (
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/internal/workspace"
)

// FuzzOutput parses what git prints about a repository and its settings.
func FuzzOutput(f *testing.F) {
	for _, s := range []string{" M a.go\x00R  b.go\x00a.go\x00", "?? \x00", "R  b\x00", "core.x\ny\x00core.z\x00", "\x00\x00", "X"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, out string) {
		for _, name := range changed(out) {
			if !workspace.Shows(name) {
				t.Fatalf("%q does not show", name)
			}
		}
		for _, name := range listed(out) {
			if !workspace.Shows(name) || name == "" {
				t.Fatalf("%q does not show", name)
			}
		}
		for key, value := range settings([]byte(out)) {
			if key == "" {
				t.Fatal("a setting without a name")
			}
			if q := quoted(value); strings.Contains(q, "\n") || !strings.HasPrefix(q, "\"") {
				t.Fatalf("%q is written as %q", value, q)
			}
		}
	})
}
