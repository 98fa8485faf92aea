package vocab

import (
	_ "embed"
	"strconv"
	"strings"
)

// treesText holds decision trees, one per line. A tree is a leaf, which is a number that
// counts for the match or against it, or "feature<value" followed by two trees, for true
// and for false. BenchmarkTrees fits them.
//
//go:embed trees.txt
var treesText string

// tree is a decision tree. A leaf has no branches.
type tree struct {
	feature  int
	value    float64 // of a leaf, or the threshold for the feature
	branches *[2]tree
}

var trees = func() (out []tree) {
	for line := range strings.Lines(treesText) {
		t, rest := parseTree(strings.Fields(line))
		if len(rest) > 0 {
			panic("trees.txt: a line has more than one tree")
		}
		out = append(out, t)
	}
	return out
}()

func parseTree(text []string) (t tree, rest []string) {
	feature, value, branches := strings.Cut(text[0], "<")
	if !branches {
		value = feature
	}
	var err error
	if t.value, err = strconv.ParseFloat(value, 64); err != nil {
		panic("trees.txt: " + err.Error())
	}
	rest = text[1:]
	if branches {
		t.branches = new([2]tree)
		if t.feature, err = strconv.Atoi(feature); err != nil || t.feature >= numFeatures {
			panic("trees.txt: no feature " + feature)
		}
		t.branches[0], rest = parseTree(rest)
		t.branches[1], rest = parseTree(rest)
	}
	return t, rest
}

func (t *tree) of(f *features) float64 {
	for t.branches != nil {
		if f[t.feature] < t.value {
			t = &t.branches[0]
		} else {
			t = &t.branches[1]
		}
	}
	return t.value
}

// sure is the minimum log odds of a match. It keeps sentences with a wrong change below 1
// % of the tuning sets at each error level, each set judged by trees of the other sets
// (BenchmarkTrees).
const sure = 2.25

// likely returns the log odds that the speaker said the name.
func (x *features) likely() (odds float64) {
	for i := range trees {
		odds += trees[i].of(x)
	}
	return odds
}
