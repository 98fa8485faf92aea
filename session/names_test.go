package session

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The names of both models. A legacy name that maps to another state fails this test.
func TestParse(t *testing.T) {
	for name, want := range map[string]State{
		"inactive": Inactive, "activating": Activating, "ready": Ready, "running": Running,
		"waiting": Waiting, "deactivating": Deactivating, "error": Error,
		// The older model had four states; running and error kept their names.
		"idle": Inactive, "awaiting_question": Waiting,
	} {
		if got, err := Parse(name); err != nil || got != want {
			t.Errorf("%s: got %v, %v, want %v", name, got, err, want)
		}
		var read struct{ State State }
		if err := json.Unmarshal(fmt.Appendf(nil, `{"State":%q}`, name), &read); err != nil || read.State != want {
			t.Errorf("%s from JSON: got %v, %v, want %v", name, read.State, err, want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	long := strings.Repeat("x", 1000)
	for _, name := range []string{"", "Idle", "RUNNING", " ready", "ready ", "awaiting question", "suspended", "renewing", "3", "State(3)", long} {
		got, err := Parse(name)
		if err == nil || got != Inactive {
			t.Errorf("%q: got %v, %v, want an error", name, got, err)
			continue
		}
		for _, part := range []string{"session: unknown state", name[:min(len(name), 40)], "inactive, activating, ready, running, waiting, deactivating, error"} {
			if !strings.Contains(err.Error(), part) || len(err.Error()) > 250 {
				t.Errorf("%q: the error does not say %q: %v", name, part, err)
			}
		}
	}
	read := Ready
	if err := read.UnmarshalText([]byte("nonsense")); err == nil || read != Ready {
		t.Errorf("an invalid name left %v, %v", read, err)
	}
}

// Written names parse to the same state and are never legacy names; an invalid state
// cannot be written.
func TestCurrentNamesAreWritten(t *testing.T) {
	for s := range numStates {
		text, err := s.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		if slices.Contains([]string{"idle", "awaiting_question"}, string(text)) {
			t.Errorf("%d is written with its legacy name %s", s, text)
		}
		if back, err := Parse(string(text)); err != nil || back != s {
			t.Errorf("%s is read as %v, %v", text, back, err)
		}
	}
	if text, err := numStates.MarshalText(); err == nil {
		t.Errorf("%v was written as %s", numStates, text)
	}
	if got := numStates.String() + " " + numStatuses.String(); got != "State(7) Status(10)" {
		t.Errorf("an invalid state or status prints as %s", got)
	}
}

// Any text is either parsed or rejected, deterministically, and a parsed state is written
// with a name that parses to the same state.
func TestAnyNameIsParsedOrRejected(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"idle", "awaiting_question", "ready", "Ready", "error\n"})).Draw(t, "name")
		s, err := Parse(name)
		if err != nil {
			return
		}
		text, err := s.MarshalText()
		if err != nil {
			t.Fatalf("%q is read as %v, which cannot be written: %v", name, s, err)
		}
		if string(text) != name && name != "idle" && name != "awaiting_question" {
			t.Fatalf("%q is parsed as %v, but is not a known name", name, s)
		}
	})
}

// After a restart every session is inactive, and stale ones are reported.
func TestReconcile(t *testing.T) {
	for s, stale := range map[State]bool{
		Inactive: false, Activating: true, Ready: true, Running: true, Waiting: true, Deactivating: true, Error: true,
	} {
		if got := Reconcile(s); got != Inactive {
			t.Errorf("%v is %v after a restart", s, got)
		}
		if got := Stale(s); got != stale {
			t.Errorf("%v is stale: %v, want %v", s, got, stale)
		}
		if again := Reconcile(Reconcile(s)); Stale(again) {
			t.Errorf("%v is still stale after it was reconciled", s)
		}
	}
}
