package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// asks makes the assistant say something and request a call.
func (r *room) asks(said string, call copilot.ToolCall) {
	r.t.Helper()
	no := false
	call.Destructive = &no
	r.d.OfferTools([]copilot.Tool{{Name: call.Name, Destructive: &no}})
	r.d.Drain()
	r.types("do it somehow")
	if said != "" {
		r.port.Answer(r.request, 0, said, false)
	}
	r.d.Post(r.port.ToolCall(r.request, 0, call))
	r.d.Post(csm.CopilotDone{Request: r.request})
	r.d.Drain()
	r.mu.Lock()
	r.traces = nil
	r.mu.Unlock()
}

func (r *room) stillAsked() {
	r.t.Helper()
	if _, asked := r.d.State().Copilot.(copilot.WaitingForApproval); !asked {
		r.t.Errorf("the question is closed: %T", r.d.State().Copilot)
	}
}

// TestASoundDoesNotDoubtANamedAction: a yes that names the action is no expected answer, so its
// words decide although its sound was compared.
func TestASoundDoesNotDoubtANamedAction(t *testing.T) {
	r := newRoom(t, locale(t, protocol.English), false, "", false)
	r.asks("", copilot.ToolCall{ID: "c1", Name: "delete_file", Input: json.RawMessage(`{"path":"old.txt"}`)})
	uncertain := &Answer{"Yes, do it.", leastLead - 1, mostBehind + 1}
	for _, c := range []struct {
		said  Transcript
		named bool
	}{
		{Transcript{Text: "Yes, delete it.", Probs: []float64{1, 1, 1}, Answer: uncertain}, true},
		{Transcript{Text: "Yes, delete it.", Probs: []float64{1, 1, 1}}, true},
		{Transcript{Text: "Yes, delete it.", Answer: uncertain}, false},
		{Transcript{Text: "Yes, delete it.", Probs: []float64{0.1, 0.4, 0.1}, Answer: uncertain}, false},
		{Transcript{Text: "Yes, delete it.", Probs: []float64{1, 1, 1}, Answer: uncertain, Unvoiced: true}, false},
		{Transcript{Text: "Yes, delete it.", Probs: []float64{1, 1, 1}, Answer: uncertain, Distant: true}, false},
		{Transcript{Text: "Yes.", Probs: []float64{1}, Answer: &Answer{"Yes.", 9, 0}}, false},
	} {
		if f := r.d.heard(1, 99, c.said); f.Class != csm.Yes || f.Named != c.named {
			t.Errorf("%+v: %+v", c.said, f)
		}
	}
}

// "Why" reads the reason of the call, or the words before it. The question stays open.
func TestWhyReadsTheReason(t *testing.T) {
	for _, c := range []struct {
		locale     protocol.Locale
		says, said string
		call       copilot.ToolCall
		want       string
	}{
		{protocol.English, "Why?", "", copilot.ToolCall{Input: json.RawMessage(`{"file":"a.txt","description":"Read the limits"}`)}, "It says: Read the limits"},
		{protocol.English, "what is the reason", "", copilot.ToolCall{Reason: "The tests need `a.txt`.", Input: json.RawMessage(`{"file":"a.txt"}`)}, "It says: The tests need a dot txt."},
		{protocol.German, "Warum?", "Ich brauche die Grenzen.", copilot.ToolCall{Input: json.RawMessage(`{"file":"a.txt"}`)}, "Er sagt: Ich brauche die Grenzen."},
		{protocol.Japanese, "なぜですか。", "", copilot.ToolCall{Input: json.RawMessage(`{"file":"a.txt"}`)}, "理由は示されていません。"},
	} {
		for _, typed := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s typed %v", c.says, typed), func(t *testing.T) {
				r := newRoom(t, locale(t, c.locale), false, "", false)
				c.call.ID, c.call.Name = "c1", "read_file"
				r.asks(c.said, c.call)
				if typed {
					r.types(c.says)
				} else {
					r.next++
					hears(r.d, r.clock, r.next, c.says)
				}
				r.left(c.want)
				r.stillAsked()
			})
		}
	}
}

// Without a question, "why" goes to the assistant.
func TestWhyIsAQuestionToTheAssistant(t *testing.T) {
	r := newRoom(t, protocol.DefaultSettings(), false, "Because.", false)
	r.types("why?")
	r.left("asks why?")
}

