package csm

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm/connection"
	"github.com/agentvoice/agentvoice-daemon/csm/history"
	"github.com/agentvoice/agentvoice-daemon/csm/speech"
	"github.com/agentvoice/agentvoice-daemon/csm/turn"
	"github.com/agentvoice/agentvoice-daemon/session"
)

func TestDiagramsHaveNames(t *testing.T) {
	want := []string{"conversation", "hold", "approval", "connection", "turn", "speech", "history", "copilot", "session", "all"}
	var names []string
	for _, d := range Diagrams() {
		names = append(names, d.Name)
		if found, ok := DiagramOf(d.Name); !ok || found.About != d.About || d.About == "" || d.Package == "" {
			t.Errorf("%s: found %v: %+v", d.Name, ok, found)
		}
	}
	if !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
	if d, ok := DiagramOf("weather"); ok {
		t.Errorf("there is a diagram of the weather: %+v", d)
	}
}

// parsed is what a text in Mermaid's or Graphviz's language draws.
type parsed struct {
	nodes  []string // by declaration
	arrows []string // "from to label"
}

// The lines that a diagram of ours consists of. Whatever else a language has, a
// line that is none of these is a mistake.
var (
	mermaidState = regexp.MustCompile(`^state "([\w ]+)" as (\w+)( \{)?$`)
	mermaidBox   = regexp.MustCompile(`^state (\w+) \{$`)
	mermaidNode  = regexp.MustCompile(`^\w+$`)
	mermaidArrow = regexp.MustCompile(`^(\w+|\[\*\]) --> (\w+|\[\*\])( : [^";{}]+)?$`)
	dotNode      = regexp.MustCompile(`^(\w+)( \[[a-z]+=("[^"]*"|[\w.]+)(, [a-z]+=("[^"]*"|[\w.]+))*\])?;$`)
	dotArrow     = regexp.MustCompile(`^(\w+) -> (\w+)( \[label="([^"]*)"(, ltail="\w+")?\])?;$`)
	dotBox       = regexp.MustCompile(`^subgraph "cluster_\w+" \{$`)
	dotLabel     = regexp.MustCompile(`^label="\w+"; style=\w+;$`)
)

// lines checks a text's indentation and boxes, and hands each line on.
func lines(t *testing.T, text string, line func(depth int, line string) bool) {
	t.Helper()
	depth := 1
	all := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, l := range all[1:] {
		trimmed := strings.TrimLeft(l, " ")
		if strings.HasSuffix(trimmed, "}") {
			depth--
		}
		switch {
		case len(l)-len(trimmed) != 4*depth || trimmed == "" || depth < 0:
			t.Errorf("line %d stands at %d, want %d: %s", i+2, len(l)-len(trimmed), 4*depth, l)
		case trimmed != "}" && !line(depth, trimmed):
			t.Errorf("line %d is none of the language: %s", i+2, l)
		}
		if strings.HasSuffix(l, "{") {
			depth++
			if i+2 < len(all) && strings.TrimSpace(all[i+2]) == "}" {
				t.Errorf("line %d: the box is empty", i+2)
			}
		}
	}
}

func parseMermaid(t *testing.T, text string) (p parsed) {
	t.Helper()
	if !strings.HasPrefix(text, "stateDiagram-v2\n") {
		t.Errorf("it begins with %.30q", text)
	}
	lines(t, text, func(depth int, l string) bool {
		if m := mermaidState.FindStringSubmatch(l); m != nil {
			p.nodes = append(p.nodes, m[2])
		} else if m := mermaidArrow.FindStringSubmatch(l); m != nil {
			p.arrows = append(p.arrows, m[1]+" "+m[2]+" "+strings.TrimPrefix(m[3], " : "))
		} else if m := mermaidBox.FindStringSubmatch(l); m != nil {
			p.nodes = append(p.nodes, m[1])
		} else if mermaidNode.MatchString(l) {
			p.nodes = append(p.nodes, l)
		} else {
			return l == "--" && depth > 1
		}
		return true
	})
	return p
}

