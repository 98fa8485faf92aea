package csm

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Every transition of the table is in the diagram, from its phase or a box
// around it, and no arrow is there without one.
func TestDiagramIsTheTable(t *testing.T) {
	d := draw(false)
	drawn := map[string]bool{} // "from to cause", not yet accounted for
	for _, a := range d.arrows {
		for _, l := range a.labels {
			drawn[fmt.Sprint(a.from, " ", a.to, " ", l)] = false
		}
	}
	for _, r := range Table() {
		if r.Internal() || r.Cause == "" {
			continue
		}
		found := false
		for _, from := range []node{node(r.From.String()), conversationBox} {
			for _, to := range []node{node(r.To.String()), previous} {
				if from == conversationBox && !slices.Contains(conversationPhases, r.From) || to == previous && r.From != PhaseSuspended {
					continue
				}
				key := fmt.Sprint(from, " ", to, " ", r.Cause)
				if _, ok := drawn[key]; ok {
					drawn[key], found = true, true
				}
			}
		}
		if !found {
			t.Errorf("not drawn: %v to %v by %v", r.From, r.To, r.Cause)
		}
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
		"Conversation --> Suspended : session.renewal<br/>conn.lost<br/>device.lost\n",
		"Conversation --> Faulted : error\n",
		"Conversation --> Terminating : user.stop\n",
		"Suspended --> Previous : conn.restored<br/>device.restored<br/>session.resume\n",
		"        state Processing {\n            Analysing\n            WaitingForCopilot\n            GeneratingResponse\n        }\n",
	} {
		if strings.Count(Mermaid(), want) != 1 {
			t.Errorf("the diagram does not hold once:\n%s\nin:\n%s", want, Mermaid())
		}
	}
	for _, line := range strings.Split(MermaidWithGuards(), "\n") {
		if strings.Contains(line, "Preparing --> Faulted") && !strings.Contains(line, "error on conn.failed<br/>error on timer [timer prepare]") {
			t.Errorf("with events, what only one phase does is its own: %s", line)
		}
		if strings.Contains(line, "Conversation --> Faulted") && strings.Contains(line, "timer") {
			t.Errorf("not every phase does this: %s", line)
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
		for p := range NumPhases {
			if !strings.Contains(first, p.String()) {
				t.Errorf("%s has no %v", name, p)
			}
		}
		if strings.Count(first, "{") != strings.Count(first, "}") {
			t.Errorf("%s: a box is not closed", name)
		}
	}
}
