package wake

import (
	"slices"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// BeforePhrase is the audio before a detection that its recogniser gets, in samples at
// audio.SampleRate. With more, it hears what was said before the phrase.
const BeforePhrase = int64(audio.SampleRate * 100 / 1000)

// Question returns what a recogniser of whole sentences is asked about a detection that is not
// sure, in groups of one meaning: the phrase, as such a recogniser writes it, and its first and
// last word alone, which sentences that are not the phrase have too. The answer is for Confirms.
func Question(phrase string) [][]string {
	words := strings.Fields(strings.ToLower(phrase))
	title := slices.Clone(words)
	for i, w := range title {
		title[i] = strings.ToUpper(w[:1]) + w[1:]
	}
	sentence := append([]string{title[0]}, words[1:]...)
	var forms []string
	for _, words := range [][]string{sentence, title} {
		for _, after := range []string{" ", ", "} {
			for _, end := range []string{".", "!", "?", ",", ""} {
				if form := words[0] + after + strings.Join(words[1:], " ") + end; !slices.Contains(forms, form) {
					forms = append(forms, form)
				}
			}
		}
	}
	return [][]string{forms, {title[0] + ".", title[len(title)-1] + "."}}
}

// mostBehind is how much likelier any other text may be (docs/design/measurements.md, Wake phrase).
const mostBehind = 5

// Confirms reports whether a detection was the phrase: the answer to Question is one of its forms,
// and no other text is much likelier: behind is the natural logarithm of the ratio.
func Confirms(question [][]string, answer string, behind float64) bool {
	return slices.Contains(question[0], answer) && behind <= mostBehind
}
