package daemon

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/copilot/spoken"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// reasonWords are the phrases about the reason of a call, and about asking every time.
type reasonWords struct{ itSays, noReason, asks string }

var reasonTexts = map[protocol.Locale]reasonWords{
	protocol.English:  {"It says: %s", "It gave no reason.", "From now on I ask each time before %s is used."},
	protocol.German:   {"Er sagt: %s", "Er hat keinen Grund genannt.", "Von jetzt an frage ich jedes Mal, bevor %s benutzt wird."},
	protocol.Japanese: {"理由は次のとおりです。%s", "理由は示されていません。", "これからは %s を使う前に毎回確認します。"},
}

// maxReason limits a reason or question of the assistant that is read aloud, in
// characters.
const maxReason = 300

// reasonOf returns the assistant's reason for a call: the one given in the call, or
// else the words just before it.
func (d *Daemon) reasonOf(id uint64) string {
	words := reasonTexts[d.locale()]
	call, _ := d.content.call(id)
	why := call.Reason
	if why == "" {
		var input map[string]any
		if json.Unmarshal(call.Input, &input) == nil {
			why = copilot.ReasonIn(input)
		}
	}
	if why != "" {
		why = d.readAloud(clipText(why, maxReason))
	} else {
		why = d.content.saidBefore(call.request)
	}
	if why == "" {
		return words.noReason
	}
	return fmt.Sprintf(words.itSays, why)
}

// clipText shortens a text, in characters.
func clipText(text string, most int) string {
	if all := []rune(text); len(all) > most {
		return string(all[:most])
	}
	return text
}

// readAloud returns the spoken form of a text.
func (d *Daemon) readAloud(text string) string {
	c := spoken.New(d.spokenAs())
	var read []string
	for _, seg := range append(c.Push(text), c.Flush()...) {
		if seg.Text != "" {
			read = append(read, seg.Text)
		}
	}
	return strings.Join(read, " ")
}

// saidBefore returns the last piece of prose of an answer so far.
func (c *content) saidBefore(request uint64) (text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.piecesOf(request) {
		if p.class != spoken.ClassCode {
			text = p.text
		}
	}
	return text
}

// askedAbout returns the tool of the open question, or else the one whose call was last
// allowed without a question.
func (d *Daemon) askedAbout() string {
	if w, asked := d.loop.State().Copilot.(copilot.WaitingForApproval); asked {
		call, _ := d.content.call(w.Calls[0].ID)
		return call.Name
	}
	return d.content.lastPassed()
}

func (d *Daemon) alwaysAsk(tool string) {
	d.content.alwaysAsk(tool)
	d.say(fmt.Sprintf(reasonTexts[d.locale()].asks, clipSpoken(strings.Join(nameWords(tool), " "))))
}
