package acp

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode"

	acpsdk "github.com/coder/acp-go-sdk"
	"github.com/sourcegraph/jsonrpc2"

	"github.com/agentvoice/agentvoice-daemon/copilot"
)

// A question to the user is an elicitation, a permission request for a tool that asks, or such a
// tool that runs without a request. The conversation presents them as questions, and the user's next
// words are the answer. They arrive with the next request. A form receives them while its prompt is open. A
// permission response cannot carry words, and a tool without a request gets no response, so that
// prompt is cancelled and the next one includes them.

// elicitation holds the parameters of an elicitation/create request in form mode.
type elicitation struct {
	SessionID acpsdk.SessionId `json:"sessionId"`
	Message   string           `json:"message"`
	Schema    struct {
		Properties map[string]field `json:"properties"`
		Required   []string         `json:"required"`
	} `json:"requestedSchema"`
}

// field is a field of a form with its possible values.
type field struct {
	Type      string   `json:"type"`
	Enum      []string `json:"enum"`
	EnumNames []string `json:"enumNames"`
	OneOf     []struct {
		Const string `json:"const"`
		Title string `json:"title"`
	} `json:"oneOf"`
}

// choices returns the values of a field and their display names.
func (f field) choices() (values, names []string) {
	for _, o := range f.OneOf {
		values, names = append(values, o.Const), append(names, cmp.Or(o.Title, o.Const))
	}
	for i, v := range f.Enum {
		name := v
		if i < len(f.EnumNames) {
			name = cmp.Or(f.EnumNames[i], v)
		}
		values, names = append(values, v), append(names, name)
	}
	return values, names
}

// form is the one field of an elicitation that a spoken answer fills. name is "" if there
// is no such field.
type form struct {
	name string
	field
}

func (q elicitation) form() *form {
	required := q.Schema.Required
	for name, f := range q.Schema.Properties {
		if len(q.Schema.Properties) == 1 || len(required) == 1 && required[0] == name {
			return &form{name, f}
		}
	}
	return &form{}
}

// elicit presents the question to the user.
func (h handler) elicit(id jsonrpc2.ID, q elicitation) {
	h.ask(q.SessionID, &ask{agent: h.g, id: id, form: q.form()}, func(_ *prompt, k *ask) {
		_, choices := k.form.choices()
		asks := false
		k.state = &tool{status: acpsdk.ToolCallStatusCompleted}            // no tool runs
		input, _ := json.Marshal(map[string]string{"question": q.Message}) // strings do not fail
		k.call = copilot.ToolCall{
			ID: "question#" + strconv.FormatUint(h.a.calls, 10), Agent: h.a.name, Name: "ask_user", Input: input, Folder: h.a.opts.Dir,
			Destructive: &asks, Question: q.Message, Choices: choices,
		}
	})
}

func (f *form) reply(k *ask, action string, content map[string]any) {
	answer := map[string]any{"action": action}
	if content != nil {
		answer["content"] = content
	}
	k.agent.reply(k.id, answer)
}

func (f *form) decline(k *ask) { f.reply(k, "decline", nil) }
func (f *form) cancel(k *ask)  { f.reply(k, "cancel", nil) }

// yes answers a question that the user confirmed with a click, and reports whether its
// type allows that.
func (f *form) yes(k *ask) bool {
	if f.Type != "boolean" {
		return false
	}
	f.reply(k, "accept", map[string]any{f.name: true})
	return true
}

// accept answers with the user's words; ok is false if they do not fit the field.
func (f *form) accept(k *ask, words string) (ok bool) {
	value, ok := f.value(words)
	if ok {
		f.reply(k, "accept", map[string]any{f.name: value})
	}
	return ok
}

var yesNo = map[string]bool{
	"yes": true, "yeah": true, "yep": true, "sure": true, "ja": true, "はい": true, "ええ": true,
	"no": false, "nope": false, "nein": false, "いいえ": false,
}

