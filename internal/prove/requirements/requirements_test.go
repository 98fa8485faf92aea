package requirements

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/internal/memo"
)

func TestParse(t *testing.T) {
	list, problems := parse("list.txt", `# a comment
== 002: states

REQ-002  Idle becomes Preparing only with a session.
    proved csm:TestStart/late under no-session,
        no-audio
    also   extension/test/acceptance.test.ts "AC-001"
003.guard.ready  What follows ready.
    proved scenario start/late-audio under guard-open
    owed   the registry
== 002: constraints
CON-001  It runs in the extension host.
    superseded it runs in the daemon
`)
	if len(problems) > 0 || len(list) != 3 {
		t.Fatalf("%d requirements, problems %q", len(list), problems)
	}
	r := list[0]
	if p := r.proofs[0]; r.id != "REQ-002" || r.group != "002: states" || p.pkg != "csm" || p.test != "TestStart/late" || !slices.Equal(p.mut, []string{"no-session", "no-audio"}) {
		t.Errorf("the first is %+v", r)
	}
	if m := r.also[0]; m.path != "extension/test/acceptance.test.ts" || m.text != "AC-001" {
		t.Errorf("the mention is %+v", m)
	}
	if p := list[1].proofs[0]; p.pkg != scenarioPkg || p.test != "TestScenarios/start.txt" || p.name != "start/late-audio" {
		t.Errorf("the scenario is %+v", p)
	}
	for i, want := range []string{proved, owed, superseded} {
		if got := list[i].status(); got != want {
			t.Errorf("%s is %s, want %s", list[i].id, got, want)
		}
	}
	if got := summary(list); got != "requirements: 1 proved, 1 owed, 1 superseded of 3" {
		t.Error(got)
	}
}

func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"REQ-001  Ten states.":                                      "list.txt:1: REQ-001 has no status; add a line: proved",
		"REQ-001  Ten states.\n  owed":                              "list.txt:2: REQ-001: owed without a description of what is missing",
		"REQ-001  Ten states.\n  superseded":                        "REQ-001: superseded without a reason",
		"REQ-001  Ten states.\n  proved csm:TestX":                  "names no mutant",
		"REQ-001  Ten states.\n  proved csm:TestX under":            "names no mutant",
		"REQ-001  Ten states.\n  proved TestX under m":              "neither PACKAGE:TestName nor scenario NAME",
		"REQ-001  Ten states.\n  done":                              "starts with none of proved, also, owed, superseded, about",
		"REQ-001  Ten states.\n  also file.ts AC-001":               "is not of the form: also FILE",
		"REQ-001  Ten states.\n  owed a\nREQ-001  Again.\n  owed b": "list.txt:3: REQ-001 is already on line 1",
		"REQ-001  Ten states.\n  superseded a\n  owed b":            "REQ-001 is superseded, but also proved or owed",
		"  owed a":  "neither a group",
		"something": "neither a group",
	} {
		_, problems := parse("list.txt", text)
		if !strings.Contains(strings.Join(problems, "\n"), want) {
			t.Errorf("%q: %q, want %q", text, problems, want)
		}
	}
}

// TestTheCoreAloneProvesNothingOfTheProduct: of two requirements with the same proof,
// the one about the product is rejected until a live test proves it.
func TestTheCoreAloneProvesNothingOfTheProduct(t *testing.T) {
	const text = `== one
about product
REQ-001  It speaks.
    proved csm:TestX under m
REQ-002  The table has a row.
    about  core
    proved csm:TestX under m
REQ-003  It listens.
    proved csm:TestX under m
    also   internal/daemon/live/loop_test.go "func TestX"
REQ-004  It waits.
    proved internal/daemon/rpc:TestX under m
    also   extension/test/acceptance.test.ts "AC-001"
REQ-005  It ends.
    proved csm:TestX under m
    owed   a live test
REQ-006  It is shown.
    proved csm:TestX under m
    also   extension/test/conversation.test.ts "start leads"
== two
REQ-007  Nobody says.
    owed   all
`
	list, problems := parse("list.txt", text)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	got := strings.Join(atTheProduct(list), "\n")
	for id, want := range map[string]string{
		"REQ-001": "its proofs run core; add one", "REQ-002": "", "REQ-003": "", "REQ-004": "its proofs run headless; add one",
		"REQ-005": "", "REQ-006": "", "REQ-007": "does not say what it is about",
	} {
		if want == "" && strings.Contains(got, id) || !strings.Contains(got, want) {
			t.Errorf("%s: want %q in\n%s", id, want, got)
		}
	}
}

