package vocab

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// example is a run of words with the name it is closest to, and whether that is right.
type example struct {
	features features
	right    float64
}

// examples are the best run for each name that was said, and for each place of a
// sentence the best one that is wrong, unless a better right one overlaps it.
func examples(v *Vocabulary, list []recording) (out []example) {
	for _, r := range list {
		said := map[string]bool{}
		for _, n := range r.names() {
			said[key(n)] = true
		}
		best := map[string]match{}
		for _, m := range v.matches(heard(r.heard), math.Inf(-1)) {
			id := fmt.Sprint(m.from)
			if name := key(v.terms[m.term].Text); said[name] {
				id = name
			}
			if o, known := best[id]; !known || m.score > o.score {
				best[id] = m
			}
		}
		var right []match
		for _, m := range best {
			if said[key(v.terms[m.term].Text)] {
				right = append(right, m)
				out = append(out, example{m.features, 1})
			}
		}
		for _, m := range best {
			covered := slices.ContainsFunc(right, func(o match) bool { return o.from < m.to && m.from < o.to && o.score >= m.score })
			if !covered {
				out = append(out, example{m.features, 0})
			}
		}
	}
	return out
}

// fit is a logistic regression by gradient descent, on features of one scale.
func fit(list []example) (w features) {
	var mean, deviation features
	for j := 1; j < numFeatures; j++ {
		for _, e := range list {
			mean[j] += e.features[j] / float64(len(list))
		}
		for _, e := range list {
			deviation[j] += (e.features[j] - mean[j]) * (e.features[j] - mean[j]) / float64(len(list))
		}
		deviation[j] = math.Sqrt(deviation[j]) + 1e-9
	}
	for range 400 {
		var slope features
		for _, e := range list {
			s := w[0]
			for j := 1; j < numFeatures; j++ {
				s += w[j] * (e.features[j] - mean[j]) / deviation[j]
			}
			off := 1/(1+math.Exp(-s)) - e.right
			slope[0] += off
			for j := 1; j < numFeatures; j++ {
				slope[j] += off * (e.features[j] - mean[j]) / deviation[j]
			}
		}
		for j := range w {
			w[j] -= 2 * (slope[j]/float64(len(list)) + 0.0005*w[j])
		}
	}
	for j := 1; j < numFeatures; j++ {
		w[j] /= deviation[j]
		w[0] -= w[j] * mean[j]
	}
	return w
}

// BenchmarkWeights fits the weights to the sets they were chosen by, from the weights
// as they are, and prints them.
func BenchmarkWeights(b *testing.B) {
	var list []example
	for _, set := range []string{"tune", "tune2"} {
		v, recordings := load(b, set)
		list = append(list, examples(v, recogniser(recordings, 0.4))...)
	}
	for b.Loop() {
		b.Logf("%d examples: %.3f", len(list), fit(list))
	}
}