func parseDOT(t *testing.T, name, text string) (p parsed) {
	t.Helper()
	head := "digraph " + name + " {\n    compound=true; rankdir=TB; nodesep=0.6; ranksep=0.7;\n    graph ["
	if !strings.HasPrefix(text, head) || !strings.HasSuffix(text, "\n}\n") {
		t.Errorf("it begins with %.60q and ends with %q", text, text[len(text)-5:])
	}
	body := strings.Join(strings.Split(text, "\n")[4:], "\n")
	lines(t, body, func(_ int, l string) bool {
		if m := dotArrow.FindStringSubmatch(l); m != nil {
			p.arrows = append(p.arrows, m[1]+" "+m[2]+" "+strings.ReplaceAll(m[4], `\n`, "<br/>"))
		} else if m := dotNode.FindStringSubmatch(l); m != nil {
			p.nodes = append(p.nodes, m[1])
		} else if strings.HasPrefix(l, "Idle; ") {
			p.nodes = append(p.nodes, strings.Split(strings.TrimSuffix(l, ";"), "; ")...)
		} else {
			return dotBox.MatchString(l) || dotLabel.MatchString(l)
		}
		return true
	})
	return p
}

// check looks whether every arrow is between nodes that are declared, once.
func (p parsed) check(t *testing.T, loose ...string) {
	t.Helper()
	sorted := slices.Sorted(slices.Values(p.nodes))
	if len(slices.Compact(sorted)) != len(p.nodes) {
		t.Errorf("a node twice: %q", p.nodes)
	}
	for _, a := range p.arrows {
		ends := strings.SplitN(a, " ", 3)
		for _, end := range ends[:2] {
			if end != "[*]" && !slices.Contains(p.nodes, end) && !slices.Contains(loose, end) {
				t.Errorf("%s: there is no node %s", a, end)
			}
		}
	}
	if len(p.arrows) == 0 {
		t.Error("no arrows")
	}
}

// Every diagram is of the language, is the same each time, and draws the same
// arrows in both.
func TestDiagramsAreOfTheirLanguages(t *testing.T) {
	for _, d := range Diagrams() {
		for _, guards := range []bool{false, true} {
			t.Run(fmt.Sprint(d.Name, " ", guards), func(t *testing.T) {
				text, graph := d.Mermaid(guards), d.DOT(guards)
				if text != d.Mermaid(guards) || graph != d.DOT(guards) {
					t.Error("it differs from one call to the next")
				}
				m, g := parseMermaid(t, text), parseDOT(t, d.Name, graph)
				var loose []string
				if d.Name == "conversation" { // its arrows declare the phases outside of the box
					loose = []string{"Idle", "Faulted", "Terminating", "Conversation", "Connected", "Processing"}
				}
				m.check(t, loose...)
				g.check(t)
				if len(m.arrows) != len(g.arrows) {
					t.Errorf("%d arrows in Mermaid's language, %d in Graphviz's", len(m.arrows), len(g.arrows))
				}
				for _, s := range d.States {
					if !strings.Contains(text, s) || !strings.Contains(graph, s) {
						t.Errorf("there is no %s", s)
					}
				}
			})
		}
	}
}

// regionEdges are what the regions say of themselves.
func regionEdges() map[string][]edge {
	all := map[string][]edge{}
	for _, e := range connection.Edges() {
		all["connection"] = append(all["connection"], edge(e))
	}
	for _, e := range turn.Edges() {
		all["turn"] = append(all["turn"], edge(e))
	}
	for _, e := range speech.Edges() {
		all["speech"] = append(all["speech"], edge(e))
	}
	for _, e := range history.Edges() {
		all["history"] = append(all["history"], edge(e))
	}
	for _, e := range copilot.Edges() {
		all["copilot"] = append(all["copilot"], edge(e))
	}
	all["hold"], all["approval"] = holdEdges(), approvalEdges()
	for _, e := range session.Edges() {
		all["session"] = append(all["session"], edge(e))
	}
	return all
}