func TestAnIDThatTheListLeavesOutIsFound(t *testing.T) {
	list, _ := parse("list.txt", "REQ-001  Ten states.\n  owed all")
	if p := missing(list, []string{"REQ-001", "REQ-002"}); len(p) != 1 || !strings.Contains(p[0], "REQ-002 is not in the list") {
		t.Errorf("%q", p)
	}
	want := expected()
	for _, id := range []string{"REQ-010", "AC-008", "000.4.10", "003.guard.error", "003.status.turn_error", "004.state.callingTool", "004.retry.search"} {
		if !slices.Contains(want, id) {
			t.Errorf("%s is unexpected", id)
		}
	}
}

// module creates a project with one package and one function, a test that checks it,
// one that does not, and a mutant.
func module(t *testing.T, list string) string {
	t.Helper()
	t.Setenv(memo.FolderEnv, t.TempDir())
	t.Setenv(memo.FreshEnv, "")
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":       "module example.org/m\n\ngo 1.26\n",
		"door/door.go": "package door\n\n// Open says whether the door is.\nfunc Open() bool { return true }\n",
		"door/door_test.go": `package door

import "testing"

func TestOpen(t *testing.T) {
	t.Run("now", func(t *testing.T) {
		if !Open() {
			t.Fatal("closed")
		}
	})
}

func TestNothing(t *testing.T) {}
`,
		listFile:                   list,
		seededFile:                 "# none\n",
		aroundFile:                 "mutant door-closed\nbreaks door\nfile   door/door.go\nkind   expr\n--- original\nreturn true\n--- mutated\nreturn false\n---\n",
		scenarioDir + "/start.txt": "# It starts.\nproves: REQ-001\nuser starts\n",
	} {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// problemsOf checks a list against the project above, and runs its proofs if there
// are no other problems.
func problemsOf(t *testing.T, root string) (problems []string, said string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(listFile)))
	if err != nil {
		t.Fatal(err)
	}
	list, problems := parse(listFile, string(text))
	w, err := look(root, list)
	if err != nil {
		t.Fatal(err)
	}
	if problems = append(problems, w.check(list)...); len(problems) > 0 {
		return problems, ""
	}
	var out strings.Builder
	problems, err = prove(root, filepath.Join(root, "out"), 1, list, w, &out)
	if err != nil {
		t.Fatal(err)
	}
	return problems, out.String()
}

func TestInvalidProofs(t *testing.T) {
	for _, c := range []struct{ name, proof, want string }{
		{"no such test", "door:TestClosed under door-closed", "no test TestClosed in door"},
		{"no such package", "window:TestOpen under door-closed", "no test TestOpen in window"},
		{"no such subtest", "door:TestOpen/later under door-closed", "door:TestOpen/later does not run: no such subtest"},
		{"no such mutant", "door:TestOpen under door-gone", "no mutant door-gone in testdata/mutants/seeded.txt"},
		{"no such scenario", "scenario stop under door-closed", "no scenario stop in testdata/csm"},
		{"the mutant is not caught", "door:TestNothing under door-closed", "door:TestNothing under the mutant door-closed passes, so it proves nothing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			problems, _ := problemsOf(t, module(t, "REQ-001  The door is open.\n    proved "+c.proof+"\n"))
			if len(problems) != 1 || !strings.Contains(problems[0], "requirements.txt:2: REQ-001: ") || !strings.Contains(problems[0], c.want) {
				t.Errorf("%q, want one with %q", problems, c.want)
			}
		})
	}
}