func (f *form) value(words string) (value any, ok bool) {
	words = strings.TrimRightFunc(strings.TrimSpace(words), func(r rune) bool { return unicode.IsPunct(r) })
	if values, names := f.choices(); len(values) > 0 {
		at := chosen(words, values, names)
		if at < 0 {
			return nil, false
		}
		return values[at], true
	}
	switch f.Type {
	case "boolean":
		value, ok = yesNo[strings.ToLower(words)]
		return value, ok
	case "integer":
		n, err := strconv.ParseInt(words, 10, 64)
		return n, err == nil
	case "number":
		n, err := strconv.ParseFloat(words, 64)
		return n, err == nil
	case "string":
		return words, words != ""
	}
	return nil, false
}

// chosen returns the index of the choice that words name: exactly, by its number, or as
// the only choice that they contain. It returns -1 if there is no match.
func chosen(words string, values, names []string) int {
	said := key(words)
	for i := range values {
		if said == key(values[i]) || said == key(names[i]) || said == strconv.Itoa(i+1) {
			return i
		}
	}
	at := -1
	for i := range values {
		if n := key(names[i]); n != "" && strings.Contains(said, n) {
			if at >= 0 {
				return -1
			}
			at = i
		}
	}
	return at
}

// key returns a text in lower case, without blanks and punctuation.
func key(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}

// keptQuestion queues the question of a running tool of opencode or Kilo, which waits for an answer
// that no message can bring. t may be nil. The caller holds Adapter.mu.
func (h handler) keptQuestion(p *prompt, t *tool) {
	if !h.g.fork || t == nil || t.asked || !t.runs() || p.cancelled {
		return
	}
	k := &ask{agent: h.g, tool: "question", state: t, kept: true}
	h.a.calls++
	if k.call = h.a.callOf(h.g, k); k.call.Question == "" {
		return
	}
	t.asked = true
	p.queueAsk(k)
}

// question returns the pending elicitation that a form answers, or nil. The caller holds
// Adapter.mu.
func (p *prompt) question() *ask {
	if p.cancelled || p.isOver() {
		return nil
	}
	for _, k := range p.asks {
		if k.given && k.form != nil && k.form.name != "" {
			return k
		}
	}
	return nil
}

// answer answers the pending question with the words of a request, and reports whether
// the prompt continues with that request. The caller holds Adapter.mu.
func (p *prompt) answer(r copilot.Request) bool {
	k := p.question()
	n := len(r.Messages)
	if k == nil || n == 0 || r.Messages[n-1].Role != copilot.RoleUser || !k.form.accept(k, r.Messages[n-1].Content) {
		return false
	}
	delete(p.asks, k.call.ID)
	p.request = r.ID
	p.signOfLife()
	return true
}

// questionFields are the fields that a question of an asking tool may have.
// Kilo also suggests actions.
var questionFields = []string{"question", "options", "choices", "header", "type", "multiSelect", "id", "suggest", "actions"}

// questionIn returns the question and choices of a tool that asks the user, or "" for
// other tools. A tool that takes further input besides a question, such as one that
// searches documents for the answer, is not an asking tool.
func questionIn(kind acpsdk.ToolKind, input map[string]any) (question string, choices []string) {
	acts := []acpsdk.ToolKind{acpsdk.ToolKindExecute, acpsdk.ToolKindEdit, acpsdk.ToolKindDelete, acpsdk.ToolKindMove}
	if slices.Contains(acts, kind) {
		return "", nil
	}
	asked := []any{input}
	list, several := input["questions"].([]any)
	if several && len(input) == 1 {
		asked = list
	}
	for _, each := range asked {
		q, _ := each.(map[string]any)
		text, _ := q["question"].(string)
		if suggestion, ok := q["suggest"].(string); ok && text == "" {
			text = suggestion
		}
		for field := range q {
			if text == "" || !slices.Contains(questionFields, field) {
				return "", nil
			}
		}
		offered := optionsOf(q)
		if !several && len(offered) == 0 {
			return "", nil
		}
		question = strings.TrimSpace(question + " " + text)
		if len(asked) == 1 {
			choices = offered
		}
	}
	return question, choices
}

// optionsOf returns the names of the answers that a question offers.
func optionsOf(q map[string]any) (names []string) {
	for _, field := range []string{"options", "choices", "actions"} {
		list, _ := q[field].([]any)
		for _, o := range list {
			name, _ := o.(string)
			if fields, ok := o.(map[string]any); ok {
				name, _ = fields["label"].(string)
			}
			if name != "" {
				names = append(names, name)
			}
		}
	}
	return names
}
