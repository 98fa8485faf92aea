package realtime

import (
	"math"
	"slices"
	"strings"
	"unicode"
)

// TokenProb is a token of a transcript with its probability.
type TokenProb struct {
	Token   string  `json:"token"`
	Logprob float64 `json:"logprob"` // natural
}

// WordProbs returns the probability of each word of a text, as separated by spaces: the product
// of the probabilities of its tokens, without punctuation. Where the tokens are not parts of the
// words, and in scripts without spaces, each word gets the mean. Without tokens it returns nil.
func WordProbs(text string, tokens []TokenProb) []float64 {
	words := strings.Fields(text)
	if len(tokens) == 0 || len(words) == 0 {
		return nil
	}
	var probs []float64
	var spelled strings.Builder // the current word
	var sum float64             // of the probabilities of all tokens
	log, matches := 0.0, true
	flush := func() {
		if spelled.Len() > 0 {
			matches = matches && len(probs) < len(words) && words[len(probs)] == spelled.String()
			probs = append(probs, math.Exp(min(log, 0)))
		}
		spelled.Reset()
		log = 0
	}
	for _, t := range tokens {
		sum += math.Exp(min(t.Logprob, 0))
		if strings.HasPrefix(t.Token, " ") {
			flush()
		}
		spelled.WriteString(strings.TrimSpace(t.Token))
		if strings.IndexFunc(t.Token, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) >= 0 {
			log += t.Logprob
		}
	}
	flush()
	if matches && len(probs) == len(words) && strings.IndexFunc(text, unspaced) < 0 {
		return probs
	}
	return slices.Repeat([]float64{sum / float64(len(tokens))}, len(words))
}

func unspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
}
