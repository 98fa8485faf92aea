package csm

import (
	"fmt"
	"strings"
	"testing"
)

// Every transition of the table is in the diagram, and no arrow is there without one.
func TestDiagramIsTheTable(t *testing.T) {
	d := draw(false)
	drawn := map[string]bool{} // "from to cause", not yet accounted for
	for _, a := range d.arrows {
		for _, l := range a.labels {
			drawn[fmt.Sprint(a.from, " ", a.to, " ", l)] = false
		}
	}
	for _, r := range Table() {
		if r.Internal() || !r.From.In(PhaseAny) {
			continue
		}
		key := fmt.Sprint(r.From, " ", r.To, " ", r.Cause)
		if _, ok := drawn[key]; !ok {
			t.Errorf("not drawn: %s", key)
		}
		drawn[key] = true
	}
	for arrow, backed := range drawn {
		if !backed {
			t.Errorf("drawn without a row: %s", arrow)
		}
	}
}

// What every phase of a conversation does alike is drawn once.
func TestDiagramDrawsWhatIsSharedOnce(t *testing.T) {
	for _, want := range []string{
		"Conversation --> Faulted : error<br/>suspend.timeout\n",
		"Conversation --> Terminating : user.stop\n",
		"    state Conversation {\n        Preparing\n        state Connected {\n            Listening\n            state Processing {\n                Analysing\n" +
			"                WaitingForCopilot\n                GeneratingResponse\n            }\n            Speaking\n            Interrupted\n        }\n    }\n",
	} {
		if strings.Count(Mermaid(), want) != 1 {
			t.Errorf("the diagram does not hold once:\n%s\nin:\n%s", want, Mermaid())
		}
	}
}

func TestDiagramsAreTheSameEachTime(t *testing.T) {
	for name, draw := range map[string]func() string{
		"Mermaid": Mermaid, "MermaidWithGuards": MermaidWithGuards, "DOT": DOT, "DOTWithGuards": DOTWithGuards,
	} {
		first := draw()
		for range 20 {
			if draw() != first {
				t.Fatalf("%s differs from one call to the next", name)
			}
		}
		for _, s := range conversationStates() {
			if !strings.Contains(first, s) {
				t.Errorf("%s has no %s", name, s)
			}
		}
		if strings.Count(first, "{") != strings.Count(first, "}") {
			t.Errorf("%s: a box is not closed", name)
		}
	}
}
