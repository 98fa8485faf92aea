package statechart

import (
	"fmt"
	"slices"
	"strings"
)

// picture is a chart as drawn: transitions between the same two states are one arrow, and
// superstates are boxes. An arrow from a superstate to one of its states starts at a node
// that represents any of them.
type picture struct {
	Chart
	prefix string // prefix of nodes in a combined chart, which has no boxes
	arrows []arrow
	supers []string // as boxes, or as nodes
	boxes  []string
}

type arrow struct {
	from, to string
	labels   []string
}

func (c Chart) picture(guards bool, prefix string) picture {
	p := picture{Chart: c, prefix: prefix}
	for _, s := range c.States {
		for up, ok := c.Parent[s]; ok; up, ok = c.Parent[up] {
			if !slices.Contains(p.supers, up) {
				p.supers = append(p.supers, up)
			}
		}
	}
	for _, l := range c.Lines {
		if l.From == l.To && (!guards || c.Causes) {
			continue
		}
		from, to := l.From, l.To
		if slices.Contains(p.supers, from) && (prefix != "" || c.In(to, from)) {
			from = anyOf(from)
		}
		if l.From == l.To {
			to = from
		}
		p.add(from, to, c.label(l, guards))
	}
	slices.SortStableFunc(p.arrows, func(a, b arrow) int { return p.place(a.from) - p.place(b.from) })
	if prefix == "" {
		p.boxes = slices.DeleteFunc(slices.Clone(p.supers), func(s string) bool {
			return !p.drawn(s) && (c.Parent[s] == "" || !p.drawn(anyOf(s)))
		})
	}
	return p
}

// anyOf is the node that represents any state of a superstate.
func anyOf(super string) string { return "any_" + super }

func (c Chart) label(l Line, guards bool) string {
	label := l.On
	switch {
	case c.Causes && !guards:
		return l.Means
	case c.Causes:
		label = l.Means + " on " + l.On
	}
	if guards && l.Guard != "" {
		label += " [" + l.Guard + "]"
	}
	return label
}

func (p *picture) add(from, to, label string) {
	i := slices.IndexFunc(p.arrows, func(a arrow) bool { return a.from == from && a.to == to })
	if i < 0 {
		i = len(p.arrows)
		p.arrows = append(p.arrows, arrow{from: from, to: to})
	}
	if a := &p.arrows[i]; !slices.Contains(a.labels, label) {
		a.labels = append(a.labels, label)
	}
}

// place orders arrows by their start state, which gives the best layout: those of a
// superstate after those of its states.
func (p *picture) place(n string) int {
	n = strings.TrimPrefix(n, anyOf(""))
	last := 0
	for i, s := range p.States {
		if s == n {
			return 2 * i
		}
		if p.In(s, n) {
			last = 2*i + 1
		}
	}
	return last
}

func (p *picture) drawn(n string) bool {
	return slices.ContainsFunc(p.arrows, func(a arrow) bool { return a.from == n })
}

// boxOf returns the innermost box around a state or superstate, "" for none.
func (p *picture) boxOf(s string) string {
	up := p.Parent[s]
	for up != "" && !slices.Contains(p.boxes, up) {
		up = p.Parent[up]
	}
	return up
}

// in returns the contents of a box: states, boxes and the nodes that represent
// superstates.
func (p *picture) in(box string) (names []string) {
	for _, s := range p.States {
		for b := p.boxOf(s); ; s, b = b, p.boxOf(b) {
			if b == box {
				if !slices.Contains(names, s) {
					names = append(names, s)
				}
				break
			}
			if b == "" {
				break
			}
		}
	}
	for _, s := range p.supers {
		at := p.boxOf(s)
		if slices.Contains(p.boxes, s) {
			at = s
		}
		if at == box && p.drawn(anyOf(s)) {
			names = append(names, anyOf(s))
		}
	}
	return names
}

// chart is anything that can be drawn: a picture, or a region with nested ones.
type chart interface {
	mermaid(out *strings.Builder, indent string)
	dot(out *strings.Builder, indent string)
}

// Mermaid returns the chart in Mermaid's language, deterministically. With guards, it
// also shows conditions and, unless the rows are causes, internal transitions.
func (c Chart) Mermaid(guards bool) string { p := c.picture(guards, ""); return mermaid(&p) }

// DOT returns the chart in Graphviz's language.
func (c Chart) DOT(guards bool) string { p := c.picture(guards, ""); return dot(c.Name, &p) }

// AboutAll is what the picture of all charts shows.
const AboutAll = "Each region is drawn inside the region whose end also ends it; regions in one box run in parallel."

// Mermaid draws all charts, nested by region.
func Mermaid(all []Chart, guards bool) string { return mermaid(within(all, "", guards)) }

// DOT draws all charts in Graphviz's language.
func DOT(all []Chart, guards bool) string { return dot("all", within(all, "", guards)) }

func mermaid(c chart) string {
	var out strings.Builder
	out.WriteString("stateDiagram-v2\n")
	c.mermaid(&out, "    ")
	return out.String()
}

