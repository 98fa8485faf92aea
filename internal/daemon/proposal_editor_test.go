package daemon

import (
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/copilot/spoken"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// What the editor's tools say about a call decides how it can be allowed: protected files
// are named with their folders, and need a click, as does a task that cannot be resolved.
func TestCallsOfTheEditorThatNeedAClick(t *testing.T) {
	no := false
	for _, c := range []struct{ locale, tool, input, want string }{
		{"en", "editor_apply_edit", `{"path":".vscode/tasks.json","edits":[{"oldText":"a","newText":"b"}],"protected":[".vscode/tasks.json"]}`,
			"May I change tasks.json? Programs or assistants act on it unasked: tasks.json in the folder .vscode. The editor shows the change; to hear the first one, say read it. To allow it, click Allow once in the panel; if not, say no."},
		{"en", "editor_apply_edit", `{"path":"package.json","edits":[{"oldText":"a","newText":"b"}],"protected":["package.json"]}`,
			"May I change package.json? Programs or assistants act on it unasked: package.json. The editor shows the change; to hear the first one, say read it. To allow it, click Allow once in the panel; if not, say no."},
		{"de", "editor_apply_edit", `{"path":"a/.git/hooks/pre-commit","create":true,"edits":[{"oldText":"","newText":"b"}],"protected":["a/.git/hooks/pre-commit"]}`,
			"Darf ich pre-commit anlegen? Programme oder Assistenten richten sich ungefragt danach: pre-commit im Ordner a .git hooks. Der Editor zeigt die Änderung; um die erste zu hören, sagen Sie: lies es vor. Wenn ich darf, klicken Sie in der Ansicht auf „Einmal erlauben“, sonst sagen Sie nein."},
		{"ja", "editor_rename_symbol", `{"symbol":"a","newName":"b","files":["a.ts","x/y/z/w/.husky/_/q/run.ts"],"protected":["x/y/z/w/.husky/_/q/run.ts"]}`,
			"a の名前を b に変更してもよろしいですか。2 個のファイルが変わります。プログラムやアシスタントが確認なしに従うファイルです: フォルダー .husky _ q の run.ts。変更はエディターに表示されています。読んで、と言うと最初の変更を読み上げます。許可する場合はパネルの「今回のみ許可」をクリックし、しない場合は「いいえ」と言ってください。"},
		{"en", "editor_run_task", `{"task":"watch","click":true}`,
			"May I run the task watch? I can’t tell everything it would do. To allow it, click Allow once in the panel; if not, say no."},
	} {
		d := newIdle(t, func(s *protocol.Settings) { s.Locale = c.locale })
		call := copilot.ToolCall{Name: c.tool, Input: []byte(c.input), Destructive: &no}
		if got := d.ask(call); got != c.want {
			t.Errorf("%s %s:\n%s, want\n%s", c.tool, c.input, got, c.want)
		}
		if p := proposalOf(call); !p.click || !d.content.destructive(call) {
			t.Errorf("%s %s: %+v can be allowed by voice", c.tool, c.input, p)
		}
		for _, words := range []string{"yes, run it", "yes, change it", "yes, change tasks.json", "yes, run watch"} {
			if f := answerTo(spoken.Default, call, words, Certain(words)); f.Class == csm.Yes && f.Named {
				t.Errorf("%s: %q allows a call that needs a click", c.input, words)
			}
		}
	}
}

// The folder and the scripts of a command are for the panel: the question names the
// command. A tool of somebody else gets no such trust.
func TestResolvedMembersOfTheEditorsTools(t *testing.T) {
	no := false
	const input = `{"command":"npm test","folder":"/home/me/sums","scripts":{"test":"node --test","pretest":"rm -r build"}}`
	d := newIdle(t, nil)
	const want = "Yes or no: May I run the tests? It would run npm test."
	if got := d.ask(copilot.ToolCall{Name: "editor_run_tests", Input: []byte(input), Destructive: &no}); got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
	if got := d.ask(copilot.ToolCall{Name: "runTests", Input: []byte(input), Destructive: &no}); !strings.Contains(got, "The panel shows the whole call.") {
		t.Errorf("members of another tool's call are not mentioned: %s", got)
	}
	for _, c := range []struct{ input, want string }{
		{`{"task":"check","command":"make check","folder":"/home/me/sums"}`, "Yes or no: May I run the task check? It would run make check."},
		{`{"task":"vet","command":"go","args":["vet","./..."],"folder":"/home/me/sums/sub"}`, "Yes or no: May I run the task vet? It would run go vet. The panel shows the whole call."},
	} {
		if got := d.ask(copilot.ToolCall{Name: "editor_run_tests", Input: []byte(c.input), Destructive: &no}); got != c.want {
			t.Errorf("%s:\n%s, want\n%s", c.input, got, c.want)
		}
	}
	for locale, want := range map[string]string{
		"en": "Yes or no: May I run the tests? It would run npm test. In the folder “back end”.",
		"de": "Ja oder nein: Darf ich die Tests ausführen? Es würde npm test ausführen. Im Ordner “back end”.",
		"ja": "フォルダー “back end” で行います。",
	} {
		d := newIdle(t, func(s *protocol.Settings) { s.Locale = locale })
		got := d.ask(copilot.ToolCall{Name: "editor_run_tests", Input: []byte(`{"command":"npm test","folder":"/home/me/back","workspaceFolder":"back end"}`), Destructive: &no})
		if !strings.Contains(got, want) {
			t.Errorf("with several folders open: %s, want\n%s", got, want)
		}
	}
	edit := copilot.ToolCall{Name: "editor_apply_edit", Input: []byte(`{"path":"back/parser.go","edits":[{"oldText":"a","newText":"b"}],"workspaceFolder":"back"}`), Destructive: &no}
	if got := d.ask(edit); !strings.HasPrefix(got, "Yes or no: May I change parser.go? In the folder “back”.") {
		t.Errorf("a change with several folders open: %s", got)
	}
	first := copilot.ToolCall{Name: "editor_run_task", Input: []byte(`{"task":"check","command":"go vet","first":[{"task":"clean","command":"rm -r build"}]}`), Destructive: &no}
	if got := d.ask(first); !strings.Contains(got, "rm") || !d.content.destructive(first) {
		t.Errorf("what a task runs first is not named: %s", got)
	}
}
