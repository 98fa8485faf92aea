package daemon

import (
	"encoding/json"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/turn"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// askedToDelete returns a room in which a question about a deletion is open.
func askedToDelete(t *testing.T, set protocol.Settings) *room {
	t.Helper()
	r := newRoom(t, set, false, "", false)
	r.asks("", copilot.ToolCall{ID: "c1", Name: "delete_file", Input: json.RawMessage(`{"path":"old.txt"}`)})
	return r
}

// An answer that is not finished, or that begins with a no, allows nothing.
func TestWhatIsNotConsent(t *testing.T) {
	r := askedToDelete(t, locale(t, protocol.English))
	for text, want := range map[string]csm.Meaning{
		"Yes, delete it.": csm.MeansYes, "Ja, lösche die Datei.": csm.MeansYes, "はい、削除して。": csm.MeansYes,
		"Yes, delete the": csm.MeansUnclear, "yes, delete it with": csm.MeansUnclear, "Yes, and the.": csm.MeansUnclear, "yes, use the": csm.MeansUnclear,
		"yes, delete a": csm.MeansUnclear, "Yes, delete the file on": csm.MeansUnclear, "yes, could you": csm.MeansUnclear, "delete the": csm.MeansUnclear,
		"Ja, lösche die": csm.MeansUnclear, "ja, und die": csm.MeansUnclear, "ja, lösche es auf": csm.MeansUnclear, "ja, könnten Sie": csm.MeansUnclear,
		"No, go on.": csm.MeansNo, "no, continue": csm.MeansNo, "Um, no, please go on.": csm.MeansNo, "no way, go ahead": csm.MeansNo, "no, do it": csm.MeansNo,
		"nein, weiter": csm.MeansNo, "Nein, mach weiter.": csm.MeansNo, "nein, mach das": csm.MeansNo, "いいえ、続けて": csm.MeansNo, "いや、続けてください": csm.MeansNo,
		"no, yes, delete it": csm.MeansNo, "go on": csm.MeansAssent, "weiter": csm.MeansAssent, "続けて": csm.MeansAssent,
		"はい、削除を": csm.MeansUnclear, "はい、削除する前に": csm.MeansUnclear, "はい、削除しないで": csm.MeansUnclear,
	} {
		f := r.d.heard(1, 99, Certain(text))
		if got := csm.Means(turn.OverQuestion, f.Class, f.Doubted); got != want {
			t.Errorf("%q is %v (%+v), want %v", text, got, f, want)
		}
		if f.Named && want != csm.MeansYes {
			t.Errorf("%q names the action", text)
		}
	}
}

// Over an answer, "no, go on" continues it.
func TestNoGoOnContinuesAnAnswer(t *testing.T) {
	d := newIdle(t, nil)
	for _, text := range []string{"No, go on.", "no, continue", "nein, weiter", "いいえ、続けて"} {
		if f := d.heard(1, 1, Certain(text)); f.Class != csm.Continue {
			t.Errorf("%q is %v", text, f.Class)
		}
	}
}
