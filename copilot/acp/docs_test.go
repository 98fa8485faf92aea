package acp

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

var rewrite = flag.Bool("update", false, "write the table into the documentation")

// cell describes a real agent's behaviour and names the tests with that agent that verify
// it; without tests it is unverified.
type cell struct {
	says  string
	tests string
}

var notRun = cell{"not run", ""}

// ran lists the columns of the table: the agents of scripts/agents.sh, and the files with
// their tests.
var ran = []struct{ agent, title, file string }{
	{"codex-acp", "codex-acp", "agent_codex_test.go"}, {"gemini", "Gemini CLI", "agent_gemini_test.go"},
	{"opencode", "opencode", "agent_opencode_test.go"}, {"kilo", "Kilo", "agent_opencode_test.go"},
}

// features lists the rows, each with a cell per agent.
var features = []struct {
	name  string
	cells [4]cell
}{
	{"question, answer read aloud while it comes", [4]cell{
		{"yes", "TestCodexBySpeech TestCodexByText"}, {"yes", "TestGeminiByText"},
		{"yes", "TestOpencodeByText"}, {"yes", "TestKiloByText"},
	}},
	{"tool allowed", [4]cell{
		{"by voice, and by click", "TestCodexBySpeech TestCodexByText"}, {"by click; the command stands in the title only", "TestGeminiByText"},
		{"by click", "TestOpencodeByText"}, {"by click, in its mode code", "TestKiloByText"},
	}},
	{"tool refused", [4]cell{
		{"by voice; Codex ends its answer then", "TestCodexBySpeech"}, {"by click", "TestGeminiByText"},
		{"by click; the question names the folder in which a command runs", "TestOpencodeByText"}, {"by click; the question names the folder in which a command runs", "TestKiloByText"},
	}},
	{"\"why\"", [4]cell{
		{"reads what it said before", "TestCodexByText"}, {"reads the reason of the call", "TestGeminiByText"},
		{"reads the reason of the call", "TestOpencodeByText"}, {"reads the reason of the call", "TestKiloByText"},
	}},
	{"answer interrupted", [4]cell{
		{"by voice", "TestCodexBySpeech"}, {"by click", "TestGeminiByText"},
		{"by click", "TestOpencodeByText"}, {"by click", "TestKiloByText"},
	}},
	{"cancelled while a permission is pending", [4]cell{
		{"yes: the tool does not run, and the next question is answered", "TestCodexByText"},
		{"yes: the tool does not run, and the next question is answered", "TestGeminiByText"},
		{"yes: the tool does not run, and the next question is answered", "TestOpencodeByText"},
		{"yes: the tool does not run, and the next question is answered", "TestKiloByText"},
	}},
	{"agent killed, idle and in the middle of an answer", [4]cell{
		{"yes: explained, and started again", "TestCodexKilled"}, notRun,
		notRun, notRun,
	}},
	{"daemon killed", [4]cell{
		{"the agent ends too", "TestCodexKilled"}, notRun,
		notRun, notRun,
	}},
	{"modes", [4]cell{
		{"Read-only, Workspace access, Auto review, Full access", "TestCodexChoices"}, {"Default, Auto Edit, YOLO, Plan", "TestGeminiChoices"},
		{"build, plan", "TestOpencodeChoices"}, {"code, ask, debug, orchestrator, plan", "TestKiloChoices"},
	}},
	{"announced as one that may act unasked", [4]cell{
		{"not there: it has a mode that asks", "TestCodexChoices"}, {"not there: it has a mode that asks", "TestGeminiChoices"},
		{"yes", "TestOpencodeChoices"}, {"not there: it begins in ask", "TestKiloChoices"},
	}},
	{"models", [4]cell{
		{"listed and switched", "TestCodexChoices"}, {"switched", "TestGeminiChoices"},
		{"listed and switched", "TestOpencodeChoices"}, {"listed and switched", "TestKiloChoices"},
	}},
	{"sessions", [4]cell{
		{"listed, continued", "TestCodexChoices"}, {"not there: it lists none", "TestGeminiChoices"},
		{"listed, continued", "TestOpencodeChoices"}, {"listed, continued", "TestKiloChoices"},
	}},
	{"its own questions", [4]cell{
		notRun, notRun,
		notRun, {"asked; the answer is its next prompt", "TestKiloChoices"},
	}},
}

