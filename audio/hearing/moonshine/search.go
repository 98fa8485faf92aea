package moonshine

import (
	"cmp"
	"math"
	"slices"
)

// stepper computes what may follow a batch of hypotheses.
type stepper interface {
	// step replaces the batch: its row i is the row parents[i] of the batch before,
	// extended by tokens[i]. It returns the logits of the next token of each row, which
	// are valid until the next step.
	step(parents []int, tokens []int32) ([][]float32, error)
}

// Limits of the search.
const (
	candidates    = 12  // the most probable next tokens that may extend a hypothesis
	leastEvidence = -7  // log probability below which a token does not begin or continue a name
	tokensASecond = 6.5 // the model card's limit for English
	tokensAtLeast = 12
	negligible    = 24 // how far below the greatest a logit adds less than 1e-6 to the sum
	fewestRepeats = 4  // of a phrase that are a loop
	shortestLoop  = 16 // tokens, so that "no, no, no, no" is not one
	longestRepeat = 20 // tokens
)

// maxTokens is how many tokens an utterance of this length can have.
func maxTokens(seconds float64) int { return int(tokensASecond*seconds) + tokensAtLeast }

// distribution is the probability of the next token.
type distribution struct {
	logits []float32
	sum    float64 // the logarithm of the sum of their exponentials
}

func normalize(logits []float32) distribution {
	greatest := logits[0] // slices.Max is slower by half, because of NaN
	for _, l := range logits {
		if l > greatest {
			greatest = l
		}
	}
	sum := 0.0
	for _, l := range logits {
		if d := l - greatest; d > -negligible {
			sum += math.Exp(float64(d))
		}
	}
	return distribution{logits, float64(greatest) + math.Log(sum)}
}

// log is the natural logarithm of a token's probability.
func (d distribution) log(token int32) float64 { return float64(d.logits[token]) - d.sum }

// best returns the n most probable tokens, the most probable first.
func (d distribution) best(n int) []int32 {
	top := make([]int32, 0, n+1)
	for id, l := range d.logits {
		if len(top) == n && l <= d.logits[top[n-1]] {
			continue
		}
		at := len(top)
		for at > 0 && d.logits[top[at-1]] < l {
			at--
		}
		top = slices.Insert(top, at, int32(id))
		top = top[:min(len(top), n)]
	}
	return top
}

// hypothesis is a beginning of a transcript.
type hypothesis struct {
	tokens []int32   // without the end
	logs   []float64 // log probabilities of tokens and, if complete, of the end
	stops  []float64 // for each of logs, the probability that a sentence ended there instead
	sum    float64   // of logs
	bonus  float64   // for names
	place  place
	// complete means that the model ended it, and not a limit or a loop.
	complete bool
	looped   bool
}

func (h *hypothesis) score() float64 { return h.sum + h.bonus }

// extension is a token that may follow a hypothesis.
type extension struct {
	row   int
	token int32
	log   float64
	bonus float64
	place place
	score float64
}

// search returns the transcript with the highest probability plus bonus that a beam search
// of this width finds. Logits are those of the first token.
func search(v *vocabulary, d stepper, logits []float32, names *Names, width, limit int) (hypothesis, error) {
	beam, rows := []hypothesis{{}}, [][]float32{logits}
	var done []hypothesis
	for {
		var all []extension
		distributions := make([]distribution, len(beam))
		for i := range beam {
			distributions[i] = normalize(rows[i])
			all = extend(all, i, &beam[i], distributions[i], names)
		}
		slices.SortStableFunc(all, func(a, b extension) int {
			return cmp.Or(cmp.Compare(b.score, a.score), a.row-b.row, int(a.token-b.token))
		})
		var next []hypothesis
		var parents []int
		var tokens []int32
		for _, e := range all[:min(width, len(all))] {
			h := beam[e.row].extended(e, v.stopProbability(distributions[e.row]))
			if h.complete || h.looped {
				done = append(done, h)
				continue
			}
			next, parents, tokens = append(next, h), append(parents, e.row), append(tokens, e.token)
		}
		beam = next
		best, found := bestOf(done)
		if len(beam) == 0 || found && best.score() >= beam[0].score() {
			return best, nil
		}
		if len(beam[0].tokens) >= limit {
			return beam[0], nil // more probable than what is done, but cut off
		}
		var err error
		if rows, err = d.step(parents, tokens); err != nil {
			return hypothesis{}, err
		}
	}
}

// extend appends the tokens that may follow a hypothesis.
func extend(all []extension, row int, h *hypothesis, d distribution, names *Names) []extension {
	top := d.best(candidates)
	names.expected(h.place, func(t int32) {
		if d.log(t) > leastEvidence && !slices.Contains(top, t) {
			top = append(top, t)
		}
	})
	for _, t := range top {
		e := extension{row: row, token: t, log: d.log(t)}
		e.place, e.bonus = names.advance(h.place, t)
		e.score = h.score() + e.log + e.bonus
		all = append(all, e)
	}
	return all
}

func (h *hypothesis) extended(e extension, stop float64) hypothesis {
	out := *h
	out.logs = append(slices.Clip(h.logs), e.log)
	out.stops = append(slices.Clip(h.stops), stop)
	out.sum, out.bonus, out.place = h.sum+e.log, h.bonus+e.bonus, e.place
	if e.token == tokenEnd {
		out.complete = true
		return out
	}
	out.tokens = append(slices.Clip(h.tokens), e.token)
	if keep := beforeLoop(out.tokens); keep < len(out.tokens) {
		out.looped = true
		out.tokens, out.logs, out.stops = out.tokens[:keep], out.logs[:keep], out.stops[:keep]
	}
	return out
}

func bestOf(done []hypothesis) (best hypothesis, found bool) {
	for _, h := range done {
		if !found || h.score() > best.score() {
			best, found = h, true
		}
	}
	return best, found
}

// beforeLoop returns how many tokens to keep of a transcript that repeats itself at its
// end: those with the phrase once. It is all of them without a loop.
func beforeLoop(tokens []int32) int {
	for period := 1; period <= longestRepeat; period++ {
		times := max(fewestRepeats, (shortestLoop+period-1)/period)
		from := len(tokens) - period*times
		if from < 0 {
			break
		}
		if slices.Equal(tokens[from:len(tokens)-period], tokens[from+period:]) {
			return from + period
		}
	}
	return len(tokens)
}

// stopProbability is the probability that the next token ends a sentence.
func (v *vocabulary) stopProbability(d distribution) float64 {
	sum := 0.0
	for _, t := range v.stops {
		sum += math.Exp(d.log(t))
	}
	return sum
}
