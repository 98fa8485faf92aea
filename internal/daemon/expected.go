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
	// Distant: the voice is so quiet that it is not the user's, near the microphone.
	Distant bool
	// Called: the utterance follows the wake phrase that began the conversation in one breath, so it
	// may begin with the end of it.
	Called bool
	// Answer is set if the sound was short and compared with Port.Expected.
	Answer *Answer
	// Beside: another recogniser wrote Text than the one that compared the sound.
	Beside bool
	// Joined is set if the sound was also recognised as one with those before.
	Joined *Joined
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
	// leastLeadOfYes is what a yes needs, which may allow what cannot be undone.
	leastLeadOfYes = 6
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

// unvouched reports whether no voice of the user is behind the words.
func (t Transcript) unvouched() bool { return t.Unvoiced || t.Distant }

// doubts reports whether words of a class, which may allow something, need to be asked again.
// The answer of a sound needs no probable words.
func (t Transcript) doubts(class csm.Class, unsure bool) bool {
	switch class {
	case csm.Yes, csm.Agree, csm.Assent, csm.Continue:
		return unsure || t.Answer == nil && t.doubtful()
	default:
		return false
	}
}

// Means returns the class of the words outside of a question, without user-defined commands,
// and whether they are doubted: a yes is asked again, and a message may be a cough.
func (t Transcript) Means() (class csm.Class, doubted bool) {
	text, unsure := t.words()
	class = ClassOf(text)
	return class, t.doubts(class, unsure) || class == csm.Content && t.doubtful()
}

// settles reports whether a yes is sure enough for what lasts.
func (t Transcript) settles() bool {
	_, unsure := t.words()
	return !unsure && (t.Answer != nil || t.reported() && !t.doubtful())
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
// to be asked again: the sound was compared and is no yes for certain, or no voice of the user was
// heard.
func (t Transcript) words() (text string, unsure bool) {
	switch {
	case t.Answer == nil:
		return t.Text, t.unvouched()
	case t.Answer.certain() && !t.saysMore():
		return t.Answer.Phrase, t.unvouched() || !t.agree()
	}
	return t.Text, true
}

// saysMore reports whether more was written than the phrase that the sound is: "Yes, and push it."
// begins like a yes. What stops, pauses or refuses needs no proof.
func (t Transcript) saysMore() bool {
	switch ClassOf(t.Answer.Phrase) {
	case csm.Stop, csm.Pause, csm.No:
		return false
	default:
		return len(strings.Fields(t.Text)) > len(strings.Fields(t.Answer.Phrase))+1
	}
}

// agree reports whether the sound is certain enough for a yes. Beside a recogniser that says how
// sure it is, both must be sure, and the sound alone needs less.
func (t Transcript) agree() bool {
	if t.Beside && t.reported() {
		return !t.doubtful()
	}
	return t.Answer.Lead >= leastLeadOfYes
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
