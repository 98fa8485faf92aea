package dispatch

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/journal"
)

// panicEnv tells a child process what panics, and names its journal.
const panicEnv = "AGENTVOICE_TEST_PANIC"

func TestMain(m *testing.M) {
	if path := os.Getenv(panicEnv); path != "" {
		what, path, _ := strings.Cut(path, " ")
		recordUntilPanic(what, path)
	}
	goleak.VerifyTestMain(m)
}

const canary = "the canary sings"

func recordUntilPanic(what, path string) {
	w, err := journal.New(journal.Header{Build: "test", Content: journal.Redacted, Speed: 1}, journal.Files(path, journal.DefaultLimits))
	if err != nil {
		panic(err)
	}
	l := New(Config{Clock: &Virtual{}, Execute: func(s Step) {
		if what == "execute" && s.Envelope.Seq == 2 {
			panic("the handler")
		}
	}, Journal: w})
	step := l.step
	l.step = func(s csm.State, e csm.Envelope) (csm.State, []csm.Effect) {
		if what == "step" && e.Seq == 2 {
			panic(fmt.Sprintf("the step of %+v", e.Event))
		}
		return step(s, e)
	}
	l.Post(csm.UserStart{Call: 1})
	l.Post(csm.SessionFailed{Instance: 1, Code: canary})
	l.Drain()
}

// An event whose step panics is in the journal after the process has exited, and neither
// the journal nor the panic contains words. If a handler panics, the outcome is in the
// journal too.
func TestEventWhoseStepPanicsIsInTheJournal(t *testing.T) {
	for what, outcomes := range map[string]int{"step": 1, "execute": 2} {
		path := filepath.Join(t.TempDir(), "talk.jsonl")
		stderr := panicked(t, what, path)
		list, err := journal.ReadFiles(path)
		if err != nil || len(list) != 1 || list[0].Stops == nil {
			t.Fatalf("%s: %d journals, %v", what, len(list), err)
		}
		lines := list[0].Lines
		if last := lines[len(lines)-1]; last.Event != "session.failed" || last.Seq != 2 {
			t.Errorf("%s: the last line is %+v", what, last)
		}
		res, err := journal.Replay(list[0])
		if err != nil || res.Difference != nil || res.Events != outcomes {
			t.Errorf("%s: replay: %+v, %v", what, res, err)
		}
		if u := res.Unfinished; (u != nil) != (outcomes == 1) || u != nil && (u.Event != "session.failed" || u.Panic != "") {
			t.Errorf("%s: unfinished: %+v", what, u)
		}
		if kept, err := os.ReadFile(path); err != nil || strings.Contains(string(kept)+stderr, canary) {
			t.Errorf("%s: the journal or the panic holds words (%v):\n%s", what, err, stderr)
		}
	}
}

// panicked runs a child process that ends by a panic and returns its output.
func panicked(t *testing.T, what, path string) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command(exe, "-test.run=^$")
	child.Env = append(os.Environ(), panicEnv+"="+what+" "+path)
	var stderr bytes.Buffer
	child.Stderr = &stderr
	if err := child.Run(); err == nil || !strings.Contains(stderr.String(), "panic: ") {
		t.Fatalf("the child ended with %v:\n%s", err, &stderr)
	}
	return stderr.String()
}
