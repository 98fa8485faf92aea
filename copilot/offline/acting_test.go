package offline_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/copilot/offline"
)

var _ interface {
	copilot.Caller
	copilot.Limiter
} = (*offline.Adapter)(nil)

// write creates files in a new folder.
func write(t *testing.T, files map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for path, content := range files {
		path = filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const module = "module example.org/fields\n\ngo 1.26\n"

// asked sends a question and returns the answer and the calls it makes.
func asked(t *testing.T, a *offline.Adapter, messages ...copilot.Message) (answer string, calls []copilot.ToolCall) {
	t.Helper()
	var b strings.Builder
	r := copilot.Request{ID: "r1", Messages: messages, Wants: func(c copilot.ToolCall) { calls = append(calls, c) }}
	if err := a.Send(t.Context(), r, func(s string) { b.WriteString(s) }); err != nil {
		t.Fatal(err)
	}
	return b.String(), calls
}

func user(text string) copilot.Message {
	return copilot.Message{Role: copilot.RoleUser, Content: text}
}

// The tests of a Go module are a tool call, which runs once it is allowed, and the next
// round names the test that fails.
func TestRunsTheTests(t *testing.T) {
	for _, c := range []struct{ name, test, want string }{
		{"one fails", "func TestTail(t *testing.T) { t.Errorf(\"got 1 field, want 2\") }\nfunc TestHead(*testing.T) {}",
			"One test fails, `TestTail`. It says: got 1 field, want 2."},
		{"all pass", "func TestTail(*testing.T) {}", "All tests pass."},
		{"it does not compile", "func TestTail() {", "The tests fail before one of them runs, so the code may not compile."},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := write(t, map[string]string{"go.mod": module, "fields_test.go": "package fields\n\nimport \"testing\"\n\n" + c.test + "\n"})
			a := offline.New(offline.Options{Dir: dir, TokenInterval: -1})
			answer, calls := asked(t, a, user("Do the tests pass?"))
			if answer != "" || len(calls) != 1 || calls[0].Name != "run_tests" || string(calls[0].Input) != `{"command":"go test ./..."}` || *calls[0].Destructive {
				t.Fatalf("answer %q, calls %+v", answer, calls)
			}
			result, err := a.CallTool(t.Context(), t.Context(), calls[0])
			if err != nil {
				t.Fatal(err)
			}
			answer, calls = asked(t, a, user("Do the tests pass?"),
				copilot.Message{Role: copilot.RoleTool, Call: &calls[0], Status: copilot.CallCompleted, Content: result})
			if answer != c.want || len(calls) != 0 {
				t.Errorf("answer %q and %d calls, want %q; the tests printed\n%s", answer, len(calls), c.want, result)
			}
		})
	}
}

func TestReportsOtherEnds(t *testing.T) {
	a := offline.New(offline.Options{TokenInterval: -1})
	for _, c := range []struct {
		status        copilot.CallStatus
		content, want string
	}{
		{copilot.CallRejected, "", "All right, I did not run them."},
		{copilot.CallCancelled, "", "The tests did not run to their end."},
		{copilot.CallFailed, "go: not found", "The tests did not run to their end."},
		{copilot.CallCompleted, "The tests fail.\nFAILED a.py::test_one\nFAILED a.py::test_two - x\n", "2 tests fail: `test_one`, `test_two`."},
		{copilot.CallCompleted, "The tests fail.\nnot ok 1 - one `x`\n", "One test fails, `one x`."},
		{copilot.CallCompleted, "The tests fail.\n" + strings.Repeat("test a::b ... FAILED\n", 5), "5 tests fail, the first ones are `a::b`, `a::b`, `a::b`."},
	} {
		if got, _ := asked(t, a, copilot.Message{Role: copilot.RoleTool, Status: c.status, Content: c.content}); got != c.want {
			t.Errorf("%s %q: got %q, want %q", c.status, c.content, got, c.want)
		}
	}
}

