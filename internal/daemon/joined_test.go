package daemon

import (
	"strings"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/internal/vocab"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// goesOnWith lets the user say something after a pause, before the answer is audible. joined is
// what both are as one; "" if that is not known.
func (r *room) goesOnWith(text, joined string) {
	t := Certain(text)
	if joined != "" {
		t.Joined = &Joined{Text: joined, Before: []uint64{r.next}}
	}
	r.clock.Advance(100*time.Millisecond, r.d.Drain)
	r.utters(t)
	r.d.Post(csm.CopilotDone{Request: r.request, Cancelled: true})
	r.d.Drain()
	r.clock.Advance(100*time.Millisecond, r.d.Drain)
}

func (r *room) lastTrace() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.traces) == 0 {
		return ""
	}
	return r.traces[len(r.traces)-1]
}

// TestASentenceWithAPauseIsSentAsOne: the assistant gets what was recognised of the whole, unless that lacks
// words or is of other utterances.
func TestASentenceWithAPauseIsSentAsOne(t *testing.T) {
	for _, c := range []struct{ first, second, joined, asks string }{
		{"Which tester?", "Failing.", "Which tests are failing?", "Which tests are failing?"},
		{"Which tester?", "Failing.", "", "Which tester? Failing."},
		{"What did the last?", "Can it change?", "What did the last commit change?", "What did the last commit change?"},
		{"Delete the log files older than", "seven days but keep the archive", "Delete the log files seven days but keep it.", "Delete the log files older than seven days but keep the archive"},
		{"Rename the function", "to load settings and run the tests", "Rename it.", "Rename the function to load settings and run the tests"},
		// What looks like a command, or like an answer, is the end of a sentence.
		{"How can I make this query?", "Faster.", "How can I make this query faster?", "How can I make this query faster?"},
		{"Is the right answer?", "Yes.", "Is the right answer yes?", "Is the right answer yes?"},
	} {
		r := newRoom(t, locale(t, protocol.English), false, "", false)
		r.utters(Certain(c.first))
		r.goesOnWith(c.second, c.joined)
		if got := r.lastTrace(); got != "asks "+c.asks {
			t.Errorf("%q, %q: %q, want %q", c.first, c.second, got, c.asks)
		}
	}
	r := newRoom(t, locale(t, protocol.English), false, "", false)
	r.utters(Certain("Run the tests."))
	// A sentence of its own, one word that was heard as two, and a whole that has lost words.
	for _, whole := range []string{"Run the tests. Faster.", "Run the tests. Go faster.", "Run faster."} {
		r.goesOnWith("Faster.", whole)
		if got := r.lastTrace(); !strings.HasPrefix(got, "rate ") {
			t.Errorf("%q: %q, want the command", whole, got)
		}
	}
	r.goesOnWith("Stop.", "Run the tests stop.")
	if st := r.d.State(); st.Current.Utterance != 0 {
		t.Error("a request goes on after \"stop\"")
	}
}

// TestThreePartsAreOne: each part replaces what was recognised of those before, and what is joined
// to other utterances is not used.
func TestThreePartsAreOne(t *testing.T) {
	c := newContent()
	for id, text := range map[uint64]string{1: "Delete the log files old.", 2: "Than seven.", 3: "Days."} {
		c.setHeard(id, text, text, nil)
	}
	for _, step := range []struct {
		id   uint64 // that ends the joined text
		j    Joined
		sent string
	}{
		{3, Joined{"Older than seven days.", []uint64{2}}, "Delete the log files old. Older than seven days."},
		{3, Joined{"Delete the log files older than seven days.", []uint64{1, 2}}, "Delete the log files old than seven. Days."}, // 1 and 2 are two
		{2, Joined{"Delete the log files older than seven.", []uint64{1}}, "Delete the log files older than seven days."},
		{3, Joined{"Only days.", []uint64{7}}, "Delete the log files older than seven. Days."},
		{3, Joined{"Delete the log files older than seven days.", []uint64{1, 2}}, "Delete the log files older than seven days."},
	} {
		c.setJoined(step.id, step.j, step.j.Text, nil)
		if got := c.words(1, []uint64{2, 3}); got != step.sent {
			t.Errorf("%q of %d and %v: %q, want %q", step.j.Text, step.id, step.j.Before, got, step.sent)
		}
	}
	if got := c.words(2, []uint64{3}); got != "Than seven. Days." {
		t.Errorf("joined to an utterance of another message: %q", got)
	}
	text, heard, of := c.message([]uint64{1, 2, 3})
	if text != "Delete the log files older than seven days." || heard != "Delete the log files old than seven. Days." || of != 3 {
		t.Errorf("shown as %q of %d, heard as %q", text, of, heard)
	}
}

