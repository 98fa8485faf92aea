package daemon

import (
	"fmt"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// confirmWords are about an editor dialog that asks the user to confirm a call once
// more: the addition to the question about the call, and the announcements that the
// call waits in the dialog, or may.
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

// asksAgain returns the sentence about the editor's own dialog that is added to the
// question about a call.
func (d *Daemon) asksAgain(call copilot.ToolCall) string {
	if !d.content.confirms(call.Name) {
		return ""
	}
	return confirms[d.locale()].before
}

// Confirming tells the user, aloud and in writing, that a call waits in an editor
// dialog. It is a no-op for a call that is not running.
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
	d.sayAloud(text)
}
