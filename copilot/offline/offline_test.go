package offline_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/copilot/offline"
	"github.com/agentvoice/agentvoice-daemon/copilot/spoken"
)

func TestModels(t *testing.T) {
	if models, err := offline.New(offline.Options{}).Models(t.Context()); err != nil || len(models) != 1 || models[0].ID != "offline" {
		t.Errorf("models %+v, %v", models, err)
	}
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var _ copilot.Adapter = (*offline.Adapter)(nil)

func ask(t *testing.T, o offline.Options, questions ...string) string {
	t.Helper()
	if o.TokenInterval == 0 {
		o.TokenInterval = -1
	}
	var r copilot.Request
	for _, q := range questions {
		r.Messages = append(r.Messages, copilot.Message{Role: copilot.RoleUser, Content: q}, copilot.Message{Role: copilot.RoleAssistant, Content: "..."})
	}
	var b strings.Builder
	if err := offline.New(o).Send(t.Context(), r, func(s string) { b.WriteString(s) }); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// folder creates a workspace with a canary in every file that must not be read.
func folder(t *testing.T) string {
	dir := filepath.Join(t.TempDir(), "my-project")
	for path, content := range map[string]string{
		"go.mod":                "// CANARY\nmodule example.org/canary\n\ngo 1.26.0\n",
		"main.go":               "package CANARY",
		"sub/a.txt":             "CANARY",
		".git/HEAD":             "ref: refs/heads/feature/voice\n",
		".git/config":           "CANARY",
		"node_modules/x/x.js":   "CANARY",
		"worktree/.git":         "gitdir: ../.git/worktrees/w\n",
		".git/worktrees/w/HEAD": "0123456789012345678901234567890123456789\n",
		// git writes the path of the work tree here
		".git/worktrees/w/gitdir": filepath.Join(dir, "worktree", ".git") + "\n",
		"moved/.git":              "gitdir: " + filepath.Join(dir, ".git") + "\ngitdir: elsewhere\n",
		"long/.git/HEAD":          strings.Repeat("x", 70_000),
		"moved/go.mod":            "module canary\n// go is wanted\ngo 1.9\ngo 1.1\n",
		"bare/.git/config":        "CANARY",
		"bare/go.mod":             "module canary\n",
	} {
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

func TestTopics(t *testing.T) {
	dir := folder(t)
	o := offline.Options{Dir: dir, Now: func() time.Time { return time.Date(2026, 3, 5, 14, 7, 0, 0, time.UTC) }}
	inSub, inWorktree, nowhere, missing := o, o, o, o
	inSub.Dir = filepath.Join(dir, "sub")
	inWorktree.Dir = filepath.Join(dir, "worktree")
	nowhere.Dir = ""
	missing.Dir = filepath.Join(dir, "missing")
	in := func(name string) offline.Options { at := o; at.Dir = filepath.Join(dir, name); return at }
	atRoot := o
	atRoot.Dir = filepath.VolumeName(dir) + string(filepath.Separator)
	tests := []struct {
		o         offline.Options
		in, holds string
	}{
		{o, "What time is it?", "It is 2:07 PM."},
		{o, "um what's the time please", "2:07 PM"},
		{o, "What day is it today?", "Thursday, March 5, 2026"},
		{o, "Which folder am I in?", "`my-project`"},
		{o, "which branch am I on", "`feature/voice`"},
		{inSub, "what branch is this", "`feature/voice`"},
		{inWorktree, "what branch is this", "detached"},
		{o, "How many files are there?", "There are 7 files"},
		{inSub, "how many files are here", "There is one file"},
		{missing, "how many files are here", "cannot read this folder"},
		{o, "What is in this folder?", "contains `bare`, `go.mod`, `long`, `main.go`, `moved`, `node_modules`, `sub`, `worktree`."},
		{inSub, "what's in this folder", "contains `a.txt`."},
		{in("long"), "list the files", "folder is empty"},
		{missing, "list the files", "cannot read this folder"},
		{nowhere, "what's in the folder", "do not know which folder"},
		{o, "What Go version does it use?", "Go 1.26.0."},
		{inSub, "which go version", "no go.mod"},
		{o, "What operating system is this?", "This machine runs"},
		{o, "What can you do?", "whether the tests pass"},
		{o, "Who are you?", "offline assistant"},
		{o, "Hello!", "Hello!"},
		{o, "", "did not catch"},
		{o, " ?! ", "did not catch"},
		{nowhere, "which branch", "do not know which folder"},
		{nowhere, "which folder", "do not know which folder"},
		{nowhere, "how many files", "do not know which folder"},
		{nowhere, "go version", "do not know which folder"},
		{missing, "which go version", "no go.mod"},
		{in("moved"), "which branch", "not in a git repository"}, // that git folder does not know this one
		{in("moved"), "go version", "Go 1.9."},
		{in("bare"), "which branch", "not in a git repository"},
		{in("bare"), "go version", "does not say which version"},
		{in("long"), "which branch", "not in a git repository"},
		{o, "Hello 42!", "I heard: Hello 42"},
		{o, "Which machine is this?", map[string]string{"linux": "runs Linux on ", "darwin": "runs macOS on ", "windows": "runs Windows on "}[runtime.GOOS]},
		{atRoot, "which branch", "not in a git repository"},
		{o, "Today’s date?", "Thursday, March 5, 2026"},
		{o, "read line 42, isn’t it", "read line 42, isn’t it"},
	}
	for _, tt := range tests {
		got := ask(t, tt.o, tt.in)
		if !strings.Contains(got, tt.holds) {
			t.Errorf("%q in %s: got %q, which has no %q", tt.in, filepath.Base(tt.o.Dir), got, tt.holds)
		}
		if strings.Contains(got, "CANARY") || strings.Contains(got, "canary") || strings.Contains(got, filepath.Dir(dir)) {
			t.Errorf("%q: the answer holds what was in a file, or a path: %q", tt.in, got)
		}
	}
}

// A large folder is cut off after a few names, and names cannot end the code span.
func TestContentsOfALargeFolder(t *testing.T) {
	dir := t.TempDir()
	for i := range 20 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f`%02d", i)), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, want := ask(t, offline.Options{Dir: dir}, "What is in this folder?"), "contains `f00`, `f01`, `f02`, `f03`, `f04`, `f05`, `f06`, `f07`, and 12 more."
	if !strings.HasSuffix(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Other messages are repeated with what can be asked instead, at a length that can be
// interrupted.
func TestReflection(t *testing.T) {
	for _, question := range []string{
		"the first time that we met he took a day to find the branch of a tree",
		"Why does the parser fail on `empty` files?",
		"refactor **everything**",
	} {
		got := ask(t, offline.Options{}, question)
		var words, sentences int
		c := spoken.New(spoken.Options{MaxChars: 1000, FirstMinChars: 1000})
		for _, s := range append(c.Push(got), c.Flush()...) {
			words += s.Words
			sentences++
		}
		if sentences < 3 || sentences > 5 || words < 30 || words > 65 {
			t.Errorf("%d sentences, %d words: %q", sentences, words, got)
		}
		if !strings.Contains(got, strings.Fields(question)[1]) && !strings.Contains(got, "everything") {
			t.Errorf("it does not repeat %q: %q", question, got)
		}
		if strings.ContainsAny(got, "`*") {
			t.Errorf("markup of the user came back: %q", got)
		}
	}
	if got := ask(t, offline.Options{}, strings.Repeat("word ", 16)); strings.Contains(got, "and so on") {
		t.Errorf("the whole message is repeated, but marked as cut off: %q", got)
	}
	if got := ask(t, offline.Options{}, strings.Repeat("word ", 17)); !strings.Contains(got, strings.TrimSpace(strings.Repeat("word ", 16))+", and so on") {
		t.Errorf("a long utterance is repeated as %q", got)
	}
	if got := ask(t, offline.Options{}); !strings.HasPrefix(got, "I did not catch") {
		t.Errorf("no words are answered %q", got)
	}
	if got := ask(t, offline.Options{}, strings.Repeat("word ", 500)); len(strings.Fields(got)) > 65 {
		t.Errorf("a long utterance is repeated in %d words", len(strings.Fields(got)))
	}
}

func TestStreamsWordByWord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		n := 0
		a := offline.New(offline.Options{TokenInterval: 50 * time.Millisecond})
		r := copilot.Request{Messages: []copilot.Message{{Role: copilot.RoleUser, Content: "something unknown"}}}
		err := a.Send(t.Context(), r, func(s string) {
			if got, want := time.Since(start), time.Duration(n)*50*time.Millisecond; got != want || len(strings.Fields(s)) != 1 {
				t.Errorf("%q after %v, want one word after %v", s, got, want)
			}
			n++
		})
		if err != nil || n < 25 {
			t.Errorf("%d words, %v", n, err)
		}
	})
}

