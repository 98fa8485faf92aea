package daemon

import (
	"slices"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/copilot/spoken"
	"github.com/agentvoice/agentvoice-daemon/csm"
)

// Transcript is what a recogniser heard of an utterance.
type Transcript struct {
	Text string
	// Probs is the probability of each word of Text, as separated by spaces; nil if the
	// recogniser reports none.
	Probs []float64
	// Unvoiced: no detector of this machine heard the voice. Pressed: the user held the key.
	Unvoiced, Pressed bool
	// Answer is set if the sound was short and compared with Port.Expected.
	Answer *Answer
}

// Answer says how well a short sound fits the expected answers. Its numbers are natural
// logarithms of ratios of probabilities.
type Answer struct {
	Phrase string  // the most likely one of the most likely group
	Lead   float64 // of that group before the next one
	Behind float64 // of the phrase behind the text that is likely without them
}

// What makes an answer certain (docs/design/answers.md has the curves).
const (
	leastLead  = 4
	mostBehind = 5
)

// certain reports whether the sound is the phrase, or one of its group.
func (a *Answer) certain() bool { return a.Lead >= leastLead && a.Behind <= mostBehind }

// doubted is the probability below which words other than commands are doubted. PocketSphinx
// transcribed 25 of 30 coughs, 14 of them with a mean below this; of 72 utterances of people
// with less, it had understood 4. The threshold was chosen and measured on the same sounds.
const doubted = 0.3

// reported reports whether the recogniser says how sure it is. None reported is never certain.
func (t Transcript) reported() bool { return len(t.Probs) > 0 }

// doubtful reports whether the words are so improbable that a cough is more likely. Nobody
// coughs into a key.
func (t Transcript) doubtful() bool {
	sum := 0.0
	for _, p := range t.Probs {
		sum += p
	}
	return !t.Pressed && t.reported() && sum/float64(len(t.Probs)) < doubted
}

// Doubted reports whether the words may be a cough. Commands are not doubted, because few
// coughs are mistaken for one.
func (t Transcript) Doubted() bool {
	return t.doubtful() && spoken.Classify(t.Text).Class == spoken.UtteranceContent
}

// settles reports whether a yes is sure enough for what lasts.
func (t Transcript) settles() bool {
	return !t.Unvoiced && (t.Answer != nil && t.Answer.certain() || t.Answer == nil && t.reported() && !t.doubtful())
}

// Certain returns the transcript of words that are known, such as typed ones.
func Certain(text string) Transcript {
	return Transcript{Text: text, Probs: slices.Repeat([]float64{1}, len(strings.Fields(text)))}
}

// surely reports whether a word of the text, in lower case, is probable.
func (t Transcript) surely(word string) bool {
	for i, field := range strings.Fields(t.Text) {
		in := slices.ContainsFunc(tokens(field), func(w token) bool { return w.text == word })
		if in && i < len(t.Probs) && t.Probs[i] < doubted {
			return false
		}
	}
	return t.reported()
}

// words returns the words of a transcript. A short sound is an expected answer if it is one
// for certain, whatever was written: "Stompin." is "Stop.". unsure is true if a yes in it needs
// to be asked again: the sound was compared and is no answer for certain, or no voice was heard.
func (t Transcript) words() (text string, unsure bool) {
	switch {
	case t.Answer == nil:
		return t.Text, t.Unvoiced
	case t.Answer.certain():
		return t.Answer.Phrase, t.Unvoiced
	}
	return t.Text, true
}

// expected returns the answers while a question, an answer or a draft is open.
func (d *Daemon) expected() [][]string {
	now := d.loop.State()
	_, asked := now.Copilot.(copilot.WaitingForApproval)
	switch now.Conv.(type) {
	case csm.Speaking, csm.Interrupted:
		return spoken.Answers
	}
	if asked || len(now.Drafts) > 0 {
		return spoken.Answers
	}
	return nil
}
