package moonshine

import "slices"

// forced is a node of a trie over the tokens of phrases.
type forced struct {
	token int32
	log   float64 // of the phrase up to here
	next  []*forced
	ends  []int // phrases that end here
}

// score returns the natural logarithms of the probabilities that the transcript is each of
// the phrases. Phrases share the computation of their common beginnings.
func score(v *vocabulary, d stepper, logits []float32, phrases []string) ([]float64, error) {
	root := &forced{}
	for i, p := range phrases {
		at := root
		for _, t := range v.encode(p) {
			j := slices.IndexFunc(at.next, func(n *forced) bool { return n.token == t })
			if j < 0 {
				j = len(at.next)
				at.next = append(at.next, &forced{token: t})
			}
			at = at.next[j]
		}
		at.ends = append(at.ends, i)
	}
	scores := make([]float64, len(phrases))
	level, rows := []*forced{root}, [][]float32{logits}
	for {
		var next []*forced
		var parents []int
		var tokens []int32
		for i, n := range level {
			distribution := normalize(rows[i])
			for _, p := range n.ends {
				scores[p] = n.log + distribution.log(tokenEnd)
			}
			for _, c := range n.next {
				c.log = n.log + distribution.log(c.token)
				next, parents, tokens = append(next, c), append(parents, i), append(tokens, c.token)
			}
		}
		if len(next) == 0 {
			return scores, nil
		}
		var err error
		if rows, err = d.step(parents, tokens); err != nil {
			return nil, err
		}
		level = next
	}
}