func (p *picture) mermaid(out *strings.Builder, indent string) {
	p.mermaidIn(out, indent, "")
	fmt.Fprintf(out, "%s[*] --> %s%s\n", indent, p.prefix, p.States[0])
	for _, a := range p.arrows {
		fmt.Fprintf(out, "%s%s%s --> %s%s : %s\n", indent, p.prefix, a.from, p.prefix, a.to, strings.Join(a.labels, "<br/>"))
	}
	if p.End != "" {
		fmt.Fprintf(out, "%s%s%s --> [*]\n", indent, p.prefix, p.End)
	}
}

func (p *picture) mermaidIn(out *strings.Builder, indent, box string) {
	for _, n := range p.in(box) {
		if slices.Contains(p.boxes, n) {
			fmt.Fprintf(out, "%sstate %s {\n", indent, n)
			p.mermaidIn(out, indent+"    ", n)
			fmt.Fprintf(out, "%s}\n", indent)
			continue
		}
		fmt.Fprintf(out, "%sstate %q as %s%s\n", indent, title(n), p.prefix, n)
	}
}

// title is the label of a node.
func title(n string) string { return strings.Replace(n, "any_", "any of ", 1) }

func dot(name string, c chart) string {
	var out strings.Builder
	fmt.Fprintf(&out, "digraph %s {\n", name)
	out.WriteString(`    compound=true; rankdir=TB; nodesep=0.6; ranksep=0.7;
    graph [fontname="Helvetica", fontsize=12, color="#8a8f98"];
    node [fontname="Helvetica", fontsize=12, shape=box, style="rounded,filled", fillcolor="#eef3fb", color="#5b7083"];
    edge [fontname="Helvetica", fontsize=10, color="#5b7083"];
`)
	c.dot(&out, "    ")
	out.WriteString("}\n")
	return out.String()
}

func (p *picture) dot(out *strings.Builder, indent string) {
	fmt.Fprintf(out, "%s%sbegin [shape=circle, style=filled, fillcolor=\"#2d3748\", label=\"\", width=0.18];\n", indent, p.prefix)
	p.dotIn(out, indent, "")
	fmt.Fprintf(out, "%s%sbegin -> %s%s;\n", indent, p.prefix, p.prefix, p.States[0])
	for _, a := range p.arrows {
		attrs := fmt.Sprintf("label=%q", strings.Join(a.labels, "\n"))
		from := a.from
		if from != title(from) {
			attrs += ", minlen=2" // leave room for labels between states
		}
		if slices.Contains(p.boxes, from) {
			attrs += fmt.Sprintf(", ltail=%q", "cluster_"+from)
			from = p.anchor(from)
		}
		fmt.Fprintf(out, "%s%s%s -> %s%s [%s];\n", indent, p.prefix, from, p.prefix, a.to, attrs)
	}
	if p.End != "" {
		fmt.Fprintf(out, "%s%send [shape=doublecircle, style=filled, fillcolor=\"#2d3748\", label=\"\", width=0.12];\n", indent, p.prefix)
		fmt.Fprintf(out, "%s%s%s -> %send;\n", indent, p.prefix, p.End, p.prefix)
	}
}

func (p *picture) dotIn(out *strings.Builder, indent, box string) {
	for _, n := range p.in(box) {
		if slices.Contains(p.boxes, n) {
			fmt.Fprintf(out, "%ssubgraph %q {\n%s    label=%q; style=rounded;\n", indent, "cluster_"+n, indent, n)
			p.dotIn(out, indent+"    ", n)
			fmt.Fprintf(out, "%s}\n", indent)
			continue
		}
		style := ""
		if n != title(n) {
			style = `, style="rounded,dashed"`
		}
		fmt.Fprintf(out, "%s%s%s [label=%q%s];\n", indent, p.prefix, n, title(n), style)
	}
}

// anchor returns the node inside a box that an arrow from the box attaches to, since
// Graphviz supports arrows between nodes only: the middle state.
func (p *picture) anchor(n string) string {
	for slices.Contains(p.boxes, n) {
		in := slices.DeleteFunc(p.in(n), func(n string) bool { return n != title(n) })
		n = in[len(in)/2]
	}
	return n
}

// group is a region and the parallel regions within it.
type group struct {
	name  string
	parts []chart
}

// within returns the regions within region, one box each.
func within(all []Chart, region string, guards bool) chart {
	var g group
	for _, c := range all {
		switch {
		case c.Name == region:
			p := c.picture(guards, c.Name+"_")
			g.name, g.parts = c.Name, append([]chart{&p}, g.parts...)
		case c.Within == region:
			g.parts = append(g.parts, within(all, c.Name, guards))
		}
	}
	if region == "" {
		return g.parts[0]
	}
	return g
}

func (g group) mermaid(out *strings.Builder, indent string) {
	fmt.Fprintf(out, "%sstate %q as region_%s {\n", indent, g.name, g.name)
	for i, part := range g.parts {
		if i > 0 {
			fmt.Fprintf(out, "%s    --\n", indent)
		}
		part.mermaid(out, indent+"    ")
	}
	fmt.Fprintf(out, "%s}\n", indent)
}

func (g group) dot(out *strings.Builder, indent string) {
	fmt.Fprintf(out, "%ssubgraph %q {\n%s    label=%q; style=dashed;\n", indent, "cluster_region_"+g.name, indent, g.name)
	for _, part := range g.parts {
		part.dot(out, indent+"    ")
	}
	fmt.Fprintf(out, "%s}\n", indent)
}
