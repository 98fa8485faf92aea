package spoken

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// askedWithin is how many sentences at the end of an answer are searched for a question: "Should I
// also update the tests? Just say so."
const askedWithin = 2

// questionEnds end a question.
var questionEnds = []string{"?", "？", "?!", "？！", "ですか。", "ますか。", "でしょうか。", "ですか", "ますか", "でしょうか"}

// fenced matches a block of code, which asks nothing.
var fenced = regexp.MustCompile("(?s)```.*?(?:```|$)")

// Asks reports whether a text ends with a question, or with one sentence after it.
func Asks(text string) bool {
	sentences := sentencesOf(fenced.ReplaceAllString(text, "\n\n"))
	return slices.ContainsFunc(sentences[max(0, len(sentences)-askedWithin):], func(s string) bool {
		return slices.ContainsFunc(questionEnds, func(end string) bool { return strings.HasSuffix(s, end) })
	})
}

// sentencesOf returns the sentences of a text, without what follows their end marks. Without
// letters there is no sentence: "🙂".
func sentencesOf(text string) (out []string) {
	runes := []rune(strings.TrimSpace(text))
	begin := 0
	for i, r := range runes {
		paragraph := r == '\n' && i > begin && runes[i-1] == '\n'
		if i+1 < len(runes) && !paragraph && !endsSentence(runes[begin:i+1], runes[i+1:]) {
			continue
		}
		sentence := strings.TrimRightFunc(string(runes[begin:i+1]), func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(sentenceMarks, r)
		})
		if strings.ContainsFunc(sentence, unicode.IsLetter) {
			out, begin = append(out, sentence), i+1
		}
	}
	return out
}

// sentenceMarks end a sentence.
const sentenceMarks = ".!?…。！？"

// endsSentence reports whether a text that begins a sentence ends it before the next runes.
func endsSentence(sentence, next []rune) bool {
	switch last := sentence[len(sentence)-1]; {
	case strings.ContainsRune(sentenceMarks, next[0]):
		return false
	case strings.ContainsRune("。！？", last):
		return true
	case !strings.ContainsRune(".!?…", last) || unicode.IsLetter(next[0]) || unicode.IsDigit(next[0]) || strings.ContainsRune("/=&%,;", next[0]):
		return false
	case last != '.':
		return true
	}
	at := len(sentence) - 1
	for at > 0 && !unicode.IsSpace(sentence[at-1]) {
		at--
	}
	word := strings.ToLower(string(sentence[at : len(sentence)-1]))
	return strings.ContainsFunc(word, unicode.IsLetter) && !english.never[word] && !german.never[word]
}
