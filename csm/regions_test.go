package csm

import (
	"slices"
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/csm/statechart"
	"github.com/agentvoice/agentvoice-daemon/csm/turn"
)

func TestChartsHaveNames(t *testing.T) {
	want := []string{"conversation", "hold", "approval", "connection", "turn", "speech", "history", "copilot", "session"}
	var names []string
	for _, c := range Charts() {
		names = append(names, c.Name)
		if c.About == "" || c.Package == "" || c.Within != "" && !slices.Contains(want, c.Within) {
			t.Errorf("%s: %+v", c.Name, c.Region)
		}
	}
	if !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
}

// In a cell, only the last row may be without a guard, and all guards differ: otherwise a
// row could never be taken.
func TestRowsOfACellAreDistinct(t *testing.T) {
	for _, c := range Charts() {
		guards := map[[2]string][]string{}
		for _, l := range c.Lines {
			cell := [2]string{l.From, l.On}
			if slices.Contains(guards[cell], l.Guard) || slices.Contains(guards[cell], "") {
				t.Errorf("%s: %v: two rows with the guard %q, or one behind a row without", c.Name, cell, l.Guard)
			}
			guards[cell] = append(guards[cell], l.Guard)
		}
	}
}

// Every state can be reached from the initial one, and every state but a final one can be
// left.
func TestEveryStateCanBeEnteredAndLeft(t *testing.T) {
	for _, c := range Charts() {
		reached := []string{c.States[0]}
		for i := 0; i < len(reached); i++ {
			left := false
			for _, l := range c.Lines {
				if !c.In(reached[i], l.From) || l.From == l.To {
					continue
				}
				left = true
				if !slices.Contains(reached, l.To) {
					reached = append(reached, l.To)
				}
			}
			if !left && reached[i] != c.End {
				t.Errorf("%s: nothing leads out of %s", c.Name, reached[i])
			}
		}
		if len(reached) != len(c.States) {
			t.Errorf("%s: %q can be reached, of %q", c.Name, reached, c.States)
		}
	}
}

// The chart draws transitions that are common to all phases of a conversation once.
func TestChartDrawsSharedTransitionsOnce(t *testing.T) {
	text := Charts()[0].Mermaid(false)
	for _, want := range []string{
		"Conversation --> Faulted : suspend.timeout<br/>error\n",
		"Conversation --> Terminating : user.stop\n",
		"    state Conversation {\n        state \"Preparing\" as Preparing\n        state Connected {\n            state \"Listening\" as Listening\n            state Processing {\n",
		"    Idle --> [*]\n",
	} {
		if strings.Count(text, want) != 1 {
			t.Errorf("the diagram does not hold once:\n%s\nin:\n%s", want, text)
		}
	}
}

// A region is nested in the region whose end also ends it.
func TestRegionsAreNested(t *testing.T) {
	var path []string
	at := map[string]string{}
	for _, l := range strings.Split(statechart.Mermaid(Charts(), false), "\n") {
		l = strings.TrimSpace(l)
		if _, name, ok := strings.Cut(l, " as region_"); ok {
			path = append(path, strings.TrimSuffix(name, " {"))
			at[path[len(path)-1]] = strings.Join(path, "/")
		} else if l == "}" {
			path = path[:len(path)-1]
		}
	}
	for _, name := range []string{"hold", "approval", "turn", "copilot", "speech", "history"} {
		if at[name] != "session/connection/conversation/"+name {
			t.Errorf("%s stands in %s", name, at[name])
		}
	}
}

// A question can be decided only after it was heard.
func TestApprovalNeedsHeardQuestion(t *testing.T) {
	if text := Charts()[2].Mermaid(false); strings.Count(text, "--> deciding") != 1 || !strings.Contains(text, "any_open --> deciding : stt.final yes") {
		t.Error(text)
	}
	for over := range turn.NumStamps {
		for said := range NumClasses {
			for _, doubted := range []bool{false, true} {
				if m := Means(over, said, doubted); (m == MeansYes || m == MeansAssent) && (over != turn.OverQuestion || doubted) {
					t.Errorf("%v over %v, doubted %v: %v", said, over, doubted, m)
				}
			}
		}
	}
}
