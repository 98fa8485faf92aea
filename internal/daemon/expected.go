package daemon

import (
	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/copilot/spoken"
	"github.com/agentvoice/agentvoice-daemon/csm"
)

// Transcript is what a recogniser heard of an utterance.
type Transcript struct {
	Text string
	// Confidence is 0 to 1; 1 if the recogniser reports none.
	Confidence float64
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

// words returns the words of a transcript. A short sound is an expected answer if it is one
// for certain, whatever was written: "Stompin." is "Stop.". unsure is true for a sound that was
// compared and is none of them for certain.
func (t Transcript) words() (text string, unsure bool) {
	switch {
	case t.Answer == nil:
		return t.Text, false
	case t.Answer.certain():
		return t.Answer.Phrase, false
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
