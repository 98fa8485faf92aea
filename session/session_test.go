package session

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The two tables of the session specification, verbatim. Everything below that is not
// written out is derived from them, never from the code.
const (
	guardMap = `
| inactive | activating |
| activating | ready, error, inactive |
| ready | running, deactivating, inactive, error |
| running | ready, waiting, error, deactivating |
| waiting | running, error, deactivating |
| deactivating | inactive, error |
| error | inactive, activating |`

	statusMap = `
| created | activating | instance created, connecting |
| connected | ready | handshake complete |
| turn_started | running | Agent began processing |
| turn_complete | ready | Turn finished successfully |
| turn_error | ready or error | ready if currently running or waiting; error otherwise |
| question_requested | waiting | Agent needs user input |
| approval_resolved | running | User responded to question/permission |
| terminating | deactivating | Graceful shutdown initiated |
| terminated | inactive | Shutdown complete |
| error | error | Unrecoverable failure |`
)

// rows splits a table into cells.
func rows(table string) [][]string {
	var out [][]string
	for line := range strings.Lines(strings.TrimSpace(table)) {
		var row []string
		for cell := range strings.SplitSeq(strings.Trim(strings.TrimSpace(line), "|"), "|") {
			row = append(row, strings.TrimSpace(cell))
		}
		out = append(out, row)
	}
	return out
}

// specified returns the specified state after a status, "" if rejected.
func specified(state, status string) string {
	var want string
	for _, row := range rows(statusMap) {
		if row[0] == status {
			want = row[1]
		}
	}
	if want == "ready or error" {
		want = "error"
		if state == "running" || state == "waiting" {
			want = "ready"
		}
	}
	for _, row := range rows(guardMap) {
		for _, to := range strings.Split(row[1], ", ") {
			if row[0] == state && to == want {
				return want
			}
		}
	}
	return ""
}

// All 49 entries of the guard map. Changing any of them fails this test.
func TestGuardMapEveryEntry(t *testing.T) {
	want := map[string]map[string]bool{}
	for _, row := range rows(guardMap) {
		want[row[0]] = map[string]bool{}
		for _, to := range strings.Split(row[1], ", ") {
			want[row[0]][to] = true
		}
	}
	if len(want) != int(numStates) {
		t.Fatalf("the specification has %d states, the code %d", len(want), numStates)
	}
	for from := range numStates {
		for to := range numStates {
			if got := Allowed(from, to); got != want[from.String()][to.String()] {
				t.Errorf("%v to %v: allowed is %v, the specification says %v", from, to, got, !got)
			}
		}
	}
	for _, x := range []State{numStates, 200, 255} {
		if Allowed(x, Inactive) || Allowed(Inactive, x) || Allowed(x, x) {
			t.Errorf("the guard map has %v, which is not a state", x)
		}
	}
}

