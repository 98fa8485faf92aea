package daemon

import (
	"cmp"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/copilot/spoken"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// choosy is an agent with modes, models and sessions.
type choosy struct {
	trace  func(format string, args ...any)
	answer func(ctx context.Context, r copilot.Request, emit func(string)) error
	none   bool
	broken error
}

func (*choosy) Name() string  { return "choosy" }
func (*choosy) Title() string { return "Codex" }

func (c *choosy) Send(ctx context.Context, r copilot.Request, emit func(string)) error {
	if c.answer == nil { // the words are content and appear in the trace
		return nil
	}
	return c.answer(ctx, r, emit)
}

func (c *choosy) Modes(context.Context) ([]copilot.Mode, error) {
	if c.none {
		return nil, nil
	}
	return []copilot.Mode{{ID: "default", Name: "Default", Current: true, Asks: true}, {ID: "autoEdit", Name: "Auto Edit"}, {ID: "plan", Name: "Plan", Asks: true}}, c.broken
}

func (c *choosy) SetMode(_ context.Context, id string) error {
	c.trace("mode %s", id)
	return c.broken
}

func (c *choosy) Models(context.Context) ([]copilot.Model, error) {
	if c.none {
		return nil, nil
	}
	return []copilot.Model{{ID: "m54", Name: "GPT-5.4"}, {ID: "m54m", Name: "GPT-5.4-Mini"}, {ID: "local/flash"}}, nil
}

func (c *choosy) Sessions(context.Context) ([]copilot.Session, error) {
	if c.none {
		return nil, nil
	}
	return []copilot.Session{{ID: "s2", Title: "Fix the parser"}, {ID: "s1"}}, nil
}

func (c *choosy) LoadSession(_ context.Context, id string) error {
	c.trace("load %s", id)
	return c.broken
}

func newAgentRoom(t *testing.T, set protocol.Settings, agent *choosy) *room {
	t.Helper()
	r := newRoom(t, set, false, "", false, func(c *Config) { c.Adapter = agent })
	agent.trace = r.trace
	return r
}

func locale(t *testing.T, l protocol.Locale) protocol.Settings {
	t.Helper()
	set := protocol.DefaultSettings()
	set.Locale = string(l)
	return set
}

// Modes, models and sessions of an agent are listed and selected by voice and in
// writing, in each language. Names are checked against those that exist.
func TestAgentCommands(t *testing.T) {
	const noMode, noModel = "There is no mode “ultra”. The modes are Default, Auto Edit and Plan.", "There is no model “gpt”, or several. The models are GPT-5.4, GPT-5.4-Mini and local flash."
	for _, c := range []struct {
		says string
		want []string
	}{
		{"list the modes", []string{"The modes are Default, Auto Edit and Plan. Now it is Default."}},
		{"welche Modi gibt es?", []string{"The modes are Default, Auto Edit and Plan. Now it is Default."}},
		{"どんなモードがありますか。", []string{"The modes are Default, Auto Edit and Plan. Now it is Default."}},
		{"Switch to plan mode.", []string{"mode plan", "The mode is Plan now."}},
		{"please switch to the plan mode", []string{"mode plan", "The mode is Plan now."}},
		{"Wechsle in den Planmodus!", []string{"mode plan", "The mode is Plan now."}},
		{"wechsle in den Modus Planung", []string{"mode plan", "The mode is Plan now."}},
		{"プランモードに切り替えて", []string{"mode plan", "The mode is Plan now."}},
		{"switch to ultra mode", []string{noMode}},
		{"which models are there", []string{"The models are GPT-5.4, GPT-5.4-Mini and local flash."}},
		{"switch to the model GPT five point four", []string{"From the next request on, the model GPT-5.4 answers."}},
		{"switch to the mini model", []string{"From the next request on, the model GPT-5.4-Mini answers."}},
		{"Wechsle zum Modell Flash.", []string{"From the next request on, the model local flash answers."}},
		{"モデルをGPT-5.4にして", []string{"From the next request on, the model GPT-5.4 answers."}},
		{"switch to the model gpt", []string{noModel}},
		{"list the sessions", []string{"The earlier sessions are: 1, Fix the parser; 2, untitled."}},
		{"continue the last session", []string{"load s2", "Continuing the session “Fix the parser”."}},
		{"Setz die letzte Sitzung fort.", []string{"load s2", "Continuing the session “Fix the parser”."}},
		{"前回のセッションを続けて", []string{"load s2", "Continuing the session “Fix the parser”."}},
		{"continue session two", []string{"load s1", "Continuing the session “untitled”."}},
		{"セッション2を続けて", []string{"load s1", "Continuing the session “untitled”."}},
		{"load session 7", []string{"There is no session 7. There are 2."}},
	} {
		for _, typed := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s typed %v", c.says, typed), func(t *testing.T) {
				r := newAgentRoom(t, protocol.DefaultSettings(), &choosy{})
				if typed {
					r.types(c.says)
				} else {
					r.hears(c.says)
				}
				r.left(c.want...)
			})
		}
	}
}

