package csm

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm/connection"
	"github.com/agentvoice/agentvoice-daemon/csm/history"
	"github.com/agentvoice/agentvoice-daemon/csm/speech"
	"github.com/agentvoice/agentvoice-daemon/csm/turn"
	"github.com/agentvoice/agentvoice-daemon/session"
)

// Diagram is the statechart of a region, or of all of them together.
type Diagram struct {
	Name    string
	Package string   // from the root of the module
	About   string   // what it is, in a sentence or two
	States  []string // in the order in which they can be reached

	draw func(guards bool) chart
}

// Mermaid draws it in Mermaid's language, the same text each time; with guards,
// it says what makes the difference where an input leads to several states, and
// draws what stays in its state.
func (d Diagram) Mermaid(guards bool) string { return mermaid(d.draw(guards)) }

// DOT draws it in Graphviz's language, the same text each time.
func (d Diagram) DOT(guards bool) string { return dot(d.Name, d.draw(guards)) }

// Diagrams returns the diagram of each region, the conversation first, and that
// of all of them last. What a region does is asked of the region as it runs.
func Diagrams() []Diagram {
	return []Diagram{
		{
			Name: "conversation", Package: "csm", States: slices.Clone(phaseNames[:]), draw: func(guards bool) chart { return draw(guards) },
			About: "What the user and the assistant are doing. An event that a region below takes for live fires one row of the table at most.",
		},
		regionDiagram("connection", "csm/connection", connection.Disconnected{}, connection.Edges(),
			"The one link to the realtime service, which carries both voices. Each dial has an epoch of its own, "+
				"and a connection that is about to expire has a successor beside it."),
		regionDiagram("turn", "csm/turn", turn.Idle{}, turn.Edges(),
			"Who speaks, as far as the user is concerned. An utterance opens and closes with facts about audio, "+
				"and its words may come after the next onset."),
		regionDiagram("speech", "csm/speech", speech.Closed{}, speech.Edges(),
			"One line of segments on its way to the user's ear. A flush closes it in any state and begins a new generation."),
		regionDiagram("history", "csm/history", history.Normal{}, history.Edges(),
			"What was said, and of the assistant's words only what was heard. A long one is summarised, one job at a time, "+
				"while it goes on growing."),
		regionDiagram("copilot", "copilot", copilot.Idle{}, copilot.Edges(),
			"The one request that is under way: the search for tools, the answer, the decisions about calls and the calls, "+
				"round by round. What was told to stop stays until that is confirmed."),
		regionDiagram("session", "session", session.Inactive, session.Edges(),
			"The assistant's session, as clients are told of it. A guard map says what may become of what."),
		{
			Name: "all", Package: "csm", draw: composite,
			About: "Each region inside of the one whose end is its end; those in one box run beside one another.",
		},
	}
}

// DiagramOf returns the diagram with a name, and whether there is one.
func DiagramOf(name string) (Diagram, bool) {
	all := Diagrams()
	i := slices.IndexFunc(all, func(d Diagram) bool { return d.Name == name })
	if i < 0 {
		return Diagram{}, false
	}
	return all[i], true
}

// regionDiagram is the diagram of a region that begins in first and has edges.
func regionDiagram[E ~struct{ From, On, To string }](name, pkg string, first fmt.Stringer, edges []E, about string) Diagram {
	list := make([]edge, len(edges))
	for i, e := range edges {
		list[i] = edge(e)
	}
	d := Diagram{Name: name, Package: pkg, About: about, States: reached(first.String(), list)}
	d.draw = func(guards bool) chart { return newFlat("", d.States, list, guards) }
	return d
}

// composite draws all regions: a session ends its connection, a connection its
// conversation, and a conversation what belongs to it.
func composite(guards bool) chart {
	flatOf := func(name string) chart {
		d, _ := DiagramOf(name)
		f := d.draw(guards).(flat)
		f.prefix = name + "_"
		return f
	}
	conversation := group{"conversation", []chart{draw(guards)}}
	for _, name := range []string{"turn", "copilot", "speech", "history"} {
		conversation.parts = append(conversation.parts, group{name, []chart{flatOf(name)}})
	}
	link := group{"connection", []chart{flatOf("connection"), conversation}}
	return group{"session", []chart{flatOf("session"), link}}
}

// edge is an arrow of a region, as each of them has a type of its own for it.
type edge struct{ From, On, To string }

// reached lists the states that edges lead to, from first on; those that nothing
// leads out of come last.
func reached(first string, edges []edge) []string {
	states := []string{first}
	for i := 0; i < len(states); i++ {
		for _, e := range edges {
			if e.From == states[i] && !slices.Contains(states, e.To) {
				states = append(states, e.To)
			}
		}
	}
	ends := func(s string) int { return b2i(!slices.ContainsFunc(edges, func(e edge) bool { return e.From == s })) }
	slices.SortStableFunc(states, func(a, b string) int { return ends(a) - ends(b) })
	return states
}

// flat is a chart without boxes, of a region. Its first state is where it begins,
// and one that nothing leads out of is where it ends.
type flat struct {
	prefix string // of the names of nodes, where they stand among others'
	states []string
	arrows []arrow
}

// What leads to the same state from everywhere is drawn from here, once.
const (
	anyState      node = "any"
	anyStateLabel      = "any state"
)