// All 70 cells, written out. Changing any entry of either table, or the condition of
// turn_error, fails this test.
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
	for s := range numStates {
		for st := range numStatuses {
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

// The same cells by the names of the specification: a misspelt or swapped name fails this
// test, which the numbers above would not detect.
func TestNextFollowsTheSpecification(t *testing.T) {
	statuses := rows(statusMap)
	if len(statuses) != int(numStatuses) {
		t.Fatalf("the specification has %d statuses, the code %d", len(statuses), numStatuses)
	}
	for s := range numStates {
		for st := range numStatuses {
			if statuses[st][0] != st.String() {
				t.Fatalf("status %d is %v, the specification says %s", st, st, statuses[st][0])
			}
			got := ""
			if next, ok := Next(s, st); ok {
				got = next.String()
			}
			if want := specified(s.String(), st.String()); got != want {
				t.Errorf("%v + %v: got %q, want %q", s, st, got, want)
			}
		}
	}
}

// turn_error ends the turn if there is one, otherwise the session fails. It cannot end a
// turn with an open question, which must be resolved first.
func TestTurnErrorByContext(t *testing.T) {
	for s, want := range map[State]string{
		Inactive: "", Activating: "error", Ready: "error", Running: "ready", Waiting: "", Deactivating: "error", Error: "",
	} {
		next, ok := Next(s, TurnError)
		if got := next.String(); want != "" && (!ok || got != want) {
			t.Errorf("%v: got %v, %v, want %s", s, got, ok, want)
		}
		if want == "" && (ok || next != s) {
			t.Errorf("%v: got %v, %v, want it rejected", s, next, ok)
		}
	}
}

// walk applies statuses and returns the rejected ones.
func walk(t *testing.T, s State, statuses ...Status) (State, []Status) {
	t.Helper()
	var rejected []Status
	for _, st := range statuses {
		next, ok := Next(s, st)
		if !ok {
			rejected = append(rejected, st)
		}
		s = next
	}
	return s, rejected
}

func TestWaitingForTheUser(t *testing.T) {
	tests := []struct {
		name     string
		statuses []Status
		want     State
		rejected int
	}{
		{"the user approves", []Status{QuestionRequested, ApprovalResolved, TurnComplete}, Ready, 0},
		{"two questions", []Status{QuestionRequested, ApprovalResolved, QuestionRequested, ApprovalResolved}, Running, 0},
		{"a second question before the first is resolved", []Status{QuestionRequested, QuestionRequested}, Waiting, 1},
		{"the answer ends while the user is asked", []Status{QuestionRequested, TurnComplete}, Waiting, 1},
		{"the turn fails while the user is asked", []Status{QuestionRequested, TurnError}, Waiting, 1},
		{"resolved first, then failed", []Status{QuestionRequested, ApprovalResolved, TurnError}, Ready, 0},
		{"the session fails while the user is asked", []Status{QuestionRequested, Failed}, Error, 0},
		{"the session is torn down while the user is asked", []Status{QuestionRequested, TerminationBegun, Terminated}, Inactive, 0},
		{"the service vanishes while the user is asked", []Status{QuestionRequested, Terminated}, Waiting, 1},
		{"an unsolicited approval", []Status{ApprovalResolved}, Running, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, rejected := walk(t, Running, tt.statuses...)
			if got != tt.want || len(rejected) != tt.rejected {
				t.Errorf("got %v, rejected %v; want %v and %d rejected", got, rejected, tt.want, tt.rejected)
			}
		})
	}
}

// Renewal has no state and no status. While Running, the successor's handshake must not
// be reported, since connected would end the turn.
func TestRenewalHasNoStatus(t *testing.T) {
	for s, want := range map[State]State{Ready: Ready, Waiting: Waiting, Running: Ready} {
		if next, _ := Next(s, Connected); next != want {
			t.Errorf("%v + connected: %v, want %v", s, next, want)
		}
	}
	for s := range numStates {
		if strings.Contains(s.String(), "renew") || strings.Contains(s.String(), "suspend") {
			t.Errorf("%v is not in the guard map of the specification", s)
		}
	}
}

// Whatever is reported, in whatever order, the guard map is not left, and a
// rejection changes nothing. Returning the target of a rejected status turns this red.
func TestRandomStatusesKeepTheGuardMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Inactive
		for range rapid.IntRange(0, 100).Draw(t, "length") {
			st := Status(rapid.IntRange(0, int(numStatuses)-1).Draw(t, "status"))
			next, ok := Next(s, st)
			switch want := specified(s.String(), st.String()); {
			case ok && next.String() != want:
				t.Fatalf("%v + %v: got %v, the specification says %q", s, st, next, want)
			case !ok && (next != s || want != ""):
				t.Fatalf("%v + %v is rejected: %v, the specification says %q", s, st, next, want)
			}
			s = next
		}
	})
}

// Each step of a path is one that the guard map allows, and the two that several
// statuses at once make in production lead over Running.
func TestPathFollowsTheGuardMap(t *testing.T) {
	for from := range numStates {
		if Path(from, from) != nil || Path(from, numStates) != nil || Path(numStates, from) != nil {
			t.Errorf("there is a path from %v to itself, or to or from no state", from)
		}
		for to := range numStates {
			at := from
			for _, next := range Path(from, to) {
				if !Allowed(at, next) {
					t.Errorf("the path from %v to %v goes from %v to %v", from, to, at, next)
				}
				at = next
			}
			if at != to {
				t.Errorf("the path from %v to %v ends at %v", from, to, at)
			}
		}
	}
	for _, want := range [][]State{{Waiting, Running, Ready}, {Ready, Running, Waiting}, {Ready, Running}} {
		if got := Path(want[0], want[len(want)-1]); !slices.Equal(got, want[1:]) {
			t.Errorf("the path from %v is %v, want %v", want[0], got, want[1:])
		}
	}
}