// The documentation shows the table with the versions that the script pins, and each
// non-empty cell names tests with that agent.
//
//test:documents
func TestTableOfAgents(t *testing.T) {
	script, err := os.ReadFile("../../scripts/agents.sh")
	if err != nil {
		t.Fatal(err)
	}
	head, line := "|", "| ---"
	for _, c := range ran {
		m := regexp.MustCompile(`(?m)^  ` + c.agent + `\)\n.* version=([0-9.]+) `).FindSubmatch(script)
		if m == nil {
			t.Fatalf("scripts/agents.sh pins no version of %s", c.agent)
		}
		if k, _ := KnownAgent(c.agent); k.Tried == nil || k.Tried.As != Conversation || k.Tried.Version != string(m[1]) {
			t.Errorf("agents.json says that %s was tried as %v, and scripts/agents.sh pins %s", c.agent, k.Tried, m[1])
		}
		head += fmt.Sprintf(" | %s %s", c.title, m[1])
		line += " | ---"
	}
	table := head + " |\n" + line + " |\n"
	used := map[string]bool{}
	for _, f := range features {
		table += "| " + f.name
		for i, c := range f.cells {
			table += " | " + c.says
			source, err := os.ReadFile("../../cmd/agentvoice-daemon/" + ran[i].file)
			if err != nil {
				t.Fatal(err)
			}
			if (c.tests == "") != (c == notRun) {
				t.Errorf("%s, %s: %q is shown by %q", f.name, ran[i].agent, c.says, c.tests)
			}
			for _, test := range strings.Fields(c.tests) {
				used[test] = true
				if !strings.Contains(string(source), "\nfunc "+test+"(t *testing.T) {") {
					t.Errorf("%s, %s: there is no %s", f.name, ran[i].agent, test)
				}
			}
			for _, m := range regexp.MustCompile(`\nfunc (Test\w+)\(t`).FindAllSubmatch(source, -1) {
				if name := string(m[1]); !used[name] && f.name == features[len(features)-1].name {
					t.Errorf("%s of %s has no cell", name, ran[i].agent)
				}
			}
		}
		table += " |\n"
	}
	documented(t, "table", table)
}

// The documentation lists the known agents as the program knows them.
//
//test:documents
func TestListOfAgents(t *testing.T) {
	table := "| Name | Agent, licence | Install | Sign in | Begins in | Tried |\n| --- | --- | --- | --- | --- | --- |\n"
	dash := func(s string) string { return cmp.Or(s, "-") }
	for _, k := range Agents {
		install := "see its page"
		if k.Install != "" {
			install = "`" + k.Install + "`"
		}
		if k.Needs != "" {
			install += ", with " + k.Needs + " or later"
		}
		tried := "not tried here"
		if k.Tried != nil {
			tried = fmt.Sprintf("%s, %s: %s", k.Tried.Version, k.Tried.Day, trials[k.Tried.As])
		}
		table += fmt.Sprintf("| `%s` | [%s](%s), %s | %s | %s | %s | %s |\n", k.Name, k.Title, k.Page, k.Licence, install, dash(k.SignIn), dash(k.Mode), tried)
	}
	documented(t, "agents", table)
}

// The lockfile of Codex is that of the version which the script names, and pins each package.
//
//test:documents
func TestLockfileOfCodex(t *testing.T) {
	data, err := os.ReadFile("../../scripts/agents/codex-acp/package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	var lock struct {
		Packages map[string]struct{ Version, Integrity string }
	}
	if err := json.Unmarshal(data, &lock); err != nil {
		t.Fatal(err)
	}
	k, _ := KnownAgent("codex-acp")
	if got := lock.Packages["node_modules/@agentclientprotocol/codex-acp"].Version; got != k.Tried.Version {
		t.Errorf("the lockfile has version %q, want %q", got, k.Tried.Version)
	}
	for name, p := range lock.Packages {
		if name != "" && !strings.HasPrefix(p.Integrity, "sha512-") {
			t.Errorf("%s is not pinned by its hash", name)
		}
	}
}

// documented compares a table with its place in the documentation, or writes it there.
func documented(t *testing.T, name, table string) {
	t.Helper()
	const file = "../../docs/agents.md"
	begin, end := "<!-- "+name+" -->\n", "<!-- end of "+name+" -->"
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(page), begin)
	_, after, ends := strings.Cut(rest, end)
	if !ok || !ends {
		t.Fatalf("%s has no place for the %s", file, name)
	}
	want := before + begin + table + end + after
	switch {
	case *rewrite:
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	case want != string(page):
		t.Errorf("%s does not have the %s as it is; run go test ./copilot/acp -run 'Table|List' -update", file, name)
	}
}
