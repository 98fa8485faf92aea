package daemon

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/copilot/spoken"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// reasonWords are what is said about why a call is made, and about asking each time.
type reasonWords struct{ itSays, noReason, asks string }

var reasonTexts = map[protocol.Locale]reasonWords{
	protocol.English:  {"It says: %s", "It gave no reason.", "From now on I ask each time before %s is used."},
	protocol.German:   {"Er sagt: %s", "Er hat keinen Grund genannt.", "Von jetzt an frage ich jedes Mal, bevor %s benutzt wird."},
	protocol.Japanese: {"理由は次のとおりです。%s", "理由は示されていません。", "これからは %s を使う前に毎回確認します。"},
}

// maxReason bounds a reason or question of the assistant that is read aloud, in characters.
const maxReason = 300

// reasonOf is why the assistant makes a call: as the call says, or else what it said just
// before.
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

// clipText bounds a text, in characters.
func clipText(text string, most int) string {
	if all := []rune(text); len(all) > most {
		return string(all[:most])
	}
	return text
}

// readAloud is a text as it is spoken.
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

// saidBefore is the last piece of prose of an answer so far.
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

// askedAbout is the tool that the user is asked about, or else whose call passed without a
// question last.
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
