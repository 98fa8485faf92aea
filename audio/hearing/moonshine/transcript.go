package moonshine

import (
	"math"
	"slices"
	"strings"
)

// Transcript is what was heard.
type Transcript struct {
	// Text has case and punctuation. It is empty if nothing was said.
	Text string
	// Words are the words of Text, which separates them by a space.
	Words []Word
	// Tokens is the number of tokens, with the one that ends the transcript.
	Tokens int
	// LogProb is the natural logarithm of the text's probability.
	LogProb float64
	// Mean is LogProb divided by Tokens: mostly above -0.6 for speech, and lower for other
	// sounds.
	Mean float64
	// Stop is the probability that the sentence is finished: that '.', '?' or '!' follows
	// the last word, and not the end, a comma or another word. It is 0 without words.
	Stop float64
	// Cut means that the transcript was ended because it repeated itself or became longer
	// than speech of that length can be.
	Cut bool
}

// Word is a word with its punctuation.
type Word struct {
	Text string
	// Prob is the probability of the word after those before it: the product of the
	// probabilities of its tokens, without punctuation.
	Prob float64
}

func (v *vocabulary) transcript(h hypothesis) Transcript {
	t := Transcript{Tokens: len(h.logs), Cut: !h.complete}
	for _, l := range h.logs {
		t.LogProb += l
	}
	t.Mean = t.LogProb / float64(max(t.Tokens, 1))
	var word strings.Builder
	var letters, others float64 // log probabilities of the word's tokens
	var spelled bool
	flush := func() {
		if text := strings.ToValidUTF8(word.String(), ""); text != "" {
			if !spelled {
				letters = others
			}
			t.Words = append(t.Words, Word{text, min(math.Exp(letters), 1)})
		}
		word.Reset()
		letters, others, spelled = 0, 0, false
	}
	for i, token := range h.tokens {
		text := v.text(token)
		if strings.HasPrefix(text, " ") {
			flush()
		}
		word.WriteString(strings.TrimSpace(text))
		if !v.spells(token) {
			others += h.logs[i]
			continue
		}
		letters, spelled = letters+h.logs[i], true
		t.Stop = 0
		if i+1 < len(h.stops) {
			t.Stop = min(h.stops[i+1], 1)
		}
	}
	flush()
	t.Text = textOf(t.Words)
	return t
}

func textOf(words []Word) string {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = w.Text
	}
	return strings.Join(texts, " ")
}

// join returns the transcript of two consecutive pieces of an utterance.
func (t Transcript) join(next Transcript) Transcript {
	if next.Text == "" {
		next.Stop = t.Stop
	}
	next.Words = slices.Concat(t.Words, next.Words)
	next.Text = textOf(next.Words)
	next.Tokens += t.Tokens
	next.LogProb += t.LogProb
	next.Mean = next.LogProb / float64(max(next.Tokens, 1))
	next.Cut = next.Cut || t.Cut
	return next
}