// Session titles are recognised only after the list was said, so that dictation is not
// held up otherwise.
func TestSessionByTitle(t *testing.T) {
	r := newAgentRoom(t, protocol.DefaultSettings(), &choosy{})
	if do := r.d.agentCommand(spoken.Classify("load the session parser"), "load the session parser"); do != nil {
		t.Error("words about a session are a command before any was listed")
	}
	r.types("list the sessions")
	r.left("The earlier sessions are: 1, Fix the parser; 2, untitled.")
	r.types("load the session parser")
	r.left("The earlier sessions are: 1, Fix the parser; 2, untitled.", "load s2", "Continuing the session “Fix the parser”.")
}

// A mode in which the agent may act unasked needs a prompt yes, with no other words
// before it.
func TestUnaskedModeNeedsAYes(t *testing.T) {
	ask := map[protocol.Locale]string{
		protocol.English:  "In the mode Auto Edit the agent acts without asking you. Shall I switch to it? Please say yes or no.",
		protocol.German:   "Im Modus Auto Edit handelt der Agent, ohne Sie zu fragen. Soll ich umschalten? Bitte sagen Sie ja oder nein.",
		protocol.Japanese: "モード Auto Edit では、エージェントは確認なしで操作を実行します。切り替えますか。「はい」か「いいえ」でお答えください。",
	}
	for _, c := range []struct {
		locale          protocol.Locale
		says, yes, no   string
		switched, keeps string
	}{
		{protocol.English, "switch to auto edit mode", "Yes.", "no", "The mode is Auto Edit now.", "The mode stays as it is."},
		{protocol.German, "wechsle in den Modus automatik", "Ja.", "nein", "Der Modus ist jetzt Auto Edit.", "Der Modus bleibt, wie er ist."},
		{protocol.Japanese, "自動モードに切り替えて", "はい", "いいえ", "モードを Auto Edit にしました。", "モードはそのままです。"},
	} {
		for _, typed := range []bool{false, true} {
			say := func(r *room, text string) {
				if typed {
					r.types(text)
				} else {
					r.hears(text)
				}
			}
			begin := func() *room {
				r := newAgentRoom(t, locale(t, c.locale), &choosy{})
				say(r, c.says)
				r.left(ask[c.locale])
				return r
			}
			r := begin()
			say(r, c.yes)
			r.left(ask[c.locale], "mode autoEdit", c.switched)

			r = begin()
			say(r, c.no)
			r.left(ask[c.locale], c.keeps)

			r = begin()
			r.clock.Advance(confirmTime+time.Second, r.d.Drain)
			if r.d.settlesMode(1, csm.Yes, true) {
				t.Errorf("%s: a late yes switches the mode", c.locale)
			}

			r = begin()
			if r.d.settlesMode(1, csm.Content, true) || r.d.settlesMode(1, csm.Yes, true) {
				t.Errorf("%s: a yes to something else switches the mode", c.locale)
			}
		}
	}
}

func TestDoubtedYesDoesNotSwitchTheMode(t *testing.T) {
	r := newAgentRoom(t, protocol.DefaultSettings(), &choosy{})
	const ask = "In the mode Auto Edit the agent acts without asking you. Shall I switch to it? Please say yes or no."
	r.types("switch to auto edit mode")
	r.left(ask)
	if f := r.d.heard(1, 7, Transcript{Text: "yes"}); f.Class != csm.Backchannel { // of no known probability
		t.Fatalf("the yes is not taken: %+v", f)
	}
	r.d.take(7)
	r.left(ask, "The mode stays as it is.")
}

func TestAgentThatCannot(t *testing.T) {
	for says, want := range map[string]string{
		"list the modes": "The agent has no modes.", "switch to plan mode": "The agent has no modes.", "list the models": "The assistant does not list its models.",
		"continue the last session": "The agent lists no earlier sessions for this folder.", "load session 1": "The agent lists no earlier sessions for this folder.",
	} {
		r := newAgentRoom(t, protocol.DefaultSettings(), &choosy{none: true})
		r.types(says)
		r.left(want)
	}
	for err, want := range map[error]string{
		copilot.ErrBusy: "The agent is busy. Say stop first.", &copilot.Error{Code: "agentEnded"}: "The coding agent ended unexpectedly.", context.DeadlineExceeded: "The agent could not do that.",
	} {
		r := newAgentRoom(t, protocol.DefaultSettings(), &choosy{broken: err})
		r.types("continue the last session")
		r.left("load s2", want)
	}
}