// TestAJoinedTextIsShown: the user sees what the assistant gets, and what was heard of it one by one.
func TestAJoinedTextIsShown(t *testing.T) {
	var shown protocol.TranscriptParams
	r := newRoom(t, locale(t, protocol.English), false, "", false, func(c *Config) {
		c.Notify = func(method string, p any) {
			if t, ok := p.(protocol.TranscriptParams); ok && method == protocol.NotifyTranscript && t.Final {
				shown = t
			}
		}
	})
	r.utters(Certain("Which tester?"))
	if shown.Text != "Which tester?" || shown.Heard != "" {
		t.Errorf("the first part is shown as %+v", shown)
	}
	first := shown.Seq
	r.goesOnWith("Failing.", "Which tests are failing?")
	if shown.Text != "Which tests are failing?" || shown.Heard != "Which tester? Failing." || shown.Replaces != first {
		t.Errorf("the whole is shown as %+v", shown)
	}
	kept := r.d.pub.entries
	if len(kept) != 1 || kept[0].Text != shown.Text {
		t.Errorf("the transcript has %+v", kept)
	}
}

// TestWhereAVoiceMayGoOn: utterances are recognised as one only while they may belong to one message.
func TestWhereAVoiceMayGoOn(t *testing.T) {
	r := newRoom(t, locale(t, protocol.English), false, "", false)
	if r.d.mayGoOn() {
		t.Error("before anything was said")
	}
	r.utters(Certain("Which tester?"))
	if !r.d.mayGoOn() {
		t.Error("not while a request is open")
	}
	if newRoom(t, locale(t, protocol.English), false, "This is a long answer.", true).d.mayGoOn() {
		t.Error("while an answer is spoken")
	}
	if asksToEdit(t, false).d.mayGoOn() {
		t.Error("while a question is open")
	}
}

// TestCorrectionsOfAJoinedText: what can be undone is the correction of the whole, and it brings back the
// whole as it was heard.
func TestCorrectionsOfAJoinedText(t *testing.T) {
	changed := []vocab.Change{{Heard: "split fields", Written: "splitFields"}}
	for name, s := range map[string]struct {
		part, whole []vocab.Change // corrections
		heard       string         // the whole
		back        string         // what undoing the correction brings back; "" if nothing can be undone
	}{
		"the whole":           {nil, changed, "Where is split fields?", "Where is split fields?"},
		"a part and whole":    {changed, changed, "Where is split fields?", "Where is split fields?"},
		"a part":              {changed, nil, "Where is it?", ""},
		"an implausible text": {changed, changed, "Where?", "split fields."},
	} {
		written := func(heard string, changes []vocab.Change) string {
			for _, c := range changes {
				heard = strings.ReplaceAll(heard, c.Heard, c.Written)
			}
			return heard
		}
		c := newContent()
		c.setHeard(1, "Where is", "Where is", nil)
		c.setHeard(2, "split fields.", written("split fields.", s.part), s.part)
		c.setJoined(2, Joined{s.heard, []uint64{1}}, written(s.heard, s.whole), s.whole)
		_, _, of := c.message([]uint64{1, 2})
		heard, _, _, ok := c.takeCorrection(2)
		if heard != s.back || ok != (s.back != "") {
			t.Errorf("%s: undone to %q, %v", name, heard, ok)
		}
		sent := s.heard
		if of == 0 {
			sent = "Where is split fields."
		}
		if got := c.words(1, []uint64{2}); got != sent {
			t.Errorf("%s: sent as %q, want %q", name, got, sent)
		}
		if c.lastCorrected() != 0 || c.correction(2) != "" {
			t.Errorf("%s: it can be undone again", name)
		}
	}
}

// TestAMessageWithoutWhatWasCutOff: what was recognised as one with the wake phrase is not sent.
func TestAMessageWithoutWhatWasCutOff(t *testing.T) {
	set := locale(t, protocol.English)
	set.Wake.Enabled, set.Wake.Phrase = true, "okay copilot"
	r := newRoom(t, set, false, "", false)
	r.utters(Certain("Okay copilot, which tester?"))
	r.goesOnWith("Failing.", "Okay copilot, which tests are failing?")
	if got := r.lastTrace(); got != "asks which tester? Failing." {
		t.Errorf("it %s", got)
	}
}
