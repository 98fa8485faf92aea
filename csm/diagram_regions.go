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
	list := []Diagram{
		{
			Name: "conversation", Package: "csm", States: conversationStates(), draw: func(guards bool) chart { return draw(guards) },
			About: "What the user and the assistant are doing. An event that a region below takes for live fires one row of the table at most, " +
				"and then those that are due without an event.",
		},
		regionDiagram("hold", "csm", "none", holdEdges(),
			"Whether the conversation is held still, and why. Beside a conversation that is held, what it is at goes on, "+
				"but nothing is captured, sent, synthesised or played. It is shown as Suspended."),
		regionDiagram("approval", "csm", ApprovalNone.String(), approvalEdges(),
			"The question about one call of a tool, in the same turn. It is offered each event before the conversation."),
		regionDiagram("connection", "csm/connection", connection.Disconnected{}.String(), connection.Edges(),
			"The one link to the realtime service, which carries both voices. Each dial has an epoch of its own, "+
				"and a connection that is about to expire has a successor beside it."),
		regionDiagram("turn", "csm/turn", turn.Idle{}.String(), turn.Edges(),
			"Who speaks, as far as the user is concerned. An utterance opens and closes with facts about audio, "+
				"and its words may come after the next onset."),
		regionDiagram("speech", "csm/speech", speech.Closed{}.String(), speech.Edges(),
			"One line of segments on its way to the user's ear. A flush closes it in any state and begins a new generation."),
		regionDiagram("history", "csm/history", history.Normal{}.String(), history.Edges(),
			"What was said, and of the assistant's words only what was heard. A long one is summarised, one job at a time, "+
				"while it goes on growing."),
		regionDiagram("copilot", "copilot", copilot.Idle{}.String(), copilot.Edges(),
			"The one request that is under way: the search for tools, the answer, the decisions about calls and the calls, "+
				"round by round. What was told to stop stays until that is confirmed."),
		regionDiagram("session", "session", session.Inactive.String(), session.Edges(),
			"The assistant's session, as clients are told of it. A guard map says what may become of what."),
	}
	return append(list, Diagram{
		Name: "all", Package: "csm", draw: func(guards bool) chart { return composite(list, guards) },
		About: "Each region inside of the one whose end is its end; those in one box run beside one another.",
	})
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
func regionDiagram[E ~struct{ From, On, To string }](name, pkg, first string, edges []E, about string) Diagram {
	list := make([]edge, len(edges))
	for i, e := range edges {
		list[i] = edge(e)
	}
	d := Diagram{Name: name, Package: pkg, About: about, States: reached(first, list)}
	d.draw = func(guards bool) chart { return newFlat(d.States, list, guards) }
	return d
}

// conversationStates are the phases that the table knows.
func conversationStates() []string {
	names := slices.Clone(phaseNames[:NumPhases])
	return slices.Delete(names, int(PhaseSuspended), int(PhaseSuspended)+1)
}

// holdEdges are the arrows of the hold, as the rows that give and take its reasons
// make them.
func holdEdges() (edges []edge) {
	const free, held = "none", "held"
	for _, r := range holdRows() {
		switch on := r.On.String(); {
		case !r.Internal():
			edges = append(edges, edge{held, on + " [" + r.Guard.Name + "]", free})
		case takes(r.On):
			edges = append(edges, edge{held, on + " [others are left]", held},
				edge{held, on + " [the last reason]", free})
		default:
			edges = append(edges, edge{free, on, held}, edge{held, on, held})
		}
	}
	return edges
}

// approvalEdges are the arrows of the approval region, those of its superstate from
// each state in it.
func approvalEdges() (edges []edge) {
	for _, r := range approvalRows() {
		on := r.On.String()
		if r.Guard.Name != "" {
			on += " [" + r.Guard.Name + "]"
		}
		for from := ApprovalNone; from < ApprovalOpen; from++ {
			switch {
			case !from.In(r.From):
			case r.Internal():
				edges = append(edges, edge{from.String(), on, from.String()})
			default:
				edges = append(edges, edge{from.String(), on, r.To.String()})
			}
		}
	}
	return edges
}