func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 130*time.Millisecond)
		defer cancel()
		start, n := time.Now(), 0
		a := offline.New(offline.Options{TokenInterval: 50 * time.Millisecond})
		err := a.Send(ctx, copilot.Request{Messages: []copilot.Message{{Role: copilot.RoleUser, Content: "something unknown"}}}, func(string) { n++ })
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 130*time.Millisecond || n != 3 {
			t.Errorf("%d words, %v after %v", n, err, time.Since(start))
		}
		n = 0
		if err := a.Send(ctx, copilot.Request{}, func(string) { n++ }); !errors.Is(err, context.DeadlineExceeded) || n != 0 {
			t.Errorf("a context that was done before: %d words, %v", n, err)
		}
	})
}

// The default clock is the system's, and without an interval there is no delay.
func TestDefaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		if got := ask(t, offline.Options{}, "what time is it"); !strings.Contains(got, start.Format("3:04 PM")) {
			t.Errorf("got %q", got)
		}
		slept := time.Duration(-1)
		ask(t, offline.Options{Sleep: func(_ context.Context, d time.Duration) error { slept = d; return nil }}, "hello")
		if slept != 0 {
			t.Errorf("without an interval it sleeps %v", slept)
		}
	})
}

func TestInjectedSleep(t *testing.T) {
	stop := errors.New("stop")
	n := 0
	a := offline.New(offline.Options{Sleep: func(_ context.Context, d time.Duration) error {
		if d != offline.DefaultTokenInterval {
			t.Errorf("slept %v", d)
		}
		if n++; n == 3 {
			return stop
		}
		return nil
	}})
	if err := a.Send(t.Context(), copilot.Request{}, func(string) {}); !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
}
