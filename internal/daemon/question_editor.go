package daemon

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/copilot/spoken"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// editorInput is the part of an editor tool's input that a question mentions.
type editorInput struct {
	Path    string       `json:"path"`
	Symbol  string       `json:"symbol"`
	NewName string       `json:"newName"`
	Line    int          `json:"line"`
	Text    string       `json:"text"`
	Task    string       `json:"task"`
	Create  bool         `json:"create"`
	Edits   []editorEdit `json:"edits"`
	Files   []string     `json:"files"`
	// Protected are the changed files that something acts on unasked, Click that the call
	// may run more than it says.
	Protected []string `json:"protected"`
	Click     bool     `json:"click"`
}

// editorEdit is a text in a file and its replacement.
type editorEdit struct {
	OldText string `json:"oldText"`
	NewText string `json:"newText"`
}

// Kinds of edits that have their own question.
const (
	createFile = "create"
	editPlaces = "places"
)

// editorQuestions are the questions about the editor's tools, by tool and locale. All
// take the arguments of editorArguments.
var editorQuestions = map[string]map[protocol.Locale]string{
	"editor_open":            says("May I open %s?", "Darf ich %s öffnen?", "%s を開いてもよろしいですか。"),
	"editor_go_to_line":      says("May I go to line %s?", "Darf ich zu Zeile %s gehen?", "%s 行に移動してもよろしいですか。"),
	"editor_next_problem":    says("May I go to the next problem?", "Darf ich zum nächsten Problem gehen?", "次の問題に移動してもよろしいですか。"),
	"editor_read_problems":   says("May I read the problems?", "Darf ich die Probleme lesen?", "問題の一覧を読んでもよろしいですか。"),
	"editor_search":          says("May I search the workspace for %s?", "Darf ich im Arbeitsbereich nach %s suchen?", "ワークスペースで %s を検索してもよろしいですか。"),
	"editor_read_file":       says("May I read %s?", "Darf ich %s lesen?", "%s を読んでもよろしいですか。"),
	"editor_list_files":      says("May I list the files?", "Darf ich die Dateien auflisten?", "ファイルの一覧を見てもよろしいですか。"),
	"editor_git_status":      says("May I read the state of Git?", "Darf ich den Stand von Git lesen?", "Git の状態を読んでもよろしいですか。"),
	"editor_git_diff":        says("May I read the changes in Git?", "Darf ich die Änderungen in Git lesen?", "Git の変更を読んでもよろしいですか。"),
	"editor_apply_edit":      says("May I change %s?", "Darf ich %s ändern?", "%s を変更してもよろしいですか。"),
	editPlaces:               says("May I change %s in %s places?", "Darf ich %s an %s Stellen ändern?", "%s を %s か所変更してもよろしいですか。"),
	createFile:               says("May I create %s?", "Darf ich %s anlegen?", "%s を作成してもよろしいですか。"),
	"editor_rename_symbol":   says("May I rename %s to %s?", "Darf ich %s in %s umbenennen?", "%s の名前を %s に変更してもよろしいですか。"),
	"editor_rename_symbol s": says("May I rename %s to %s, in %s files?", "Darf ich %s in %s umbenennen, in %s Dateien?", "%s の名前を %s に変更してもよろしいですか。%s 個のファイルが変わります。"),
	"editor_run_tests":       says("May I run the tests?", "Darf ich die Tests ausführen?", "テストを実行してもよろしいですか。"),
	"editor_run_task":        says("May I run the task %s?", "Darf ich die Aufgabe %s ausführen?", "タスク %s を実行してもよろしいですか。"),
	"editor_run_command":     says("May I run a command?", "Darf ich einen Befehl ausführen?", "コマンドを実行してもよろしいですか。"),
}

// readingTools are the editor's tools that change nothing.
var readingTools = map[string]bool{
	"editor_open": true, "editor_go_to_line": true, "editor_next_problem": true, "editor_read_problems": true, "editor_search": true,
	"editor_read_file": true, "editor_list_files": true, "editor_git_status": true, "editor_git_diff": true,
}