// composite draws all regions: a session ends its connection, a connection its
// conversation, and a conversation what belongs to it.
func composite(regions []Diagram, guards bool) chart {
	named := func(name string, f flat) chart {
		f.prefix = name + "_"
		return f
	}
	flatOf := func(name string) chart {
		i := slices.IndexFunc(regions, func(d Diagram) bool { return d.Name == name })
		return named(name, regions[i].draw(guards).(flat))
	}
	talk := group{"conversation", []chart{named("conversation", draw(guards).flat())}}
	for _, name := range []string{"hold", "approval", "turn", "copilot", "speech", "history"} {
		talk.parts = append(talk.parts, group{name, []chart{flatOf(name)}})
	}
	link := group{"connection", []chart{flatOf("connection"), talk}}
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

// flat is a chart without boxes.
type flat struct {
	prefix string   // of the names of nodes, where they stand among others'
	states []string // it begins in the first
	beside []beside
	arrows []arrow
	last   []string // where it ends
}

// beside is a node of a chart that is no state, but stands for some.
type beside struct {
	node
	label string
}

// anyState is what leads to the same state from everywhere, drawn once.
var anyState = beside{"any", "any state"}

// newFlat is the chart of a region. It ends in a state that nothing leads out of.
func newFlat(states []string, edges []edge, guards bool) flat {
	f := flat{states: states}
	var d diagram // merges arrows
	for _, s := range states {
		ends := true
		for _, e := range edges {
			switch on := e.label(guards); {
			case e.From != s:
			case e.From == e.To && !guards:
			case everywhere(e, states, edges):
				d.add(anyState.node, node(e.To), on)
				ends = ends && e.To == s
			default:
				d.add(node(e.From), node(e.To), on)
				ends = ends && e.To == s
			}
		}
		if ends {
			f.last = append(f.last, s)
		}
	}
	slices.SortStableFunc(d.arrows, func(a, b arrow) int { // what comes from everywhere goes last
		return b2i(a.from == anyState.node) - b2i(b.from == anyState.node)
	})
	if f.arrows = d.arrows; slices.ContainsFunc(f.arrows, func(a arrow) bool { return a.from == anyState.node }) {
		f.beside = []beside{anyState}
	}
	return f
}

// flat draws a node in place of each box: where a chart is drawn inside of
// another's box, Mermaid has no arrows into boxes.
func (d diagram) flat() flat {
	f := flat{arrows: d.arrows, last: []string{PhaseIdle.String()}}
	for _, s := range conversationStates() {
		if _, boxed := d.boxAt(node(s)); !boxed {
			f.states = append(f.states, s)
		}
	}
	for _, b := range d.boxes {
		f.beside = append(f.beside, beside{b.name, "any of " + strings.ToLower(string(b.name))})
	}
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
	for _, b := range f.beside {
		fmt.Fprintf(out, "%sstate %q as %s%s\n", indent, b.label, f.prefix, b.node)
	}
	fmt.Fprintf(out, "%s[*] --> %s%s\n", indent, f.prefix, f.states[0])
	for _, a := range f.arrows {
		a.mermaid(out, indent, f.prefix)
	}
	for _, s := range f.last {
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
	for _, b := range f.beside {
		fmt.Fprintf(out, "%s%s%s [label=%q, style=\"rounded,dashed\"];\n", indent, f.prefix, b.node, b.label)
	}
	fmt.Fprintf(out, "%s%sbegin -> %s%s;\n", indent, f.prefix, f.prefix, f.states[0])
	for _, a := range f.arrows {
		fmt.Fprintf(out, "%s%s%s -> %s%s [label=%q];\n", indent, f.prefix, a.from, f.prefix, a.to, strings.Join(a.labels, "\n"))
	}
	for _, s := range f.last {
		fmt.Fprintf(out, "%s%s%s -> %send;\n", indent, f.prefix, s, f.prefix)
	}
}
