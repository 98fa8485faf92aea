package daemon

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/speech"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// utters begins an utterance, and lets its words arrive at once if they are not empty.
func (r *room) utters(t Transcript) (utterance uint64) {
	r.next++
	r.d.Post(csm.SpeechStarted{Epoch: 1, Utterance: r.next, Pos: int64(r.next) * 480000})
	r.d.Drain()
	r.d.Post(csm.SpeechStopped{Epoch: 1, Utterance: r.next, Pos: int64(r.next)*480000 + 24000})
	r.d.Drain()
	if t.Text != "" {
		r.port.Post(r.port.Heard(1, r.next, t))
	}
	r.d.Drain()
	return r.next
}

// asksToEdit asks about an edit, whose question was heard.
func asksToEdit(t *testing.T, editor bool) *room {
	t.Helper()
	r := newRoom(t, locale(t, protocol.English), editor, "", false)
	r.asks("", copilot.ToolCall{ID: "c1", Name: "rename_symbol", Input: json.RawMessage(`{"from":"a","to":"b"}`)})
	r.heardQuestion()
	return r
}

// heardQuestion plays what is to be heard.
func (r *room) heardQuestion() {
	r.clock.Advance(100*time.Millisecond, r.d.Drain)
	if line, open := speech.LineOf(r.d.State().Speech); open {
		r.d.Post(csm.SpeechDrained{Gen: line.Gen, Seq: line.Segments[len(line.Segments)-1].Seq})
	}
	r.clock.Advance(100*time.Millisecond, r.d.Drain)
	r.mu.Lock()
	r.traces = nil
	r.mu.Unlock()
}

func (r *room) runs() bool {
	_, calls := r.d.State().Copilot.(copilot.CallingTool)
	return calls
}

// TestWhatFollowsAYesTakesItBack: "take that back" is a no, and whoever wants to see the change, or has
// the editor do something else, is not sure yet. A change of the volume is no second thought.
func TestWhatFollowsAYesTakesItBack(t *testing.T) {
	for said, runs := range map[string]bool{
		"take that back": false, "undo that": false, "show me": false, "read it": false, "why": false, "say that again": false,
		"scroll down": false, "louder": true, "mm-hm": true,
	} {
		t.Run(said, func(t *testing.T) {
			r := asksToEdit(t, true)
			r.utters(Certain("yes"))
			r.clock.Advance(400*time.Millisecond, r.d.Drain)
			r.utters(Certain(said))
			r.clock.Advance(3*time.Second, r.d.Drain)
			if r.runs() != runs {
				t.Errorf("the call runs: %v, want %v", r.runs(), runs)
			}
			r.mu.Lock()
			defer r.mu.Unlock()
			for _, e := range r.traces {
				if strings.HasPrefix(e, "editor undo") {
					t.Errorf("an edit was undone: %q", r.traces)
				}
			}
		})
	}
}

// TestDoubtedCommands: words that are hardly probable, or that no voice is behind, command nothing.
func TestDoubtedCommands(t *testing.T) {
	for _, said := range []string{"goodbye", "undo that", "faster", "go to line 5"} {
		for name, doubt := range map[string]func(*Transcript){
			"sure": func(*Transcript) {}, "unvoiced": func(t *Transcript) { t.Unvoiced = true }, "distant": func(t *Transcript) { t.Distant = true },
			"improbable": func(t *Transcript) {
				for i := range t.Probs {
					t.Probs[i] = 0.05
				}
			},
		} {
			t.Run(said+", "+name, func(t *testing.T) {
				r := newRoom(t, locale(t, protocol.English), true, "", false)
				words := Certain(said)
				doubt(&words)
				r.utters(words)
				r.clock.Advance(time.Second, r.d.Drain)
				acts := func() bool {
					r.mu.Lock()
					defer r.mu.Unlock()
					return len(r.traces) > 0 || r.d.State().Phase() == csm.PhaseTerminating || r.d.State().Phase() == csm.PhaseIdle
				}
				if name == "sure" {
					r.until(acts)
				} else if told := r.d.State().Phase(); acts() || told != csm.PhaseSpeaking {
					t.Errorf("left %q, in %v; want to be told that it was not understood", r.traces, told)
				}
			})
		}
	}
}

// TestCommandsThatWereDropped: an interrupt drops a command that was said before it, and one whose
// words come after they were given up is not carried out.
func TestCommandsThatWereDropped(t *testing.T) {
	for name, happens := range map[string]func(*room){
		"interrupt": func(r *room) { r.d.Post(csm.UserInterrupt{}) },
		"too late":  func(r *room) { r.clock.Advance(time.Minute, r.d.Drain) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRoom(t, locale(t, protocol.English), true, "", false)
			utterance := r.utters(Transcript{})
			happens(r)
			r.d.Drain()
			r.mu.Lock()
			r.traces = nil
			r.mu.Unlock()
			r.port.Post(r.port.Heard(1, utterance, Certain("undo that")))
			r.d.Drain()
			r.clock.Advance(time.Second, r.d.Drain)
			r.mu.Lock()
			defer r.mu.Unlock()
			for _, e := range r.traces {
				if strings.HasPrefix(e, "editor") {
					t.Errorf("it is carried out: %q", r.traces)
				}
			}
			if len(r.d.voice.wishes) != 0 {
				t.Error("it is kept")
			}
		})
	}
}

