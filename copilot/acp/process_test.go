package acp

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

// fakeProcess is the fake agent's answer when it runs in its own process.
func fakeProcess(f *fakeAgent, prompt string) string {
	switch {
	case strings.Contains(prompt, "child"): // a child in the same group that outlives its parent
		child := exec.Command(os.Args[0], "-test.run=^$", "-test.timeout=1m")
		child.Env = append(os.Environ(), "AGENTVOICE_FAKE_AGENT=1")
		stdin, err := child.StdinPipe()
		if err == nil {
			err = child.Start()
		}
		if err != nil {
			f.say("error " + err.Error())
			return "end_turn"
		}
		defer func() { _ = stdin }()
		f.say(strconv.Itoa(child.Process.Pid))
	case strings.Contains(prompt, "die"):
		f.say("bye")
		os.Exit(3)
	default:
		f.say(strconv.Itoa(os.Getpid()))
	}
	return "end_turn"
}

func realTalker(t *testing.T) *talker {
	t.Helper()
	t.Setenv("AGENTVOICE_FAKE_AGENT", "1")
	a, err := New(Options{Command: os.Args[0], Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	return &talker{t: t, a: a}
}

func (k *talker) pid(words string) int {
	k.t.Helper()
	if err := k.ask(k.t.Context(), words); err != nil {
		k.t.Fatal(err)
	}
	pid, err := strconv.Atoi(k.said.String())
	if err != nil {
		k.t.Fatal(err)
	}
	k.said.Reset()
	return pid
}

func TestCloseEndsEveryProcessOfTheAgent(t *testing.T) {
	k := realTalker(t)
	parent, child := k.pid("who"), k.pid("start a child")
	for _, pid := range []int{parent, child} {
		if !runs(pid) {
			t.Fatalf("process %d does not run", pid)
		}
	}
	if err := k.a.Close(); err != nil {
		t.Fatal(err)
	}
	for _, pid := range []int{parent, child} {
		ends(t, pid)
	}
}

// ends waits for the end of a process that was killed: a busy system takes a while.
func ends(t *testing.T, pid int) {
	t.Helper()
	for end := time.Now().Add(time.Minute); runs(pid) && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	if runs(pid) {
		t.Errorf("process %d runs on", pid)
	}
}

// A killed agent leaves a child behind that keeps its output open.
func TestKilledAgentIsStartedAgain(t *testing.T) {
	k := realTalker(t)
	first := k.pid("who")
	child := k.pid("start a child")
	err := k.ask(t.Context(), "die")
	k.wantCode(err, codeEnded)
	k.said.Reset()
	if second := k.pid("who"); second == first {
		t.Error("the agent was not started again")
	}
	ends(t, child)
}

func TestAgentThatIsNotThere(t *testing.T) {
	a, err := New(Options{Command: "no-such-agent --acp"})
	if err != nil {
		t.Fatal(err)
	}
	k := &talker{t: t, a: a}
	err = k.ask(t.Context(), "hi")
	k.wantCode(err, codeMissing)
	if !strings.Contains(err.Error(), `cannot find the agent "no-such-agent"; install it`) {
		t.Error(err)
	}
}