// With guards, a region's diagram is its edges and nothing else; the composite
// has the same, under names that tell the regions apart.
func TestDiagramsAreTheEdges(t *testing.T) {
	all := parseMermaid(t, must(DiagramOf("all"))(t).Mermaid(true))
	for name, edges := range regionEdges() {
		own := parseMermaid(t, must(DiagramOf(name))(t).Mermaid(true))
		for prefix, p := range map[string]parsed{"": own, name + "_": all} {
			drawn := map[edge]bool{}
			for _, a := range p.arrows {
				part := strings.SplitN(a, " ", 3)
				if part[0] == "[*]" || part[1] == "[*]" || !strings.HasPrefix(part[0], prefix) {
					continue
				}
				for _, on := range strings.Split(part[2], "<br/>") {
					drawn[edge{strings.TrimPrefix(part[0], prefix), on, strings.TrimPrefix(part[1], prefix)}] = true
				}
			}
			wanted := map[edge]bool{}
			for _, e := range edges {
				any := edge{"any", e.On, e.To}
				if wanted[e] = true; !drawn[e] && !drawn[any] {
					t.Errorf("%s%s: not drawn: %+v", prefix, name, e)
				}
			}
			states := must(DiagramOf(name))(t).States
			for e := range drawn {
				for _, s := range states {
					if from := (edge{s, e.On, e.To}); (e.From == s || e.From == "any" && s != e.To) && !wanted[from] {
						t.Errorf("%s%s: drawn without an edge: %+v", prefix, name, from)
					}
				}
			}
		}
	}
}

func must(d Diagram, ok bool) func(*testing.T) Diagram {
	return func(t *testing.T) Diagram {
		t.Helper()
		if !ok {
			t.Fatal("there is no such diagram")
		}
		return d
	}
}

// A region stands inside of the one whose end is its end.
func TestRegionsAreNested(t *testing.T) {
	var path []string
	at := map[string]string{}
	text := must(DiagramOf("all"))(t).Mermaid(false)
	for _, l := range strings.Split(text, "\n") {
		l = strings.TrimSpace(l)
		if m := mermaidState.FindStringSubmatch(l); m != nil && m[3] != "" {
			path = append(path, m[1])
			at[m[1]] = strings.Join(path, "/")
		} else if l == "}" {
			path = path[:len(path)-1]
		}
	}
	want := map[string]string{"session": "session", "connection": "session/connection", "conversation": "session/connection/conversation"}
	for _, name := range []string{"hold", "approval", "turn", "copilot", "speech", "history"} {
		want[name] = "session/connection/conversation/" + name
	}
	if fmt.Sprint(at) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", at, want)
	}
}

// Without guards, what stays in its state is left out; what comes from
// everywhere is drawn once; a region ends where nothing leads on.
func TestRegionsAreDrawnForPeople(t *testing.T) {
	for name, want := range map[string][]string{
		"connection": {
			`    state "any state" as any`, "    [*] --> disconnected", "    open --> reconnecting : dial<br/>late<br/>lost",
			"    any --> torn : close", "    torn --> [*]",
		},
		"turn":    {"    [*] --> idle", "    userSpeaking --> endPending : answered<br/>commit<br/>end"},
		"speech":  {"    [*] --> closed", "    any --> closed : flush"},
		"history": {"    [*] --> normal", "    compacting --> normal : stop<br/>summarised"},
		"copilot": {"    [*] --> idle", "    any --> idle : shut"},
		"session": {"    [*] --> inactive", "    running --> waiting : question_requested"},
	} {
		got := strings.Split(must(DiagramOf(name))(t).Mermaid(false), "\n")
		for _, w := range want {
			if n := slices.Index(got, w); n < 0 || slices.Contains(got[n+1:], w) {
				t.Errorf("%s does not hold once %q:\n%s", name, w, strings.Join(got, "\n"))
			}
		}
		for _, l := range got {
			m := mermaidArrow.FindStringSubmatch(strings.TrimSpace(l))
			if m != nil && (m[1] == m[2] || strings.Contains(m[3], "[")) || name != "connection" && m != nil && m[2] == "[*]" {
				t.Errorf("%s: %s", name, l)
			}
		}
	}
}
