package journal_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
	"github.com/agentvoice/agentvoice-daemon/csm/journal"
)

// A file that was opened without words receives none if they are enabled later, and
// queued words are not written after they were disabled.
func TestWordsNeedConsent(t *testing.T) {
	var file bytes.Buffer
	ring := journal.NewRing(1 << 20)
	w, err := journal.New(journal.Header{Content: journal.Redacted}, ring, journal.Stream(&file))
	if err != nil {
		t.Fatal(err)
	}
	w.SetContent(journal.Full)
	w.Words(0, journal.Words{Kind: "utterance", ID: 1, Text: "CANARY"})
	flush(w)
	saved := func() string {
		var b strings.Builder
		if err := ring.Save(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	if !strings.Contains(saved(), "CANARY") || !strings.Contains(saved(), `"content":"full"`) {
		t.Errorf("the ring contains\n%s", saved())
	}
	for range 1000 {
		w.Words(0, journal.Words{Kind: "utterance", ID: 2, Text: "CANARY"})
	}
	w.SetContent(journal.Redacted)
	w.SetContent(journal.Full)
	flush(w)
	if strings.Contains(saved(), "CANARY") {
		t.Error("words were recorded after they were no longer wanted")
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(file.String(), "CANARY") {
		t.Error("a file that says redacted holds words")
	}
}

// Items queued before the journal was switched off are not recorded after it is switched
// on again, and the rest replays.
func TestOffDropsQueuedItems(t *testing.T) {
	var steps []dispatch.Step
	rehearsal, err := journal.New(header)
	if err != nil {
		t.Fatal(err)
	}
	k := newTalk(rehearsal, func(int) int { return 0 })
	k.also = func(s dispatch.Step) { steps = append(steps, s) }
	for len(steps) < 4000 {
		k.next()
	}
	if err := rehearsal.Close(); err != nil {
		t.Fatal(err)
	}

	ring := journal.NewRing(8 << 20)
	w, err := journal.New(header, ring)
	if err != nil {
		t.Fatal(err)
	}
	off, on := len(steps)-20, len(steps)-10
	for i, s := range steps { // faster than the writer
		switch i {
		case off:
			w.SetContent(journal.Off)
		case on:
			w.SetContent(journal.Redacted)
		}
		w.Event(s.Envelope)
		w.Outcome(s.State, s.Effects)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var saved strings.Builder
	if err := ring.Save(&saved); err != nil {
		t.Fatal(err)
	}
	j, err := journal.Read(strings.NewReader(saved.String()))
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range j.Lines {
		if seq := steps[on].Envelope.Seq; l.Seq > 0 && l.Seq < seq {
			t.Fatalf("event %d is in the journal, which was off until event %d", l.Seq, seq)
		}
	}
	res, err := journal.Replay(j)
	if err != nil || res.Difference != nil || res.Events != len(steps)-on-1 { // the first line is the snapshot
		t.Errorf("the journal does not replay: %v, %+v", err, res)
	}
}
