package statechart

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// door is a region with a superstate: a shut door may be locked.
type door uint8

func (d door) String() string { return [...]string{"open", "closed", "locked", "shut", "any"}[d] }

type hand uint8

func (h hand) String() string { return [...]string{"push", "turn", "break"}[h] }

const (
	open door = iota
	closed
	locked
	shut
	whole
)

var doors = map[door]door{closed: shut, locked: shut, open: whole, shut: whole}

func rows(key Guard[bool]) []Row[door, hand, string, bool, func()] {
	r := NewRow[door, hand, string, bool, func()]
	var always Guard[bool]
	return []Row[door, hand, string, bool, func()]{
		r(open, 0, always, closed, "shuts", nil),
		r(closed, 0, always, open, "opens", nil),
		r(closed, 1, key, locked, "locks", nil),
		r(locked, 1, key, closed, "unlocks", nil),
		r(shut, 1, always, shut, "rattles", nil),
		r(shut, 2, always, open, "breaks", nil),
		r(whole, 2, key, open, "gives way", nil),
	}
}

func drawn(causes bool) Chart {
	t := New(rows(When("with the key", func(k bool) bool { return k })), doors)
	return ChartOf(Region{Name: "door", Causes: causes, End: "open"}, t, doors)
}

func TestChooseTakesInnermostMatchingRow(t *testing.T) {
	table := New(rows(When("with the key", func(k bool) bool { return k })), doors)
	for _, c := range []struct {
		at   door
		on   hand
		key  bool
		want string
	}{
		{open, 0, false, "shuts"}, {closed, 1, true, "locks"}, {closed, 1, false, "rattles"}, {locked, 1, false, "rattles"},
		{locked, 0, true, ""}, {locked, 2, true, "breaks"}, {open, 2, true, "gives way"}, {open, 2, false, ""}, {open, 9, true, ""}, {9, 0, true, ""},
	} {
		got := ""
		if row := table.Choose(c.at, c.on, c.key); row != nil {
			got = row.Means
			if next := row.Next(c.at); row.Internal() && next != c.at || !row.Internal() && next != row.To {
				t.Errorf("%v on %d: led to %v", c.at, c.on, next)
			}
		}
		if got != c.want {
			t.Errorf("%v on %d, key %v: %q, want %q", c.at, c.on, c.key, got, c.want)
		}
	}
}

func TestGuardsAreNamedAfterTheirParts(t *testing.T) {
	key := When("key", func(k bool) bool { return k })
	both := key.And(key.Not())
	if both.Name != "key, not: key" || both.Holds(true) || both.Holds(false) || !key.Not().Holds(false) {
		t.Errorf("got %q", both.Name)
	}
}

func TestChartIsDrawn(t *testing.T) {
	for name, c := range map[string]struct{ got, want string }{
		"for people": {drawn(false).Mermaid(false), `stateDiagram-v2
    state "open" as open
    state shut {
        state "closed" as closed
        state "locked" as locked
    }
    state "any of any" as any_any
    [*] --> open
    open --> closed : push
    closed --> open : push
    closed --> locked : turn
    locked --> closed : turn
    shut --> open : break
    any_any --> open : break
    open --> [*]
`},
		"with guards": {drawn(false).Mermaid(true), `stateDiagram-v2
    state "open" as open
    state shut {
        state "closed" as closed
        state "locked" as locked
        state "any of shut" as any_shut
    }
    state "any of any" as any_any
    [*] --> open
    open --> closed : push
    closed --> open : push
    closed --> locked : turn [with the key]
    locked --> closed : turn [with the key]
    any_shut --> any_shut : turn
    shut --> open : break
    any_any --> open : break [with the key]
    open --> [*]
`},
		"by causes": {drawn(true).Mermaid(true), `stateDiagram-v2
    state "open" as open
    state shut {
        state "closed" as closed
        state "locked" as locked
    }
    state "any of any" as any_any
    [*] --> open
    open --> closed : shuts on push
    closed --> open : opens on push
    closed --> locked : locks on turn [with the key]
    locked --> closed : unlocks on turn [with the key]
    shut --> open : breaks on break
    any_any --> open : gives way on break [with the key]
    open --> [*]
`},
	} {
		if c.got != c.want {
			t.Errorf("%s: got\n%s", name, c.got)
		}
	}
}

var (
	dotNode  = regexp.MustCompile(`^(\w+) \[label="[^"]*"(, style="rounded,dashed")?\];$`)
	dotMark  = regexp.MustCompile(`^(\w+) \[shape=.*\];$`)
	dotArrow = regexp.MustCompile(`^(\w+) -> (\w+)( \[label="([^"]*)"(, minlen=2)?(, ltail="cluster_(\w+)")?\])?;$`)
)

// Graphviz's output has the same arrows between existing nodes, one start marker, and an
// end marker if a transition leads to it.
func TestDOTHasTheSameArrows(t *testing.T) {
	in := drawn(false)
	in.Name, in.Within, in.End = "lock", "door", ""
	for name, c := range map[string]struct{ dot, mermaid string }{
		"alone": {drawn(false).DOT(true), drawn(false).Mermaid(true)},
		"all":   {DOT([]Chart{in, drawn(false)}, true), Mermaid([]Chart{in, drawn(false)}, true)},
	} {
		var nodes, arrows []string
		for _, l := range strings.Split(c.dot, "\n")[5:] {
			l = strings.TrimSpace(l)
			if m := dotNode.FindStringSubmatch(l); m != nil {
				nodes = append(nodes, m[1])
			} else if m := dotMark.FindStringSubmatch(l); m != nil {
				nodes = append(nodes, m[1])
			} else if m := dotArrow.FindStringSubmatch(l); m != nil {
				arrows = append(arrows, m[1], m[2])
			} else if l != "" && l != "}" && !strings.HasPrefix(l, "subgraph ") && !strings.HasPrefix(l, "label=") {
				t.Errorf("%s: not understood: %s", name, l)
			}
		}
		for _, n := range arrows {
			if !slices.Contains(nodes, n) {
				t.Errorf("%s: unknown node %s", name, n)
			}
		}
		for _, n := range nodes {
			if !slices.Contains(arrows, n) {
				t.Errorf("%s: nothing leads to or from %s", name, n)
			}
		}
		if got := strings.Count(c.mermaid, "-->"); got != len(arrows)/2 {
			t.Errorf("%s: %d arrows, %d in Mermaid's language", name, len(arrows)/2, got)
		}
		if strings.Count(c.dot, "{") != strings.Count(c.dot, "}") || strings.Count(c.mermaid, "{") != strings.Count(c.mermaid, "}") {
			t.Errorf("%s: a box is not closed", name)
		}
	}
	if all := Mermaid([]Chart{in, drawn(false)}, false); strings.Index(all, "region_door") > strings.Index(all, "region_lock") {
		t.Errorf("a region stands before the one that it is in:\n%s", all)
	}
}