// What is asked to stop stops, and what it started stops too.
func TestStopsTheTests(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	// The test of the folder lasts until its connection ends. Its source names the port, so the
	// go command has no result of it in its cache.
	dir := write(t, map[string]string{"go.mod": module, "fields_test.go": "package fields\n\nimport (\n\t\"net\"\n\t\"testing\"\n)\n\n" +
		"func TestEndless(t *testing.T) {\n\tc, err := net.Dial(\"tcp\", \"" + l.Addr().String() + "\")\n\tif err == nil {\n\t\t_, err = c.Read([]byte{0})\n\t}\n\tt.Fatal(err)\n}\n"})
	a := offline.New(offline.Options{Dir: dir, TokenInterval: -1})
	_, calls := asked(t, a, user("run the tests"))
	wanted, stop := context.WithCancel(t.Context())
	defer stop()
	running := make(chan net.Conn, 1)
	go func() {
		defer stop()
		if c, err := l.Accept(); err == nil {
			running <- c
		}
	}()
	if result, err := a.CallTool(t.Context(), wanted, calls[0]); !errors.Is(err, copilot.ErrCancelled) {
		t.Fatalf("a call that is stopped: %q, %v", result, err)
	}
	c := <-running
	defer c.Close()
	if err := c.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read([]byte{0}); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the tests go on after they were stopped")
	}
}

// Nothing else of the folder is run, and nothing that is not wanted any more.
func TestRunsNothingElse(t *testing.T) {
	dir := write(t, map[string]string{"go.mod": module, "fields_test.go": "package fields\n"})
	a := offline.New(offline.Options{Dir: dir, TokenInterval: -1})
	for _, c := range []copilot.ToolCall{
		{Name: "run_tests", Input: []byte(`{"command":"rm -r ."}`)}, {Name: "other", Input: []byte(`{"command":"go test ./..."}`)}, {Name: "run_tests", Input: []byte(`{}`)},
	} {
		if _, err := a.CallTool(t.Context(), t.Context(), c); err == nil || errors.Is(err, copilot.ErrCancelled) {
			t.Errorf("%s %s: %v", c.Name, c.Input, err)
		}
	}
	_, calls := asked(t, a, user("run the tests"))
	wanted, stop := context.WithCancel(t.Context())
	stop()
	if _, err := a.CallTool(t.Context(), wanted, calls[0]); !errors.Is(err, copilot.ErrCancelled) {
		t.Errorf("a call that is not wanted any more: %v", err)
	}
	if d := a.ToolLimit(); d != 10*time.Minute {
		t.Errorf("the limit is %v", d)
	}
	var b strings.Builder
	for _, c := range []struct {
		dir  string
		want string
	}{{dir, "Run `go test ./...` to see whether the tests pass."}, {t.TempDir(), "I do not know how to run the tests of this folder."}, {"", "I do not know which folder you work in: I was started without one."}} {
		b.Reset()
		r := copilot.Request{Messages: []copilot.Message{user("run the tests")}} // no tool can be called
		if err := offline.New(offline.Options{Dir: c.dir, TokenInterval: -1}).Send(t.Context(), r, func(s string) { b.WriteString(s) }); err != nil || b.String() != c.want {
			t.Errorf("in %q: %q, %v, want %q", c.dir, b.String(), err, c.want)
		}
	}
}

// A runner that is not installed is an error, and long output is cut at its beginning.
func TestRunnerAndOutput(t *testing.T) {
	dir := write(t, map[string]string{"go.mod": module, "a_test.go": "package a\n\nimport (\n\t\"strings\"\n\t\"testing\"\n)\n\nfunc TestLong(t *testing.T) { t.Error(strings.Repeat(\"x\", 100_000)) }\n"})
	a := offline.New(offline.Options{Dir: dir, TokenInterval: -1})
	_, calls := asked(t, a, user("run the tests"))
	if result, err := a.CallTool(t.Context(), t.Context(), calls[0]); err != nil || len(result) < 32<<10 || len(result) > 33<<10 {
		t.Errorf("%d bytes, %v", len(result), err)
	}
	t.Setenv("PATH", t.TempDir())
	if result, err := a.CallTool(t.Context(), t.Context(), calls[0]); err == nil || errors.Is(err, copilot.ErrCancelled) || result != "" {
		t.Errorf("without the program: %q, %v", result, err)
	}
}