// A proof that fails without a mutant says why.
func TestRedProof(t *testing.T) {
	root := module(t, "REQ-001  The door is open.\n    proved door:TestRed under door-closed\n")
	if err := os.WriteFile(filepath.Join(root, "door", "red_test.go"), []byte("package door\n\nimport \"testing\"\n\nfunc TestRed(t *testing.T) { t.Error(\"the hinge squeaks\") }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	problems, _ := problemsOf(t, root)
	if said := strings.Join(problems, "\n"); !strings.Contains(said, "door:TestRed does not pass without a mutant") || !strings.Contains(said, "red_test.go:5: the hinge squeaks") {
		t.Errorf("%q", problems)
	}
}

func TestMissingMention(t *testing.T) {
	problems, _ := problemsOf(t, module(t, "REQ-001  The door is open.\n    owed hinges\n    also door/door.go \"func Close\"\n"))
	if len(problems) != 1 || !strings.Contains(problems[0], `door/door.go no longer contains "func Close"`) {
		t.Errorf("%q", problems)
	}
}

func TestScenarioOfAnUnknownRequirement(t *testing.T) {
	problems, _ := problemsOf(t, module(t, "REQ-002  The door is open.\n    owed hinges\n"))
	if len(problems) != 1 || !strings.Contains(problems[0], "scenario start proves REQ-001, which is not in") {
		t.Errorf("%q", problems)
	}
}

// A successful proof is reused until its inputs change.
func TestProofsAreKept(t *testing.T) {
	root := module(t, "REQ-001  The door is open.\n    proved door:TestOpen/now under door-closed\n")
	for _, want := range []string{"(0 from earlier runs", "(1 from earlier runs"} {
		problems, said := problemsOf(t, root)
		if len(problems) > 0 || !strings.Contains(said, "1 of 1 tests under 1 mutants fail as required "+want) {
			t.Fatalf("%q, said %q, want %q", problems, said, want)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "door", "words.txt"), []byte("new"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, said := problemsOf(t, root); !strings.Contains(said, "(0 from earlier runs") {
		t.Errorf("an input changed, but the output is %q", said)
	}
}

func TestParseAround(t *testing.T) {
	for text, want := range map[string]string{
		"mutant a\nfile f.go\n--- original\nx\n---\n":                        "mutant a needs a file, an original",
		"mutant a\nfile f.go\nkind expr\n--- original\nx\n--- mutated\ny\n":  "mutant a has no final line",
		"mutant a\nfile f.go\nkind delete\n--- original\nx\n---\nmutant a\n": "duplicate mutant a",
		"walk\n": `unexpected line "walk"`,
	} {
		if _, err := parseAround("around.txt", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	root := module(t, "")
	for original, want := range map[string]string{"return maybe": "is no longer in door/door.go", "n": "times in door/door.go"} {
		m := around{name: "a", file: "door/door.go", original: original}
		if _, err := m.overlay(root, root); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", original, err, want)
		}
	}
}

// A mutant whose code has changed is reported by list, not only by prove.
func TestMutantWithoutItsOriginal(t *testing.T) {
	root := module(t, "REQ-001  The door is open.\n    proved door:TestOpen under door-closed\n")
	if err := os.WriteFile(filepath.Join(root, filepath.FromSlash(aroundFile)), []byte("mutant door-closed\nfile door/door.go\n--- original\nreturn maybe\n--- mutated\nreturn false\n---\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if problems, _ := problemsOf(t, root); len(problems) != 1 || !strings.Contains(problems[0], "mutant door-closed: its original is no longer in door/door.go") {
		t.Errorf("%q", problems)
	}
}

func TestTheListIsPrinted(t *testing.T) {
	list, _ := parse("list.txt", `== 002: states
REQ-002  Idle becomes Preparing only with a session.
    proved csm:TestStart under no-session, no-audio
    also   extension/test/acceptance.test.ts "AC-001"
    owed   the panel
== 002: constraints
CON-001  It runs in the extension host.
    superseded it runs in the daemon
`)
	var out strings.Builder
	show(&out, list)
	const want = `
002: states
  owed        REQ-002  Idle becomes Preparing only with a session.
                       - csm:TestStart (2 faults); extension/test/acceptance.test.ts "AC-001"; runs core, headless
                       - missing: the panel

002: constraints
  superseded  CON-001  It runs in the extension host.
                       - it runs in the daemon

`
	if got := out.String(); got != want {
		t.Errorf("printed\n%s\nwant\n%s", got, want)
	}
}
