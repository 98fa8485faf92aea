package vocab

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// example is a match with its label: 1 if its name was said.
type example struct {
	features features
	said     float64
}

// judged is a recording and its matches.
type judged struct {
	recording
	v       *Vocabulary
	words   []word
	matches []match
}

// levels are shares of PocketSphinx's errors.
var levels = []float64{0.25, 0.5, 1}

func judge(tb testing.TB, set string, share float64) (out []judged) {
	v, list := load(tb, set)
	for _, r := range recogniser(list, share) {
		words := heard(r.heard)
		v.mark(words, r.heard, nil)
		out = append(out, judged{r, v, words, v.matches(words)})
	}
	return out
}

func examples(list []judged) (out []example) {
	for _, j := range list {
		said := map[string]bool{}
		for _, n := range j.names() {
			said[key(n)] = true
		}
		for _, m := range j.matches {
			e := example{features: m.features}
			if said[j.v.keys[m.term]] {
				e.said = 1
			}
			out = append(out, e)
		}
	}
	return out
}

// Hyperparameters of the trees.
const (
	numTrees  = 80
	depth     = 3
	rate      = 0.15
	bins      = 32 // distinguished values of a feature
	shrink    = 5.0
	leastGain = 0.5
	leastLeaf = 3.0 // sum of the second derivatives
)

// boosting fits each tree to the residual of the previous ones: gradient boosting of the
// logistic loss, with second derivatives.
type boosting struct {
	list []example
	bin  [][numFeatures]uint8 // of the examples
	cuts [numFeatures][]float64
	g, h []float64 // derivatives of the loss
}

func fit(list []example) (out []tree) {
	b := boosting{list: list, bin: make([][numFeatures]uint8, len(list)), g: make([]float64, len(list)), h: make([]float64, len(list))}
	said := 0.0
	for _, e := range list {
		said += e.said
	}
	for f := range numFeatures {
		b.divide(f)
	}
	out = append(out, tree{value: math.Log(said / (float64(len(list)) - said))})
	odds := make([]float64, len(list))
	all := make([]int, len(list))
	for i := range all {
		all[i] = i
	}
	for range numTrees {
		for i, e := range list {
			odds[i] += out[len(out)-1].of(&list[i].features)
			p := 1 / (1 + math.Exp(-odds[i]))
			b.g[i], b.h[i] = p-e.said, p*(1-p)
		}
		out = append(out, b.grow(all, depth))
	}
	return out
}

// divide sorts the values of a feature into bins of about equal size.
func (b *boosting) divide(f int) {
	var values []float64
	for _, e := range b.list {
		values = append(values, e.features[f])
	}
	slices.Sort(values)
	for n := 1; n < bins; n++ {
		if cut := values[len(values)*n/bins]; len(b.cuts[f]) == 0 || cut > b.cuts[f][len(b.cuts[f])-1] {
			b.cuts[f] = append(b.cuts[f], cut)
		}
	}
	for i, e := range b.list {
		n, same := slices.BinarySearch(b.cuts[f], e.features[f])
		if same {
			n++
		}
		b.bin[i][f] = uint8(n)
	}
}

// grow fits a tree to a subset of the examples.
func (b *boosting) grow(some []int, depth int) tree {
	g, h := 0.0, 0.0
	for _, i := range some {
		g, h = g+b.g[i], h+b.h[i]
	}
	leaf := tree{value: -rate * g / (h + shrink)}
	if depth == 0 {
		return leaf
	}
	best, feature, cut := leastGain, -1, 0
	for f := range numFeatures {
		var gs, hs [bins]float64
		for _, i := range some {
			gs[b.bin[i][f]] += b.g[i]
			hs[b.bin[i][f]] += b.h[i]
		}
		lg, lh := 0.0, 0.0
		for n := range b.cuts[f] {
			lg, lh = lg+gs[n], lh+hs[n]
			rg, rh := g-lg, h-lh
			if gain := lg*lg/(lh+shrink) + rg*rg/(rh+shrink) - g*g/(h+shrink); lh > leastLeaf && rh > leastLeaf && gain > best {
				best, feature, cut = gain, f, n
			}
		}
	}
	if feature < 0 {
		return leaf
	}
	var sides [2][]int
	for _, i := range some {
		side := 0
		if int(b.bin[i][feature]) > cut {
			side = 1
		}
		sides[side] = append(sides[side], i)
	}
	return tree{feature, b.cuts[feature][cut], &[2]tree{b.grow(sides[0], depth-1), b.grow(sides[1], depth-1)}}
}

func (t tree) String() string {
	if t.branches == nil {
		return fmt.Sprintf("%.3f", t.value)
	}
	return fmt.Sprintf("%d<%.4g %v %v", t.feature, t.value, t.branches[0], t.branches[1])
}

// corrections measures trees with a given threshold.
func corrections(list []judged, by []tree, sure float64) figures {
	at := 0
	var recordings []recording
	for _, j := range list {
		recordings = append(recordings, j.recording)
	}
	return measure(func(text string) (string, []Change) {
		j := list[at]
		at++
		var likely []match
		for _, m := range j.matches {
			odds := 0.0
			for i := range by {
				odds += by[i].of(&m.features)
			}
			if odds > sure {
				likely = append(likely, m)
			}
		}
		return j.v.rewrite(text, j.words, nil, likely)
	}, recordings)
}

// BenchmarkTrees cross-validates: it prints how trees of the other tuning sets perform on
// each tuning set, by threshold, and then trees.txt, fitted to all tuning sets.
func BenchmarkTrees(b *testing.B) {
	sets := map[string][][]judged{}
	for _, set := range tuning {
		for _, share := range levels {
			sets[set] = append(sets[set], judge(b, set, share))
		}
	}
	without := func(set string) []tree {
		var list []example
		for _, s := range tuning {
			if s != set {
				for _, l := range sets[s] {
					list = append(list, examples(l)...)
				}
			}
		}
		return fit(list)
	}
	for b.Loop() {
		others := map[string][]tree{}
		for _, set := range tuning {
			others[set] = without(set)
		}
		for i, share := range levels {
			for _, sure := range []float64{2, 2.25, 2.5, 2.75, 3} {
				var sum figures
				for _, set := range tuning {
					sum.add(corrections(sets[set][i], others[set], sure))
				}
				fmt.Printf("errors %.2f, sure %.1f: removed %.1f %%; %v\n", share, sure, 100*float64(sum.missedBefore-sum.missedAfter)/float64(sum.missedBefore), sum)
			}
		}
		fmt.Println("trees.txt:")
		for _, t := range without("") {
			fmt.Println(t)
		}
	}
}
