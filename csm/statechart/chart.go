package statechart

import "fmt"

// Region describes a region.
type Region struct {
	Name    string
	Package string // path within the module
	Within  string // the enclosing region, whose end also ends this one
	End     string // the final state, if any
	Causes  bool   // rows have causes, which are drawn instead of inputs
	About   string // one or two sentences
}

// Chart is a region's table without its functions, for drawing, counting and checking.
type Chart struct {
	Region
	States []string          // the first is the initial state
	Parent map[string]string // superstates
	Lines  []Line
}

// Line is a row of a chart.
type Line struct{ From, On, Guard, To, Means string }

// ChartOf returns the chart of a region's table.
func ChartOf[S, T Name, M comparable, C, A any](of Region, t *Table[S, T, M, C, A], parents map[S]S) Chart {
	c := Chart{Region: of, Parent: map[string]string{}}
	named, super := map[S]bool{}, map[S]bool{}
	for s, p := range parents {
		c.Parent[s.String()] = p.String()
		super[p] = true
	}
	for _, r := range t.Rows {
		c.Lines = append(c.Lines, Line{r.From.String(), r.On.String(), r.Guard.Name, r.To.String(), fmt.Sprint(r.Means)})
		named[r.From], named[r.To] = true, true
	}
	for s := range S(len(t.cells) / t.inputs) {
		if named[s] && !super[s] {
			c.States = append(c.States, s.String())
		}
	}
	return c
}

// In says whether state s is super or one of its descendants.
func (c Chart) In(s, super string) bool {
	for ok := true; ok; s, ok = c.Parent[s] {
		if s == super {
			return true
		}
	}
	return false
}