// A name in the code is found, with what its comment says, and shown.
func TestFindsASymbol(t *testing.T) {
	dir := write(t, map[string]string{
		"a.go": "package a\n\n// splitFields returns the fields of a line. It keeps\n// empty ones.\nfunc splitFields(line string) []string {\n\treturn nil\n}\n\n" +
			"type lineReader struct{ n int }\n\nfunc (r *lineReader) readAll() {}\n",
		"sub/b.py":          "class Other:\n    # Reads some. Not all.\n    def read_some(self):\n        return 1\n\n    def rest(self):\n        pass\n",
		"long.ts":           "export const longTable = [\n" + strings.Repeat("  1,\n", 40) + "];\n",
		"node_modules/c.js": "function hiddenAway() {}\n",
		".hidden/secret.go": "func hiddenAway() {}\n",
		".aaa.go":           "package a\n",
		"kinds.ts":          "export enum colourNames {}\n",
		"notes.txt":         "func hiddenAway() {}\n",
		"uses.go":           "package a\n\nvar _ = hiddenAway()\n",
	})
	a := offline.New(offline.Options{Dir: dir, TokenInterval: -1})
	for _, c := range []struct{ question, want string }{
		{"what does splitFields do", "`splitFields` is a function in `a.go`, line 5. splitFields returns the fields of a line.\n\n```go\nfunc splitFields(line string) []string {\n\treturn nil\n}\n```\n"},
		{"Where is the function split fields, please?", "`splitFields` is a function in `a.go`, line 5. splitFields returns the fields of a line.\n\n```go\nfunc splitFields(line string) []string {\n\treturn nil\n}\n```\n"},
		{"where is lineReader", "`lineReader` is a type in `a.go`, line 9.\n\n```go\ntype lineReader struct{ n int }\n```\n"},
		{"show me readAll please", "`readAll` is a method in `a.go`, line 11.\n\n```go\nfunc (r *lineReader) readAll() {}\n```\n"},
		{"lineReader", "`lineReader` is a type in `a.go`, line 9.\n\n```go\ntype lineReader struct{ n int }\n```\n"},
		{"what is colour names", "`colourNames` is an enumeration in `kinds.ts`, line 1.\n\n```ts\nexport enum colourNames {}\n```\n"},
		{"explain read_some", "`read_some` is a function in `b.py`, line 3. Reads some.\n\n```python\n    def read_some(self):\n        return 1\n```\n"},
		{"what is longTable", "`longTable` is a constant in `long.ts`, line 1.\n\n```ts\nexport const longTable = [\n" + strings.Repeat("  1,\n", 11) + "…\n```\n"},
	} {
		if got, _ := asked(t, a, user(c.question)); got != c.want {
			t.Errorf("%q: got\n%s, want\n%s", c.question, got, c.want)
		}
	}
	if got, _ := asked(t, a, user("where is the function")); !strings.HasPrefix(got, "I heard: ") {
		t.Errorf("no name: %q", got)
	}
	if got, _ := asked(t, a, user("where is hiddenAway")); !strings.HasPrefix(got, "I heard: ") {
		t.Errorf("a name that is not declared here: %q", got)
	}
}

func TestKnowsTheRepository(t *testing.T) {
	dir := write(t, map[string]string{"a.go": "package a\n"})
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=a@example.org", "GIT_CONFIG_GLOBAL="+os.DevNull)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	a := offline.New(offline.Options{Dir: dir, TokenInterval: -1})
	outside := offline.New(offline.Options{Dir: t.TempDir(), TokenInterval: -1})
	git("init", "-q", "-b", "tail")
	git("add", ".")
	git("commit", "-q", "-m", "keep the `tail` of a line")
	check := func(a *offline.Adapter, question, want string) {
		t.Helper()
		if got, _ := asked(t, a, user(question)); !strings.HasPrefix(got, want) {
			t.Errorf("%q: got %q, want %q", question, got, want)
		}
	}
	check(a, "what was the last commit", "The last commit is “keep the tail of a line”, by Ada, ")
	check(a, "what did I change", "Everything is committed.")
	git("mv", "a.go", "b.go")
	check(a, "what did I change", "One change is not committed: `b.go`.")
	if err := os.WriteFile(filepath.Join(dir, "c.go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	check(a, "git status", "2 changes are not committed: `b.go`, `c.go`.")
	for i := range 8 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("d%d.go", i)), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	check(a, "git status", "10 changes are not committed: `b.go`, `c.go`, `d0.go`, `d1.go`, `d2.go`, `d3.go`, `d4.go`, `d5.go`, and 2 more.")
	check(offline.New(offline.Options{TokenInterval: -1}), "what was the last commit", "I do not know which folder you work in")
	check(outside, "what was the last commit", "This folder is not in a git repository that I can read.")
	check(outside, "git status", "This folder is not in a git repository that I can read.")
	check(offline.New(offline.Options{TokenInterval: -1}), "git status", "I do not know which folder you work in")
}
