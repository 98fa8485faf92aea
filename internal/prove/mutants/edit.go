package mutants

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// edit inserts text around a range of a file. The range itself is kept, so that edits
// can be nested.
type edit struct {
	from, to      int
	before, after string
	by            string // name of the mutant, for errors
}

// apply applies all edits. Of two edits at the same position the one with the longer
// range is outside; with equal ranges, the first.
func apply(text []byte, edits []edit) ([]byte, error) {
	type insertion struct {
		at    int
		order [2]int // closing texts before opening ones; then by nesting
		nth   int
		text  string
	}
	if err := nested(edits); err != nil {
		return nil, err
	}
	var ins []insertion
	for i, e := range edits {
		length := e.to - e.from
		ins = append(ins, insertion{e.from, [2]int{1, -length}, i, e.before}, insertion{e.to, [2]int{0, length}, -i, e.after})
	}
	slices.SortStableFunc(ins, func(a, b insertion) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.order[0], b.order[0]), cmp.Compare(a.order[1], b.order[1]), cmp.Compare(a.nth, b.nth))
	})
	var out strings.Builder
	last := 0
	for _, in := range ins {
		out.Write(text[last:in.at])
		out.WriteString(in.text)
		last = in.at
	}
	out.Write(text[last:])
	return []byte(out.String()), nil
}

// nested returns an error if two edits overlap without nesting.
func nested(edits []edit) error {
	sorted := slices.Clone(edits)
	slices.SortStableFunc(sorted, func(a, b edit) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to)) })
	var open []edit
	for _, e := range sorted {
		for len(open) > 0 && open[len(open)-1].to <= e.from {
			open = open[:len(open)-1]
		}
		if len(open) > 0 && open[len(open)-1].to < e.to {
			return fmt.Errorf("mutant %s starts inside mutant %s and ends outside of it; give one of them a snippet that is a whole expression or statement", e.by, open[len(open)-1].by)
		}
		open = append(open, e)
	}
	return nil
}
