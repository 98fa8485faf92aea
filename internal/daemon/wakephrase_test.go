package daemon

import (
	"testing"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// What is left of the wake phrase in the audio after it is taken off the words, and nothing else is.
func TestCutRestOfPhrase(t *testing.T) {
	for _, c := range []struct{ phrase, text, rest string }{
		{"okay copilot", "Pilot which tests are failing.", "which tests are failing."},
		{"okay copilot", "A pilot, what is the git status?", "what is the git status?"},
		{"okay copilot", "Okay, copilot, what is the git status?", "what is the git status?"},
		{"okay copilot", "OK Co-Pilot. What is the git status?", "What is the git status?"},
		{"okay copilot", "Pilots.", ""},
		{"Okay Copilot", "okay copilot", ""},
		{"hey computer", "Puter! Öffne die Datei.", "Öffne die Datei."},
		{"okay copilot", "What is the git status?", "What is the git status?"},
		{"okay copilot", "Let me see a lot of it.", "Let me see a lot of it."},
		{"okay copilot", "Okay, continue.", "Okay, continue."},
		{"okay copilot", "", ""},
	} {
		if rest, said := cutRestOfPhrase(c.text, c.phrase); rest != c.rest || said != (c.rest != c.text) {
			t.Errorf("of %q remains %q, want %q", c.text, rest, c.rest)
		}
	}
}

// Only an utterance after the phrase is searched for its rest.
func TestThePhraseOfTheSpotterIsNotSent(t *testing.T) {
	set := protocol.DefaultSettings()
	set.Wake.Enabled = true
	for _, c := range []struct {
		text   string
		called bool
		class  csm.Class
		words  int
	}{
		{"OK, co-pilot.", true, csm.Attention, 0},
		{"OK, co-pilot.", false, csm.Attention, 0},
		{"Pilots.", false, csm.Content, 1},
		{"OK, co-pilot. What is the git status?", true, csm.Content, 5},
		{"OK, co-pilot. Stop.", true, csm.Stop, 1},
	} {
		r := newRoom(t, set, false, codeAnswer, false)
		said := Certain(c.text)
		said.Called = c.called
		if f := r.d.heard(1, 90, said); f.Class != c.class || c.class == csm.Content && c.called && f.Words != c.words {
			t.Errorf("%q, called %v: %v with %d words", c.text, c.called, f.Class, f.Words)
		}
	}
}

// In a conversation, the phrase is recognised however it is written, and nothing that resembles it.
func TestCutWakePhrase(t *testing.T) {
	for _, c := range []struct{ phrase, text, rest string }{
		{"okay copilot", "Okay Copilot", ""},
		{"okay copilot", "OK Copilot.", ""},
		{"okay copilot", "O.K. Copilot!", ""},
		{"okay copilot", "okay co-pilot", ""},
		{"okay copilot", "OK, co pilot.", ""},
		{"okay copilot", "Okay, Kopilot.", ""},
		{"okay copilot", "Okay, Copilot, what is the git status?", "what is the git status?"},
		{"okay copilot", "OK Co-Pilot. A test fails.", "A test fails."},
		{"hey computer", "Hey, Computer! Öffne die Datei.", "Öffne die Datei."},
		{"hey computer", "Hay computer", ""},
		{"computer", "Computer, stop.", "stop."},
		{"コパイロット", "コパイロット、止めて。", "止めて。"},
	} {
		if rest, said := cutAnyPhrase(c.text, c.phrase); !said || rest != c.rest {
			t.Errorf("of %q remains %q (%v), want %q", c.text, rest, said, c.rest)
		}
	}
	for phrase, texts := range map[string][]string{
		"okay copilot": {"", "okay", "okay, compile it", "Okay, compile.", "copilot is slow", "Copilot.", "the copilot is slow", "Today Copilot is slow.", "Say Copilot.",
			"Okay, copy it.", "okay, pilot the change first", "okay, copilots are slow", "okay, complete it", "My copilot.", "okay co", "hey copilot", "Okay, cope a lot.", "ok"},
		"hey computer": {"Hey, compute the sum.", "hey computers are slow", "computer", "they compute it"},
		"computer":     {"Compute the sum.", "computers are slow", "commuter trains", "computed it"},
	} {
		for _, text := range texts {
			if rest, said := cutAnyPhrase(text, phrase); said {
				t.Errorf("%q is taken for %q, and %q remains", text, phrase, rest)
			}
		}
	}
}
