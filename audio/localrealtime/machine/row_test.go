package machine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/csm/statechart"
)

// noting makes each row record when it is taken.
func noting[S statechart.Name](taken map[string]bool, in string, t *table[S]) *table[S] {
	rows := slices.Clone(t.Rows)
	for i := range rows {
		name := fmt.Sprintf("%s: %v on %v [%s]", in, rows[i].From, rows[i].On, rows[i].Guard.Name)
		taken[name] = false
		do := rows[i].Do
		rows[i].Do = func(r *run) {
			taken[name] = true
			if do != nil {
				do(r)
			}
		}
	}
	other := *t // cells hold row indices
	other.Rows = rows
	return &other
}

// Every row is reachable.
func TestEveryRowIsTaken(t *testing.T) {
	exploreOnce() // with the unmodified tables
	taken := map[string]bool{}
	was := all
	defer func() { all = was }()
	all = &tables{
		link: noting(taken, "link", was.link), turn: noting(taken, "turn", was.turn), words: noting(taken, "words", was.words),
		answer: noting(taken, "answer", was.answer), sound: noting(taken, "sound", was.sound), memory: noting(taken, "memory", was.memory),
	}
	for _, w := range worlds() {
		(&explored{broken: map[string]violation{}, met: map[string]int{}}).explore(&w, Step)
	}
	for name, met := range taken {
		if !met {
			t.Errorf("no exploration takes the row %s", name)
		}
	}
	if len(taken) < 60 {
		t.Errorf("there are %d rows", len(taken))
	}
}

// Within a cell, only the last row may lack a guard, and no two rows may have the same
// guard. Every state is reachable, and can be left unless it is final.
func TestTablesAreSound(t *testing.T) {
	for _, c := range Charts() {
		guards := map[[2]string][]string{}
		left := map[string]bool{}
		for _, l := range c.Lines {
			cell := [2]string{l.From, l.On}
			if slices.Contains(guards[cell], l.Guard) || slices.Contains(guards[cell], "") {
				t.Errorf("%s: %v: two rows with the guard %q, or one behind a row without", c.Name, cell, l.Guard)
			}
			guards[cell] = append(guards[cell], l.Guard)
			for _, s := range c.States {
				left[s] = left[s] || l.From != l.To && c.In(s, l.From)
			}
		}
		for _, s := range c.States {
			if !left[s] && s != c.End {
				t.Errorf("%s: nothing leads out of %s", c.Name, s)
			}
		}
	}
}

// For each invariant there are tables that violate it, and the exploration finds the
// violation with its path. This shows that the exploration would detect such faults.
func TestBrokenTablesAreFound(t *testing.T) {
	without := func(d Do) func(State, Event, *State, []Action) []Action {
		return func(_ State, _ Event, _ *State, acts []Action) []Action {
			return slices.DeleteFunc(acts, func(a Action) bool { return a.Do == d })
		}
	}
	twice := func(d Do) func(State, Event, *State, []Action) []Action {
		return func(_ State, _ Event, _ *State, acts []Action) []Action {
			if i := slices.IndexFunc(acts, func(a Action) bool { return a.Do == d }); i >= 0 {
				acts = append(acts, acts[i])
			}
			return acts
		}
	}
	for _, c := range []struct {
		promise string
		fault   func(State, Event, *State, []Action) []Action
	}{
		{"1", func(_ State, e Event, to *State, acts []Action) []Action {
			for i := range to.Answers {
				if e.Kind == Create && len(to.Answers) > 1 {
					to.Answers[i].At = making
				}
			}
			return acts
		}},
		{"2", without(Finish)}, {"2", twice(Finish)}, {"2", without(TellCreated)},
		{"3", without(CloseItem)}, {"3", twice(Announce)},
		{"4", without(TellSpeechStarted)}, {"4", without(Kill)}, {"4", twice(TellSpeechStarted)},
		{"5", func(from State, e Event, _ *State, acts []Action) []Action {
			if e.Kind == Configure && from.Turn.Announced() {
				acts = append(acts, Action{Do: Reconfigure})
			}
			return acts
		}},
		{"6", without(DropUtterance)}, {"6", twice(CommitUtterance)}, {"6", without(ForgetAudio)},
		{"7", without(KeepWords)}, {"7", without(TellSpeechStopped)}, {"7", without(TellNoModel)},
		{"8", without(Stop)}, {"8", func(_ State, e Event, to *State, acts []Action) []Action {
			if to.Link == Torn {
				to.Memory.At = normal
			}
			return acts
		}},
		{"9", without(Summarise)}, {"9", without(StopSummary)},
		{"10", twice(HangUp)}, {"10", without(StopStall)},
	} {
		step := func(s State, e Event) (State, []Action, Outcome) {
			to, acts, out := Step(s, e)
			return to, c.fault(s, e, &to, acts), out
		}
		r := &explored{broken: map[string]violation{}, met: map[string]int{}, until: c.promise}
		for _, w := range worlds() {
			r.explore(&w, step)
		}
		if v, found := r.broken[c.promise]; !found || len(v.path) == 0 || len(v.path) > 6 {
			t.Errorf("promise %s: found: %v, after %s", c.promise, found, strings.Join(v.path, "; "))
		}
	}
}
