package csm

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A diagram is the table as a statechart, for people: what stays in its phase is
// left out, transitions between the same two states are one arrow with all their
// causes, and superstates are boxes.
type diagram struct {
	boxes  []box // the outermost first
	arrows []arrow
}

// node names a state of the diagram: a phase, or a superstate.
type node string

// box is a composite state with what is in it. It has no entry mark: every arrow
// into it names a state.
type box struct {
	name node
	in   []node
}

// arrow is a transition with its labels, in the order of Causes.
type arrow struct {
	from, to node
	labels   []string
}

// superstates are those that are drawn: outside of a conversation each phase stands
// by itself.
var superstates = []Phase{PhaseConversation, PhaseConnected, PhaseProcessing}

// Mermaid draws the state machine in Mermaid's language, the same text each
// time.
func Mermaid() string { return mermaid(draw(false)) }

// MermaidWithGuards draws it with the event and the guard of each row.
func MermaidWithGuards() string { return mermaid(draw(true)) }

// DOT draws the state machine in Graphviz's language, the same text each time.
func DOT() string { return dot("conversation", draw(false)) }

// DOTWithGuards draws it with the event and the guard of each row.
func DOTWithGuards() string { return dot("conversation", draw(true)) }

func draw(guards bool) diagram {
	var d diagram
	for _, super := range superstates {
		b := box{name: node(super.String())}
		for p := range numNames {
			if parent, ok := p.Parent(); ok && parent == super {
				b.in = append(b.in, node(p.String()))
			}
		}
		d.boxes = append(d.boxes, b)
	}
	for _, r := range Table() {
		if !r.Internal() && r.From.In(PhaseAny) {
			d.add(node(r.From.String()), node(r.To.String()), label(r, guards))
		}
	}
	slices.SortStableFunc(d.arrows, func(a, b arrow) int { return cmp.Compare(a.from.place(), b.from.place()) })
	for i := range d.arrows {
		slices.SortStableFunc(d.arrows[i].labels, func(a, b string) int { return cmp.Compare(rank(a), rank(b)) })
	}
	return d
}

// place orders the arrows as a conversation goes, which makes the best pictures. A
// box comes after what is in it.
func (n node) place() int {
	for p := range numNames {
		switch {
		case n != node(p.String()):
		case p < NumPhases:
			return 2 * int(p)
		default:
			return 2*int(PhaseInterrupted) + 1
		}
	}
	return 0
}

func label(r Row, guards bool) string {
	switch {
	case !guards:
		return string(r.Cause)
	case r.Guard.Name == "":
		return fmt.Sprintf("%s on %v", r.Cause, r.On)
	default:
		return fmt.Sprintf("%s on %v [%s]", r.Cause, r.On, r.Guard.Name)
	}
}

// rank is the place of a label's cause in the list of them.
func rank(label string) int {
	cause, _, _ := strings.Cut(label, " ")
	return slices.Index(Causes, Cause(cause))
}

func (d *diagram) add(from, to node, label string) {
	i := slices.IndexFunc(d.arrows, func(a arrow) bool { return a.from == from && a.to == to })
	if i < 0 {
		d.arrows = append(d.arrows, arrow{from: from, to: to})
		i = len(d.arrows) - 1
	}
	if a := &d.arrows[i]; !slices.Contains(a.labels, label) {
		a.labels = append(a.labels, label)
	}
}

// boxAt is the box that n is, if it is one.
func (d diagram) boxAt(n node) (box, bool) {
	i := slices.IndexFunc(d.boxes, func(b box) bool { return b.name == n })
	if i < 0 {
		return box{}, false
	}
	return d.boxes[i], true
}

func (d diagram) mermaidIn(out *strings.Builder, indent string) {
	fmt.Fprintf(out, "%[1]s[*] --> Idle\n%[1]sIdle --> [*]\n", indent)
	boxed := false
	for _, a := range d.arrows {
		if !boxed && a.from != node(PhaseIdle.String()) { // what is named first is drawn on top
			d.mermaidBox(out, d.boxes[0], indent)
			boxed = true
		}
		a.mermaid(out, indent, "")
	}
}

func (d diagram) mermaidBox(out *strings.Builder, b box, indent string) {
	fmt.Fprintf(out, "%sstate %s {\n", indent, b.name)
	for _, n := range b.in {
		if inner, ok := d.boxAt(n); ok {
			d.mermaidBox(out, inner, indent+"    ")
			continue
		}
		fmt.Fprintf(out, "%s    %s\n", indent, n)
	}
	fmt.Fprintf(out, "%s}\n", indent)
}

func (d diagram) dotIn(out *strings.Builder, indent string) {
	dotEnds(out, indent, "")
	fmt.Fprintf(out, "%sIdle; Faulted; Terminating;\n", indent)
	d.dotBox(out, d.boxes[0], indent)
	fmt.Fprintf(out, "%sbegin -> Idle;\n", indent)
	for _, a := range d.arrows {
		attrs := []string{fmt.Sprintf("label=%q", strings.Join(a.labels, "\n"))}
		from := a.from
		if b, ok := d.boxAt(from); ok {
			from, attrs = d.anchor(b), append(attrs, fmt.Sprintf("ltail=%q", "cluster_"+b.name))
		}
		fmt.Fprintf(out, "%s%s -> %s [%s];\n", indent, from, a.to, strings.Join(attrs, ", "))
	}
	fmt.Fprintf(out, "%sIdle -> end;\n", indent)
}

func (d diagram) dotBox(out *strings.Builder, b box, indent string) {
	fmt.Fprintf(out, "%ssubgraph %q {\n%s    label=%q; style=rounded;\n", indent, "cluster_"+b.name, indent, b.name)
	for _, n := range b.in {
		if inner, ok := d.boxAt(n); ok {
			d.dotBox(out, inner, indent+"    ")
			continue
		}
		fmt.Fprintf(out, "%s    %s;\n", indent, n)
	}
	fmt.Fprintf(out, "%s}\n", indent)
}

// anchor is the node inside a box that an arrow from the box is tied to, since
// Graphviz has arrows between nodes only: the one in the middle.
func (d diagram) anchor(b box) node {
	n := b.in[len(b.in)/2]
	if inner, ok := d.boxAt(n); ok {
		return d.anchor(inner)
	}
	return n
}