// "Always ask" makes the daemon ask about a tool that was allowed without a question,
// until the conversation ends.
func TestAlwaysAsk(t *testing.T) {
	no := false
	call := copilot.ToolCall{ID: "c1", Name: "editor_read_file", Input: json.RawMessage(`{"path":"a.go"}`), Destructive: &no, Allowed: true}
	for says, want := range map[string]string{
		"Always ask.": "From now on I ask each time before read file is used.", "frag mich immer": "Von jetzt an frage ich jedes Mal, bevor read file benutzt wird.",
		"毎回確認して": "これからは read file を使う前に毎回確認します。",
	} {
		l := map[string]protocol.Locale{"Always ask.": protocol.English, "frag mich immer": protocol.German, "毎回確認して": protocol.Japanese}[says]
		r := newRoom(t, locale(t, l), false, "", false)
		r.types(says)
		r.left("asks " + says) // no call has been allowed yet
		r.mu.Lock()
		r.traces = nil
		r.mu.Unlock()
		if !r.d.content.allowed(call) {
			t.Fatal("the call does not pass without a question")
		}
		r.types(says)
		r.left(want)
		if r.d.content.allowed(call) {
			t.Error("the tool still passes without a question")
		}
		other := call
		other.Name = "editor_search"
		if !r.d.content.allowed(other) {
			t.Error("another tool is asked about, too")
		}
		r.d.readCommands() // as when the next conversation begins
		if !r.d.content.allowed(call) {
			t.Error("the next conversation still asks")
		}
	}
	r := newRoom(t, protocol.DefaultSettings(), false, "", false)
	r.asks("", copilot.ToolCall{ID: "c1", Name: "editor_list_files", Input: json.RawMessage(`{}`)})
	r.types("ask me every time")
	r.left("From now on I ask each time before list files is used.")
	r.stillAsked()
}

// "No, use pnpm instead" rejects the call. The assistant receives the rejection and the
// alternative in one request, with no answer in between.
func TestReasonOfANoReachesTheAssistantAtOnce(t *testing.T) {
	no := false
	sent := make(chan copilot.Request, 8)
	agent := &choosyCaller{choosy: &choosy{}}
	agent.answer = func(_ context.Context, q copilot.Request, emit func(string)) error {
		if len(q.Messages) == 1 {
			q.Wants(copilot.ToolCall{ID: "c1", Name: "install", Input: json.RawMessage(`{"packages":"left-pad"}`), Destructive: &no})
			return nil
		}
		sent <- q
		emit("With pnpm, then.")
		return nil
	}
	r := newRoom(t, protocol.DefaultSettings(), false, "", false, func(c *Config) { c.Adapter = agent })
	agent.trace = r.trace
	r.types("install it")
	r.until(r.d.asking)
	r.types("no, use pnpm instead")
	r.until(func() bool { return len(sent) > 0 })
	got := ""
	for _, m := range (<-sent).Messages {
		got += fmt.Sprintf("%s %s: %s\n", m.Role, m.Status, m.Content)
	}
	want := "user : install it\ntool rejected: The user did not allow this call. It was not run.\nuser : no, use pnpm instead\n"
	if got != want {
		t.Errorf("the assistant has\n%s, want\n%s", got, want)
	}
}

type choosyCaller struct{ *choosy }

func (choosyCaller) CallTool(context.Context, context.Context, copilot.ToolCall) (string, error) {
	return "", nil
}

// A question from the assistant is asked as such. The user's words are the answer; even
// a yes is not a permission.
func TestQuestionOfTheAssistant(t *testing.T) {
	for l, want := range map[protocol.Locale]string{
		protocol.English:  "The assistant asks: Which color? The choices are red and blue.",
		protocol.German:   "Der Assistent fragt: Which color? Zur Wahl stehen red und blue.",
		protocol.Japanese: "アシスタントからの質問です。Which color?選択肢は red、blue です。",
	} {
		for _, says := range []string{"red", "yes", "no", "no, the blue one"} {
			r := newRoom(t, locale(t, l), false, "", false)
			r.asks("", copilot.ToolCall{ID: "c1", Name: "ask_user", Input: json.RawMessage(`{"question":"Which color?"}`), Question: "Which color?", Choices: []string{"red", "blue"}})
			w, _ := r.d.State().Copilot.(copilot.WaitingForApproval)
			if got := r.d.question(w.Calls[0].ID); got != want {
				t.Errorf("asked %q, want %q", got, want)
			}
			if got := r.d.classify(r.d.questionOver(0), says, Certain(says)); got.Class != csm.Content {
				t.Errorf("%q is taken for %v", says, got.Class)
			}
			r.types(says)
			r.left("asks " + says)
		}
	}
}

// until steps the conversation until so returns true.
func (r *room) until(so func() bool) {
	r.t.Helper()
	for late := time.Now().Add(patience); !so(); time.Sleep(time.Millisecond) {
		if time.Now().After(late) {
			r.t.Fatal("it never came")
		}
		r.clock.Advance(time.Millisecond, r.d.Drain)
	}
}
