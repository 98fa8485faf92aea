package daemon

import (
	"slices"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/copilot/spoken"
	"github.com/agentvoice/agentvoice-daemon/internal/wer"
)

const (
	// leftLetters is how many letters of the wake phrase, at its end, are recognised.
	leftLetters = 4
	// misheardLetters is one of how many letters may be written differently.
	misheardLetters = 4
	// differentLetters is the same for the whole phrase, where nothing else says that it was spoken.
	differentLetters = 10
)

// cutWakePhrase removes the wake phrase from the start of an utterance: it calls for attention,
// and is not meant for the assistant. called: see Transcript.
func (d *Daemon) cutWakePhrase(text string, called bool) (rest string, said bool) {
	wake := d.settings().Wake
	if called {
		if rest, said = cutRestOfPhrase(text, wake.Phrase); said {
			return rest, true
		}
	}
	if !wake.Enabled {
		return text, false
	}
	return cutAnyPhrase(text, wake.Phrase)
}

// cutAnyPhrase removes a phrase from the start of a text, however a recogniser writes it: "OK,
// co-pilot". Another form of its last word is another word: "computers".
func cutAnyPhrase(text, phrase string) (rest string, said bool) {
	words, whole := tokens(text), writtenOnce(tokens(phrase))
	end, least := 0, len(whole)/differentLetters+1
	for to := 1; to <= len(words); to++ {
		have := writtenOnce(words[:to])
		if len(have) > len(whole)+least {
			break
		}
		inflected := len(have) != len(whole) && slices.Equal(have[:min(len(have), len(whole))], whole[:min(len(have), len(whole))])
		if by := wer.Distance(have, whole); by < least && !inflected {
			end, least = to, by
		}
	}
	return cutWords(text, words, end)
}

// writtenOnce returns the letters of words, with one spelling of each.
func writtenOnce(words []token) []rune { return []rune(spoken.OneSpelling(letters(words))) }

// cutWords returns a text without its first words.
func cutWords(text string, words []token, count int) (rest string, cut bool) {
	switch count {
	case 0:
		return text, false
	case len(words):
		return "", true
	}
	return text[words[count].at:], true
}

// cutRestOfPhrase removes the end of a phrase, or all of it, from the start of a text: the spotter
// reports its end to about 50 ms, sometimes a syllable too early.
func cutRestOfPhrase(text, phrase string) (rest string, said bool) {
	words, whole := tokens(text), []rune(letters(tokens(phrase)))
	end := 0
	for to := 1; to <= len(words); to++ {
		have := []rune(letters(words[:to]))
		if len(have) >= 2*len(whole) {
			break
		}
		for from := range max(0, len(whole)-leftLetters+1) {
			if len(have) >= leftLetters && wer.Distance(have, whole[from:]) <= len(have)/misheardLetters {
				end = to
			}
		}
	}
	return cutWords(text, words, end)
}

// rest returns the transcript of what remains of its text, at the end.
func (t Transcript) rest(text string) Transcript {
	cut := len(strings.Fields(t.Text)) - len(strings.Fields(text))
	if cut > 0 && cut <= len(t.Probs) && strings.HasSuffix(t.Text, text) {
		t.Text, t.Probs = text, t.Probs[cut:]
	}
	return t
}

// letters joins words without the spaces, which recognisers set differently.
func letters(words []token) string {
	var b strings.Builder
	for _, w := range words {
		b.WriteString(w.text)
	}
	return b.String()
}
