package daemon

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// The words of the tests: as heard, as corrected, and as the assistant is told to answer
// them instead.
const (
	misheard  = "does the function start play back use port eighty eighty"
	corrected = "does the function startPlayback use port 8080"
	asHeard   = "Correction: I said “" + misheard + "”, word for word. Please answer that instead."
)

// corrections is a room that keeps what its client is told.
type corrections struct {
	*room
	words []protocol.TranscriptParams // the user's, final
	shown []string
}

func newCorrections(t *testing.T, set protocol.Settings) *corrections {
	t.Helper()
	c := &corrections{}
	set.Vocabulary = "startPlayback"
	c.room = newRoom(t, set, false, "", false, func(cfg *Config) {
		cfg.Notify = func(_ string, params any) {
			switch p := params.(type) {
			case protocol.TranscriptParams:
				if p.Role == protocol.RoleUser && p.Final {
					c.words = append(c.words, p)
				}
			case protocol.NotificationParams:
				c.shown = append(c.shown, p.Message)
			}
		}
	})
	return c
}

// told returns the user's last words as the client was told.
func (c *corrections) told() protocol.TranscriptParams { return c.words[len(c.words)-1] }

// replaced returns the transcript that replaced another.
func (c *corrections) replaced() (p protocol.TranscriptParams) {
	for _, w := range c.words {
		if w.Replaces != 0 {
			p = w
		}
	}
	return p
}

// answers has the assistant answer the last request, and speak.
func (c *corrections) answers() {
	c.port.Answer(c.request, 0, "It uses that port. ", true)
	c.d.Post(csm.CopilotDone{Request: c.request})
	c.d.Drain()
}

// lines returns the user's lines of the transcript: the words, and those that were heard.
func (c *corrections) lines() (out [][2]string) {
	c.d.WithTranscript(0, func(r protocol.TranscriptResult) {
		for _, e := range r.Entries {
			if e.Role == protocol.RoleUser {
				out = append(out, [2]string{e.Text, e.Heard})
			}
		}
	})
	return out
}

// TestCorrectionIsUndoneByVoice: the assistant gets the words as heard, once, like any
// request. Their line shows them, and they are not corrected again.
func TestCorrectionIsUndoneByVoice(t *testing.T) {
	for _, says := range []string{"undo the correction", "Please undo that correction.", "Korrektur rückgängig machen", "修正を取り消して"} {
		t.Run(says, func(t *testing.T) {
			c := newCorrections(t, protocol.DefaultSettings())
			c.hears(misheard)
			first := c.told()
			if first.Text != corrected || first.Heard != misheard || first.Correction == "" {
				t.Fatalf("the client was told %+v", first)
			}
			c.answers()
			c.hears(says)
			c.left("asks "+corrected, "asks "+asHeard)
			if got, want := c.lines(), [][2]string{{misheard, ""}, {asHeard, says}}; !slices.Equal(got, want) {
				t.Errorf("the transcript is %q, want %q", got, want)
			}
			if again := c.replaced(); again.Replaces != first.Seq || again.Text != misheard || again.Heard != "" || again.Correction != "" || again.TurnID != first.TurnID {
				t.Errorf("the client was told %+v, which replaces %+v", again, first)
			}
			if !slices.Contains(c.shown, "The correction is undone.") {
				t.Errorf("the user was shown %q", c.shown)
			}
			c.answers()
			c.hears(says) // nothing is left to undo, so the assistant gets the words
			c.answers()
			c.hears("DOES the function start play back use port eighty-eighty?")
			c.left("asks "+corrected, "asks "+asHeard, "asks "+says, "asks DOES the function start play back use port eighty-eighty?")
			c.answers()
			c.hears("open port three thousand") // other changes are still made
			c.left("asks "+corrected, "asks "+asHeard, "asks "+says, "asks DOES the function start play back use port eighty-eighty?", "asks open port 3000")
		})
	}
}

// TestUnsentCorrectionIsUndone: words that were not sent yet are sent as heard, without
// another request.
func TestUnsentCorrectionIsUndone(t *testing.T) {
	set := protocol.DefaultSettings()
	set.TurnDetection.Mode = protocol.TurnPhrase
	for _, typed := range []bool{false, true} {
		c := newCorrections(t, set)
		c.hears(misheard)
		if c.told().Text != corrected {
			t.Fatalf("the client was told %+v", c.told())
		}
		if typed {
			c.types("undo the correction")
		} else {
			c.hears("undo the correction")
		}
		c.left("The correction is undone.")
		c.hears("send it")
		c.left("The correction is undone.", "asks "+misheard)
		if got, want := c.lines()[0], [2]string{misheard, ""}; got != want {
			t.Errorf("typed %v: the first line is %q, want %q", typed, got, want)
		}
	}
}

// TestCorrectionIsUndoneByTheClient: the client names the correction, also an earlier one,
// which can be undone once and not after the conversation.
func TestCorrectionIsUndoneByTheClient(t *testing.T) {
	c := newCorrections(t, protocol.DefaultSettings())
	c.hears(misheard)
	first := c.told()
	c.answers()
	c.hears("open port three thousand")
	second := c.told()
	c.answers()
	c.d.Post(csm.UserInterrupt{})
	c.d.Drain()
	c.clock.Advance(time.Second, c.d.Drain)
	undo := func(id string) error {
		err := c.d.UndoCorrection(id, func(r csm.Reply, _ protocol.Snapshot) {
			if r.Code != "" {
				t.Errorf("refused with %s", r.Code)
			}
		})
		c.d.Drain()
		return err
	}
	if err := undo(first.Correction); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{first.Correction, "", "utt-0", "utt-999"} {
		if err := undo(id); !errors.Is(err, ErrNoCorrection) {
			t.Errorf("undoing %q gave %v", id, err)
		}
	}
	c.left("asks "+corrected, "asks open port 3000", "asks "+asHeard)
	c.d.content.forget()
	if err := undo(second.Correction); !errors.Is(err, ErrNoCorrection) {
		t.Errorf("after the conversation: %v", err)
	}
}

// TestQuestionIsNotAnsweredByUndo: while a question about a tool is open, the words do not
// undo anything.
func TestQuestionIsNotAnsweredByUndo(t *testing.T) {
	c := newCorrections(t, protocol.DefaultSettings())
	c.hears(misheard)
	c.d.Post(c.port.ToolCall(c.request, 0, copilot.ToolCall{ID: "call-1", Name: "runTests", Input: []byte("{}")}))
	c.d.Post(csm.CopilotDone{Request: c.request})
	c.d.Drain()
	if !c.d.asking() {
		t.Fatalf("no question is open: %v", c.d.State().Phase())
	}
	c.d.heard(1, 95, Certain("undo the correction"))
	if c.d.content.lastCorrected() == 0 || c.lines()[0] != [2]string{corrected, misheard} {
		t.Errorf("the correction is undone: %q", c.lines())
	}
}