func newFlat(prefix string, states []string, edges []edge, guards bool) flat {
	f := flat{prefix: prefix, states: states}
	var d diagram // merges arrows
	for _, s := range states {
		for _, e := range edges {
			switch on := e.label(guards); {
			case e.From != s || e.From == e.To && !guards:
			case everywhere(e, states, edges):
				d.add(anyState, node(e.To), on)
			default:
				d.add(node(e.From), node(e.To), on)
			}
		}
	}
	slices.SortStableFunc(d.arrows, func(a, b arrow) int { // what comes from everywhere goes last
		return b2i(a.from == anyState) - b2i(b.from == anyState)
	})
	f.arrows = d.arrows
	return f
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// label is what the arrow is labelled with.
func (e edge) label(guards bool) string {
	if on, _, conditional := strings.Cut(e.On, " ["); conditional && !guards {
		return on
	}
	return e.On
}

// everywhere says whether every state but e.To has an arrow like e.
func everywhere(like edge, states []string, edges []edge) bool {
	const few = 3 // arrows that are as clear one by one
	return len(states) > few && !slices.ContainsFunc(states, func(s string) bool {
		return s != like.To && !slices.Contains(edges, edge{s, like.On, like.To})
	})
}

// last lists the states that nothing leads out of.
func (f flat) last() []string {
	return slices.DeleteFunc(slices.Clone(f.states), func(s string) bool {
		return slices.ContainsFunc(f.arrows, func(a arrow) bool { return a.from == node(s) && a.to != a.from })
	})
}

// needsAny says whether an arrow comes from everywhere.
func (f flat) needsAny() bool {
	return slices.ContainsFunc(f.arrows, func(a arrow) bool { return a.from == anyState })
}

// chart is what can be drawn: on its own, or as a part of another chart.
type chart interface {
	mermaidIn(out *strings.Builder, indent string)
	dotIn(out *strings.Builder, indent string)
}

// group is charts in one box that run beside one another.
type group struct {
	name  string
	parts []chart
}

func mermaid(c chart) string {
	var out strings.Builder
	out.WriteString("stateDiagram-v2\n")
	c.mermaidIn(&out, "    ")
	return out.String()
}

func (g group) mermaidIn(out *strings.Builder, indent string) {
	fmt.Fprintf(out, "%sstate %q as region_%s {\n", indent, g.name, g.name)
	for i, part := range g.parts {
		if i > 0 {
			fmt.Fprintf(out, "%s    --\n", indent)
		}
		part.mermaidIn(out, indent+"    ")
	}
	fmt.Fprintf(out, "%s}\n", indent)
}

func (f flat) mermaidIn(out *strings.Builder, indent string) {
	for _, s := range f.states {
		fmt.Fprintf(out, "%sstate %q as %s%s\n", indent, s, f.prefix, s)
	}
	if f.needsAny() {
		fmt.Fprintf(out, "%sstate %q as %s%s\n", indent, anyStateLabel, f.prefix, anyState)
	}
	fmt.Fprintf(out, "%s[*] --> %s%s\n", indent, f.prefix, f.states[0])
	for _, a := range f.arrows {
		a.mermaid(out, indent, f.prefix)
	}
	for _, s := range f.last() {
		fmt.Fprintf(out, "%s%s%s --> [*]\n", indent, f.prefix, s)
	}
}

func (a arrow) mermaid(out *strings.Builder, indent, prefix string) {
	fmt.Fprintf(out, "%s%s%s --> %s%s : %s\n", indent, prefix, a.from, prefix, a.to, strings.Join(a.labels, "<br/>"))
}

func dot(name string, c chart) string {
	var out strings.Builder
	fmt.Fprintf(&out, "digraph %s {\n", name)
	out.WriteString(`    compound=true; rankdir=TB; nodesep=0.6; ranksep=0.7;
    graph [fontname="Helvetica", fontsize=12, color="#8a8f98"];
    node [fontname="Helvetica", fontsize=12, shape=box, style="rounded,filled", fillcolor="#eef3fb", color="#5b7083"];
    edge [fontname="Helvetica", fontsize=10, color="#5b7083"];
`)
	c.dotIn(&out, "    ")
	out.WriteString("}\n")
	return out.String()
}

// dotEnds draws the nodes in which a chart begins and ends.
func dotEnds(out *strings.Builder, indent, prefix string) {
	fmt.Fprintf(out, "%s%sbegin [shape=circle, style=filled, fillcolor=\"#2d3748\", label=\"\", width=0.18];\n", indent, prefix)
	fmt.Fprintf(out, "%s%send [shape=doublecircle, style=filled, fillcolor=\"#2d3748\", label=\"\", width=0.12];\n", indent, prefix)
}

func (g group) dotIn(out *strings.Builder, indent string) {
	fmt.Fprintf(out, "%ssubgraph %q {\n%s    label=%q; style=dashed;\n", indent, "cluster_region_"+g.name, indent, g.name)
	for _, part := range g.parts {
		part.dotIn(out, indent+"    ")
	}
	fmt.Fprintf(out, "%s}\n", indent)
}

func (f flat) dotIn(out *strings.Builder, indent string) {
	dotEnds(out, indent, f.prefix)
	for _, s := range f.states {
		fmt.Fprintf(out, "%s%s%s [label=%q];\n", indent, f.prefix, s, s)
	}
	if f.needsAny() {
		fmt.Fprintf(out, "%s%s%s [label=%q, style=\"rounded,dashed\"];\n", indent, f.prefix, anyState, anyStateLabel)
	}
	fmt.Fprintf(out, "%s%sbegin -> %s%s;\n", indent, f.prefix, f.prefix, f.states[0])
	for _, a := range f.arrows {
		fmt.Fprintf(out, "%s%s%s -> %s%s [label=%q];\n", indent, f.prefix, a.from, f.prefix, a.to, strings.Join(a.labels, "\n"))
	}
	for _, s := range f.last() {
		fmt.Fprintf(out, "%s%s%s -> %send;\n", indent, f.prefix, s, f.prefix)
	}
}
