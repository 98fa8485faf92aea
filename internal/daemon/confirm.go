package daemon

import (
	"fmt"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// confirmWords are about a dialog of the editor that asks the user once more: what
// the question about a call adds beforehand, and what is said when the call waits
// there, or may.
type confirmWords struct{ before, waits, mayWait string }

var confirms = map[protocol.Locale]confirmWords{
	protocol.English: {
		" The editor will ask you once more, in a dialog.",
		"The editor asks you to confirm the tool %s in a dialog. Please click there.",
		"The tool %s takes a while. The editor may be asking you to confirm it in a dialog.",
	},
	protocol.German: {
		" Der Editor fragt danach noch einmal, in einem Dialog.",
		"Der Editor bittet Sie in einem Dialog, das Werkzeug %s zu bestätigen. Bitte klicken Sie dort.",
		"Das Werkzeug %s braucht etwas länger. Vielleicht bittet der Editor Sie in einem Dialog um Bestätigung.",
	},
	protocol.Japanese: {
		"この後、エディターのダイアログでもう一度確認があります。",
		"エディターがダイアログでツール %s の確認を求めています。ダイアログをクリックしてください。",
		"ツール %s に時間がかかっています。エディターのダイアログで確認が求められているかもしれません。",
	},
}

// asksAgain is what the question about a call says of the editor's own dialog.
func (d *Daemon) asksAgain(call copilot.ToolCall) string {
	if !d.content.confirms(call.Name) {
		return ""
	}
	return confirms[d.locale()].before
}

// Confirming tells the user, aloud and in writing, that a call waits in a dialog
// of the editor. It says nothing of a call that does not run.
func (d *Daemon) Confirming(callID string, certain bool) {
	id := d.content.callNamed(callID)
	call, known := d.content.call(id)
	if !known || runningCall(d.State()) != id {
		return
	}
	words := confirms[d.locale()].mayWait
	if certain {
		words = confirms[d.locale()].waits
	}
	text := fmt.Sprintf(words, clipSpoken(strings.Join(nameWords(call.Name), " ")))
	d.pubMu.Lock()
	d.pub.notify(protocol.NotifyNotification, protocol.NotificationParams{
		Message: text, Severity: protocol.SeverityWarning, Kind: protocol.NotificationMessage,
	})
	d.pubMu.Unlock()
	if voice, ok := d.world.(Sayer); ok {
		voice.Say(text)
	}
}
