package spoken_test

import (
	"testing"

	"github.com/agentvoice/agentvoice-daemon/copilot/spoken"
)

// A refusal to send is cut off, and nothing that only looks like one.
func TestCutRefusal(t *testing.T) {
	for text, rest := range map[string]string{
		"Don't send that.": "", "don't send it": "", "do not send it": "", "I don't want to send it.": "", "Do not send this yet": "", "please never send it": "",
		"No, don't send it.": "", "Don't, um, send it.": "", "don't submit that yet": "", "I would rather not send it": "", "I don't think we should send it now": "",
		"Explain the parser. Don't send it yet.": "Explain the parser.", "Explain the parser, but don't send it.": "Explain the parser", "No, wait, don't send it.": "", "Okay, do not send it": "",
		"explain the parser I don't want to send it": "explain the parser", "It works. No. Do not send the message.": "It works. No.",
		"bitte nicht jetzt abschicken": "", "Noch nicht abschicken!": "", "Ich will das nicht absenden.": "", "schick es noch nicht ab": "", "Schick das nicht ab.": "",
		"Erkläre den Parser. Noch nicht abschicken.": "Erkläre den Parser.", "auf keinen Fall abschicken": "",
		"送信しないで": "", "まだ送信しないでください。": "", "送らないで": "", "パーサーを説明して、まだ送信しないで。": "パーサーを説明して", "送信したくない": "",
	} {
		if got, refused := spoken.Default.CutRefusal(text, ""); !refused || got != rest {
			t.Errorf("%q: %q, %v", text, got, refused)
		}
	}
	for _, text := range []string{
		"", "send it", "Send it.", "It does not work, send it.", "The test does not pass send it", "Don't change the parser, send it.", "do not send it to the server",
		"Why is it not sent?", "I do not know. Send it.", "no, send it", "Don't wait, just send it", "Don't wait and send it.", "nicht schlecht, abschicken", "Es geht nicht. Abschicken.", "なぜ送信できないのか調べて", "送信",
	} {
		if got, refused := spoken.Default.CutRefusal(text, ""); refused || got != text {
			t.Errorf("%q is refused, and %q is left", text, got)
		}
	}
	for text, want := range map[string]bool{"don't over and out": true, "not over and out yet": true, "don't send it": false, "over and out": false} {
		if _, refused := spoken.Default.CutRefusal(text, "over and out"); refused != want {
			t.Errorf("%q with a phrase of the settings: %v", text, refused)
		}
	}
}
