package daemon

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// idle is a world in which nothing happens.
type idle struct{}

func (idle) Execute(csm.Effect)          {}
func (idle) Configure(protocol.Settings) {}
func (idle) Close() error                { return nil }

func newIdle(t *testing.T, change func(*protocol.Settings)) *Daemon {
	t.Helper()
	set := protocol.DefaultSettings()
	if change != nil {
		change(&set)
	}
	return New(Config{Clock: &dispatch.Virtual{}, Settings: set, World: func(Port) World { return idle{} }})
}

func TestQuestionsNameToolAndObject(t *testing.T) {
	no := false
	for _, c := range []struct {
		locale, tool, input string
		destructive         *bool
		want                string
	}{
		{"en", "runTests", `{"filePath":"/home/user/a/parser_test.go"}`, &no, "May I use the tool run tests on parser_test.go? Please say yes or no."},
		{"en", "copilot_runInTerminal", `{"command":"rm -rf build && echo done","explanation":"cleans up"}`, nil,
			"May I use the tool run in terminal on rm? It may not be possible to undo it. To allow it, say “yes, run”; if not, say no."},
		{"en", "deploy", `{"command":"sudo /usr/sbin/reboot now"}`, nil,
			"May I use the tool deploy on sudo reboot? It may not be possible to undo it. To allow it, say “yes, send”; if not, say no."},
		{"en", "fetchPage", `{"urls":["https://example.com/a?token=secret"]}`, &no, "May I use the tool fetch page on example.com? Please say yes or no."},
		{"en", "think", `"not an object"`, &no, "May I use the tool think? Please say yes or no."},
		{"de", "delete_file", `{"path":"C:\\Users\\me\\alt.txt"}`, nil,
			"Darf ich das Werkzeug delete file für alt.txt benutzen? Das lässt sich vielleicht nicht rückgängig machen. Sagen Sie „ja, löschen“, wenn ich darf, sonst nein."},
		{"ja", "delete_file", `{"path":"old.txt"}`, &no, "ツール delete file を old.txt に使ってもよろしいですか。「はい」か「いいえ」でお答えください。"},
	} {
		d := newIdle(t, func(s *protocol.Settings) { s.Locale = c.locale })
		id := d.content.newCall(1, copilot.ToolCall{ID: "c", Name: c.tool, Input: []byte(c.input), Destructive: c.destructive})
		if got := d.question(id); got != c.want {
			t.Errorf("%s %s:\n%s, want\n%s", c.tool, c.input, got, c.want)
		}
	}
}

// However long the input is and whatever is in it, the question is short, and says
// nothing that could be taken for the daemon's own words.
func TestQuestionsAreShort(t *testing.T) {
	d := newIdle(t, nil)
	id := d.content.newCall(1, copilot.ToolCall{
		ID: "c", Name: strings.Repeat("veryLongName", 40), Input: []byte(`{"path":"/a/` + strings.Repeat("x", 5000) + `\"? Just say yes!\n"}`),
	})
	q := d.question(id)
	if n := utf8.RuneCountInString(q); n > 240 || strings.ContainsAny(q, "!\n") {
		t.Errorf("%d characters: %s", n, q)
	}
}

// A yes that names the action is one that counts; anything else that is said with
// a yes is content.
func TestAnswersToAQuestion(t *testing.T) {
	call := copilot.ToolCall{Name: "delete_file", Input: []byte(`{"path":"old.txt"}`)}
	for text, want := range map[string]struct {
		class csm.Class
		named bool
	}{
		"Yes, delete it.":                 {csm.Yes, true},
		"yes delete the file old txt":     {csm.Yes, true},
		"Delete it, yes please":           {csm.Yes, true},
		"Yes, the file old.txt":           {csm.Yes, false},
		"Ja, löschen.":                    {csm.Yes, true},
		"ja bitte lösche die Datei":       {csm.Yes, true},
		"はい、削除してください":                     {csm.Yes, true},
		"はい削除":                            {csm.Yes, true},
		"No, do not delete it":            {csm.No, false},
		"Nein, die Datei nicht":           {csm.Content, false},
		"delete it":                       {csm.Content, false},
		"Yes, but run the tests first":    {csm.Content, false},
		"yes delete everything":           {csm.Content, false},
		"what does the file hold":         {csm.Content, false},
		"I said yes to the deletion once": {csm.Content, false},
	} {
		if class, named := answerTo(call, text); class != want.class || named != want.named {
			t.Errorf("%q: class %d, named %v; want %d, %v", text, class, named, want.class, want.named)
		}
	}
}

func TestCutPhrase(t *testing.T) {
	for _, c := range []struct{ text, phrase, want string }{
		{"Explain the parser, send it.", "send it", "Explain the parser"},
		{"What is this? Send it!", "send it", "What is this?"},
		{"send it", "Send it", ""},
		{"Erkläre den Parser abschicken", "abschicken", "Erkläre den Parser"},
		{"パーサーを説明して、送信。", "送信", "パーサーを説明して"},
		{"パーサーを説明して送信", "送信", "パーサーを説明して"},
	} {
		if got, said := cutPhrase(c.text, c.phrase); !said || got != c.want {
			t.Errorf("%q: %q, %v; want %q", c.text, got, said, c.want)
		}
	}
	for _, text := range []string{"", "it", "send it to the server", "resend it", "I will not send"} {
		if rest, said := cutPhrase(text, "send it"); said {
			t.Errorf("%q was cut to %q", text, rest)
		}
	}
}

// Classes that the core counts on, with and without a question.
func TestHeardClassifies(t *testing.T) {
	d := newIdle(t, nil)
	for text, want := range map[string]csm.Class{
		"": csm.Empty, "mm-hm": csm.Backchannel, "Stop!": csm.Stop, "Yes.": csm.Yes, "Nein.": csm.No, "open the config": csm.Content,
		"send it": csm.Content, // the phrase is none in this mode
	} {
		if f := d.heard(1, 1, text, 1); f.Class != want || f.Named {
			t.Errorf("%q: %+v, want class %d", text, f, want)
		}
	}
	for text, want := range map[string]bool{"the us": true, "stop": false, "hold on": false, "yes": false, "mm-hm": false, "": false} {
		if f := d.heard(1, 1, text, 0.1); f.Doubted != want {
			t.Errorf("%q, with a confidence of 0.1: %+v", text, f)
		}
	}
	if f := d.heard(1, 1, "the us", 0.3); f.Doubted {
		t.Errorf("with a confidence of 0.3: %+v", f)
	}
	for text, want := range map[string]csm.Partial{
		"the": {}, "the cache": {Words: 2}, "mm-hm": {Words: 1, Class: csm.Backchannel}, // of a cough is made "the", too
	} {
		if p := d.heardPartly(0, 0, text); p != want {
			t.Errorf("%q so far: %+v, want %+v", text, p, want)
		}
	}
	phrase := newIdle(t, func(s *protocol.Settings) {
		s.TurnDetection.Mode, s.TurnDetection.SendPhrase = protocol.TurnPhrase, "over and out"
	})
	if f := phrase.heard(1, 7, "Explain the parser. Over and out.", 1); f.Class != csm.Send || f.Words != 3 || phrase.content.utterance(7) != "Explain the parser." {
		t.Errorf("%+v of %q", f, phrase.content.utterance(7))
	}
}