// reads reports whether a call is known to change nothing. What a tool of somebody else does is
// not known.
func reads(call copilot.ToolCall) bool {
	_, own := editorInputOf(call)
	return own && readingTools[call.Name]
}

// editorQuestion returns the question about a call of an editor tool, from its input,
// or "" for other tools. shown says that the editor displays the change meanwhile.
func (d *Daemon) editorQuestion(call copilot.ToolCall) (question string, shown bool) {
	in, ok := editorInputOf(call)
	if !ok {
		return "", false
	}
	file, number := clipSpoken(baseName(in.Path)), func(n int) string { return fmt.Sprint(n) }
	name, args := call.Name, []string{}
	switch call.Name {
	case "editor_open":
		args = []string{file}
		if in.Symbol != "" {
			args = []string{clipSpoken(in.Symbol)}
		}
	case "editor_go_to_line":
		args = []string{number(in.Line)}
	case "editor_search":
		args = []string{clipSpoken(in.Text)}
	case "editor_read_file":
		args = []string{file}
	case "editor_apply_edit":
		shown, args = true, []string{file}
		switch {
		case in.Create:
			name = createFile
		case len(in.Edits) > 1:
			name, args = editPlaces, []string{file, number(len(in.Edits))}
		}
	case "editor_rename_symbol":
		shown, args = true, []string{clipSpoken(in.Symbol), clipSpoken(in.NewName)}
		if len(in.Files) > 1 {
			name, args = "editor_rename_symbol s", append(args, number(len(in.Files)))
		}
	case "editor_run_tests":
		if in.Task != "" {
			name, args = "editor_run_task", []string{clipSpoken(in.Task)}
		}
	case "editor_run_task":
		args = []string{clipSpoken(in.Task)}
	}
	values := make([]any, len(args))
	for i, a := range args {
		if a == "" {
			return "", shown // the generic question suffices
		}
		values[i] = a
	}
	return fmt.Sprintf(editorQuestions[name][d.locale()], values...), shown
}

// editorInputOf parses the input of an editor tool; ok is false for other tools, and for calls
// that a coding agent runs under the same name.
func editorInputOf(call copilot.ToolCall) (in editorInput, ok bool) {
	if ofAgent(call) || editorQuestions[call.Name] == nil {
		return in, false
	}
	return in, json.Unmarshal(call.Input, &in) == nil
}

// readChange returns the first change of a call in spoken form. It includes the code,
// whatever the settings say about code. Without a change, it returns the question
// again.
func (d *Daemon) readChange(id uint64) string {
	call, known := d.content.call(id)
	in, own := editorInputOf(call.ToolCall)
	if !known || !own || len(in.Edits) == 0 {
		return d.question(id)
	}
	diff := "```diff\n" + marked("-", in.Edits[0].OldText) + marked("+", in.Edits[0].NewText) + "```\n"
	how := d.spokenAs()
	how.Code = spoken.ReadCodeFull
	c := spoken.New(how)
	var read []string
	for _, seg := range append(c.Push(diff), c.Flush()...) {
		read = append(read, seg.Text)
	}
	return strings.Join(read, " ")
}

// maxReadChange limits each side of a change that is read aloud, in bytes.
const maxReadChange = 2000

// marked puts a mark before each line of one side of a change.
func marked(mark, text string) string {
	if text == "" {
		return ""
	}
	text = strings.TrimSuffix(text[:min(len(text), maxReadChange)], "\n")
	return mark + strings.ReplaceAll(text, "\n", "\n"+mark) + "\n"
}

// aboutChange reads the proposed change aloud, or has the editor show it.
func (d *Daemon) aboutChange(utterance, call uint64, show bool) csm.Class {
	d.wish(utterance, wish{do: func() { d.say(d.readChange(call)) }})
	if known, ok := d.content.call(call); ok && show && d.cfg.Editor != nil {
		p := protocol.EditorCommandParams{Command: protocol.EditorShowChange, Names: []string{known.ID}}
		d.wish(utterance, wish{do: func() { d.askEditor(p, func() {}) }})
	}
	return d.beside()
}
