package offline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/internal/procgroup"
	"github.com/agentvoice/agentvoice-daemon/internal/workspace"
)

// runTests is the only tool of this assistant.
const runTests = "run_tests"

// runners are the commands that run a folder's tests, by a file that the folder contains.
var runners = []struct{ file, command string }{
	{"go.mod", "go test ./..."},
	{"Cargo.toml", "cargo test"},
	{"package.json", "npm test"},
	{"pyproject.toml", "python3 -m pytest"},
}

// runner returns the command that runs the folder's tests, or "".
func (a *Adapter) runner() string {
	if a.opts.Dir == "" {
		return ""
	}
	folder, err := workspace.Open(a.opts.Dir)
	if err != nil {
		return ""
	}
	defer folder.Close()
	for _, r := range runners {
		if folder.Has(r.file) {
			return r.command
		}
	}
	return ""
}

// tests requests the call that runs the tests, if calls are possible.
func (a *Adapter) tests(_ context.Context, r copilot.Request) string {
	command := a.runner()
	switch {
	case a.opts.Dir == "":
		return noFolder
	case command == "":
		return "I do not know how to run the tests of this folder."
	case r.Wants == nil:
		return "Run `" + command + "` to see whether the tests pass."
	}
	harmless := false
	r.Wants(copilot.ToolCall{ID: r.ID + "-tests", Name: runTests, Input: json.RawMessage(`{"command":"` + command + `"}`), Destructive: &harmless})
	return ""
}

// testLimit is the time limit of a test run.
const testLimit = 10 * time.Minute

// ToolLimit implements copilot.Limiter.
func (*Adapter) ToolLimit() time.Duration { return testLimit }

// CallTool implements copilot.Caller. It runs the folder's tests and returns their
// output; tests that fail are a result, and no error.
func (a *Adapter) CallTool(ctx, wanted context.Context, c copilot.ToolCall) (string, error) {
	var input struct{ Command string }
	if err := json.Unmarshal(c.Input, &input); err != nil || c.Name != runTests || input.Command == "" || input.Command != a.runner() {
		return "", errors.New("the offline assistant can only run the tests of its folder")
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(wanted, stop)()
	command := strings.Fields(input.Command)
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir = a.opts.Dir
	var out tail
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = time.Second // a process that left the group may hold its output open
	err := procgroup.Run(ctx, cmd)
	if wanted.Err() != nil || ctx.Err() != nil {
		return "", copilot.ErrCancelled
	}
	var failed *exec.ExitError
	switch {
	case err == nil:
		return testsPass + "\n" + out.String(), nil
	case errors.As(err, &failed):
		return testsFail + "\n" + out.String(), nil
	}
	return "", err
}

// The first line of a result.
const (
	testsPass = "The tests pass."
	testsFail = "The tests fail."
)

// maxOutput is how much of the tests' output is kept, in bytes.
const maxOutput = 32 << 10

// tail keeps the end of what is written to it.
type tail struct{ text []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p...)
	if len(t.text) > 2*maxOutput {
		t.text = append([]byte(nil), t.text[len(t.text)-maxOutput:]...)
	}
	return len(p), nil
}

func (t *tail) String() string { return string(t.text[max(0, len(t.text)-maxOutput):]) }

var (
	// failing finds the names of failing tests of Go, pytest, Cargo and Node.
	failing = regexp.MustCompile(`(?m)^(?:--- FAIL: ([^\s/]+)|FAILED \S+::(\S+)|test (\S+) \.\.\. FAILED|not ok \d+ - (.+))`)
	// reason finds what a test of Go says: a line such as "    a_test.go:12: got 2, want 3".
	reason = regexp.MustCompile(`(?m)^\s+\S+_test\.go:\d+: (.+)$`)
)

// maxFailing is how many failing tests are named.
const maxFailing = 3

// report says how a test run ended.
func report(m copilot.Message) string {
	switch {
	case m.Status == copilot.CallRejected:
		return "All right, I did not run them."
	case m.Status != copilot.CallCompleted:
		return "The tests did not run to their end."
	case strings.HasPrefix(m.Content, testsPass):
		return "All tests pass."
	}
	var names []string
	for _, found := range failing.FindAllStringSubmatch(m.Content, -1) {
		names = append(names, "`"+strings.ReplaceAll(strings.Join(found[1:], ""), "`", "")+"`")
	}
	switch n := len(names); {
	case n == 0:
		return "The tests fail before one of them runs, so the code may not compile."
	case n == 1:
		if says := reason.FindStringSubmatch(m.Content); says != nil {
			return "One test fails, " + names[0] + ". It says: " + said(says[1]) + "."
		}
		return "One test fails, " + names[0] + "."
	case n > maxFailing:
		return fmt.Sprintf("%d tests fail, the first ones are %s.", n, strings.Join(names[:maxFailing], ", "))
	default:
		return fmt.Sprintf("%d tests fail: %s.", n, strings.Join(names, ", "))
	}
}
