package csmtest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// T is the part of *testing.T that Run needs.
type T interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Run plays every scenario of a file and compares it with its golden trace. Scenarios
// without a trace are not compared.
func Run(t T, file string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v", err)
	}
	all, err := Parse(file, string(b))
	if err != nil {
		t.Fatalf("%v", err)
	}
	for _, s := range all {
		if err := Check(s); err != nil {
			t.Errorf("%v", err)
		}
	}
}

// Check plays one scenario and compares it with its golden trace, if any.
func Check(s Scenario) error {
	o, err := Play(s)
	if err != nil {
		return fmt.Errorf("%w\nso far:\n%s", err, strings.Join(o.Trace, "\n"))
	}
	if len(s.golden) == 0 || slices.Equal(s.golden, o.Trace) {
		return nil
	}
	for i := range max(len(s.golden), len(o.Trace)) {
		want, got := "nothing more", "nothing more"
		if i < len(s.golden) {
			want = s.golden[i]
		}
		if i < len(o.Trace) {
			got = o.Trace[i]
		}
		if want != got {
			return fmt.Errorf("%s:%d: %s: step %d of the trace differs; if intended, run go test ./csm/csmtest -update and review the diff\n  golden: %s\n  seen:   %s",
				s.File, s.Line, s.Name, i+1, want, got)
		}
	}
	return nil
}

// Update plays the scenarios of a file and writes their traces into it. It does not
// change a file with a failing scenario.
func Update(file string) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	all, err := Parse(filepath.ToSlash(file), string(b))
	if err != nil {
		return err
	}
	var traces [][]string
	var broken []error
	for _, s := range all {
		o, err := Play(s)
		broken, traces = append(broken, err), append(traces, o.Trace)
	}
	if err := errors.Join(broken...); err != nil {
		return err
	}
	text := rewrite(string(b), traces)
	if text == string(b) {
		return nil
	}
	return os.WriteFile(file, []byte(text), 0o644)
}