// Without modes or sessions, the words are for the assistant. The editor's models are
// in its panel.
func TestAgentCommandsWithoutAnAgent(t *testing.T) {
	r := newRoom(t, protocol.DefaultSettings(), true, "", false)
	for _, says := range []string{"switch to plan mode", "list the sessions", "continue the last session"} {
		if do := r.d.agentCommand(spoken.Classify(says), says); do != nil {
			t.Errorf("%q is a command", says)
		}
	}
	r.types("switch to the model mini")
	r.left("The editor has the list of models. Please choose one in the panel.")
}

func TestAgentThatMayActUnaskedIsAnnounced(t *testing.T) {
	for l, want := range map[protocol.Locale]string{
		protocol.English:  "Codex may act without asking you. Its own settings decide.",
		protocol.German:   "Codex kann handeln, ohne Sie zu fragen. Das legen seine eigenen Einstellungen fest.",
		protocol.Japanese: "Codex は、エージェント側の設定により、確認なしで操作を実行することがあります。",
	} {
		agent := &choosy{}
		r := newAgentRoom(t, locale(t, l), agent)
		agent.answer = func(ctx context.Context, q copilot.Request, emit func(string)) error {
			q.Unasked()
			emit("Hello.")
			return nil
		}
		r.d.assistant.send(csm.SendCopilot{Request: 1}, "")
		r.left(want)
	}
}

// Another assistant is listed and chosen by voice and in writing, in each language. It is checked
// first; a name that is no assistant's is for the assistant.
func TestAssistantCommands(t *testing.T) {
	const switched = "From your next message on, Codex answers."
	for _, c := range []struct {
		says string
		want []string
	}{
		{"which assistants are there", []string{"The assistants are Copilot, Codex, Claude Agent and offline."}},
		{"welche Assistenten gibt es?", []string{"The assistants are Copilot, Codex, Claude Agent and offline."}},
		{"アシスタントの一覧", []string{"The assistants are Copilot, Codex, Claude Agent and offline."}},
		{"switch to codex", []string{switched, "editor keepAssistant 0 [acp:codex-acp]"}},
		{"let code X answer", []string{switched, "editor keepAssistant 0 [acp:codex-acp]"}},
		{"Wechsle zu Codex.", []string{switched, "editor keepAssistant 0 [acp:codex-acp]"}},
		{"Codexに切り替えて", []string{switched, "editor keepAssistant 0 [acp:codex-acp]"}},
		{"switch to Claude", []string{"Claude Agent: The coding agent is not signed in."}},
		{"switch to offline", []string{"From your next message on, Agent Voice answers.", "editor keepAssistant 0 [offline]"}},
		{"switch to kimi", []string{"Kimi Code is not installed."}},
	} {
		r := newRoom(t, protocol.DefaultSettings(), true, "", false, withChoice)
		r.types(c.says)
		r.left(c.want...)
	}
	r := newRoom(t, protocol.DefaultSettings(), true, "", false, withChoice)
	for _, says := range []string{"switch to main", "switch to the other branch", "let the tests answer", "change to kimi code and codex"} {
		if do := r.d.agentCommand(spoken.Classify(says), says); do != nil {
			t.Errorf("%q is a command", says)
		}
	}
}

// withChoice gives a daemon assistants to choose from.
func withChoice(c *Config) {
	c.Choose = func(protocol.Settings, string, bool) copilot.Adapter { return nil }
	c.Assistants = func(s protocol.Settings) ([]protocol.Assistant, string) {
		return []protocol.Assistant{
			{ID: "copilot", Title: "Copilot", Found: true}, {ID: "acp:codex-acp", Title: "Codex", Found: true}, {ID: "acp:claude-agent-acp", Title: "Claude Agent", Found: true},
			{ID: "offline", Title: "Agent Voice", Found: true}, {ID: "acp:kimi", Title: "Kimi Code"},
		}, cmp.Or(s.Agent, protocol.EditorAssistant)
	}
	c.Check = func(_ context.Context, _ protocol.Settings, id, _ string) error {
		if id == "acp:claude-agent-acp" {
			return &copilot.Error{Code: string(csm.CodeAgentSignIn)}
		}
		return nil
	}
}