// TestAHumAnswersNoQuestion: an agent that asks the user something gets no answer that is hardly
// probable or that no voice is behind.
func TestAHumAnswersNoQuestion(t *testing.T) {
	r := newRoom(t, locale(t, protocol.English), false, "", false)
	r.asks("", copilot.ToolCall{ID: "c1", Name: "ask", Question: "Which one?", Input: json.RawMessage(`{}`)})
	r.heardQuestion()
	for _, said := range []Transcript{{Text: "Yeah.", Probs: []float64{0.02}}, {Text: "Yes.", Unvoiced: true}, {Text: "Okay.", Distant: true}} {
		if f := r.d.heard(1, r.next+1, said); f.Class != csm.Content || !f.Doubted {
			t.Errorf("%+v is %+v, want doubted words", said, f)
		}
	}
	if f := r.d.heard(1, r.next+1, Certain("yes")); f.Class != csm.Content || f.Doubted {
		t.Errorf("a yes is %+v", f)
	}
}

// TestTheRestOfASentenceIsNoCommand: what follows words that need a continuation belongs to them.
func TestTheRestOfASentenceIsNoCommand(t *testing.T) {
	for _, c := range []struct{ before, after, asks string }{
		{"align the text to the", "right", "align the text to the right"},
		{"I think that the answer is", "yes", "I think that the answer is yes"},
		{"how do I make this query and that one", "faster", ""}, // a sentence of its own
	} {
		r := newRoom(t, locale(t, protocol.English), false, "", false)
		r.utters(Certain(c.before))
		r.clock.Advance(100*time.Millisecond, r.d.Drain)
		r.utters(Certain(c.after))
		r.d.Post(csm.CopilotDone{Request: r.request, Cancelled: true})
		r.d.Drain()
		r.clock.Advance(100*time.Millisecond, r.d.Drain)
		r.mu.Lock()
		if asked := len(r.traces) > 0 && r.traces[len(r.traces)-1] == "asks "+c.asks; asked != (c.asks != "") {
			t.Errorf("%q, %q: %q", c.before, c.after, r.traces)
		}
		r.mu.Unlock()
	}
}

// begins lets a voice begin, whose words are not known yet.
func (r *room) begins() {
	r.next++
	r.d.Post(csm.SpeechStarted{Epoch: 1, Utterance: r.next, Pos: int64(r.next) * 480000})
	r.d.Drain()
}

// TestWordsThatAnswerNothingGoOn: an answer where nothing was asked, and one word that is no command,
// begin a sentence. While something is open, they are short answers.
func TestWordsThatAnswerNothingGoOn(t *testing.T) {
	r := newRoom(t, locale(t, protocol.English), false, "", false)
	if r.d.unfinished("yes") {
		t.Error("a word goes on although nobody speaks")
	}
	r.begins()
	for words, want := range map[string]bool{
		"Yes": true, "no": true, "Okay": true, "hold on": true, "Wait": true, "sounds good": true, "go on": true, "Denying": true, "uh-huh": true,
		"stop": false, "repeat": false, "undo": false, "faster": false, "goodbye": false, "help": false,
		"run the tests": false, "Yes, go ahead and run them": false, "yes please run the tests": false, "": false,
	} {
		if got := r.d.unfinished(words); got != want {
			t.Errorf("%q goes on: %v, want %v", words, got, want)
		}
	}

	r = newRoom(t, locale(t, protocol.English), false, "", false)
	r.utters(Certain("rename it"))
	r.begins()
	if r.d.unfinished("yes") {
		t.Error("a yes goes on while a request is open")
	}
	r = newRoom(t, locale(t, protocol.English), false, "Done. Should I also update the tests?", false)
	r.begins()
	if r.d.unfinished("yes") {
		t.Error("a yes goes on although the assistant has asked")
	}
}

// TestWordsBelongToTheQuestionTheyBeganOver: what was decided or asked between an onset and its words
// changes nothing. A yes to a question that a click decided is no command and no message, and "skip",
// begun before a question, is no answer to it.
func TestWordsBelongToTheQuestionTheyBeganOver(t *testing.T) {
	no := false
	for _, said := range []string{"yes, run the tests", "yes, run them"} {
		r := newRoom(t, locale(t, protocol.English), true, "", false)
		r.asks("", copilot.ToolCall{ID: "c1", Name: "run_tests", Input: json.RawMessage(`{}`)})
		r.heardQuestion()
		utterance := r.utters(Transcript{})
		call := r.d.State().Copilot.(copilot.WaitingForApproval).Calls[0].ID
		r.d.Post(csm.UserApprove{ToolCall: call, Approved: true})
		r.d.Drain()
		f := r.port.Heard(1, utterance, Certain(said))
		r.port.Post(f)
		r.d.Drain()
		if waits := len(r.d.State().Queue); f.Class != csm.Yes || waits != 0 || len(r.d.voice.wishes) != 0 {
			t.Errorf("%q is %v, and %d wait", said, f.Class, waits)
		}
	}

	r := newRoom(t, locale(t, protocol.English), true, "", false)
	r.d.OfferTools([]copilot.Tool{{Name: "run_tests", Destructive: &no}})
	r.types("do it somehow")
	utterance := r.utters(Transcript{})
	r.d.Post(r.port.ToolCall(r.request, 0, copilot.ToolCall{ID: "c1", Name: "run_tests", Input: json.RawMessage(`{}`), Destructive: &no}))
	r.d.Post(csm.CopilotDone{Request: r.request})
	r.d.Drain()
	if f := r.port.Heard(1, utterance, Certain("skip")); f.Class != csm.Stop {
		t.Errorf("\"skip\", begun before the question, is %v", f.Class)
	}
}
