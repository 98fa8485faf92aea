package main

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/internal/assets"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// onlooker is the command watch in its own process.
type onlooker struct {
	t    *testing.T
	cmd  *exec.Cmd
	errs bytes.Buffer

	mu   sync.Mutex
	out  bytes.Buffer
	more chan struct{}
}

func (o *onlooker) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	select {
	case o.more <- struct{}{}:
	default:
	}
	return o.out.Write(b)
}

// startWatch starts the command and waits until it follows a daemon.
func startWatch(t *testing.T, args ...string) *onlooker {
	t.Helper()
	o := &onlooker{t: t, more: make(chan struct{}, 1), cmd: exec.Command(os.Args[0], append([]string{"watch"}, args...)...)}
	o.cmd.Args[0] = "agentvoice-daemon"
	o.cmd.Stdout, o.cmd.Stderr = o, &o.errs
	if err := o.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = o.cmd.Process.Kill() }) // it may already have exited
	o.until("following|snapshot")
	return o
}

// until waits until the output matches a pattern.
func (o *onlooker) until(pattern string) {
	o.t.Helper()
	late := time.After(patience)
	for re := regexp.MustCompile(pattern); ; {
		o.mu.Lock()
		out := o.out.String()
		o.mu.Unlock()
		if re.MatchString(out) {
			return
		}
		select {
		case <-o.more:
		case <-late:
			o.t.Fatalf("no %s in\n%s", pattern, out)
		}
	}
}

// ended waits for the exit and returns the status and output.
func (o *onlooker) ended() (status int, out, errs string) {
	_ = o.cmd.Wait() // the exit status is checked
	return o.cmd.ProcessState.ExitCode(), o.out.String(), o.errs.String()
}

// alone gives a test its own folder for sockets.
func alone(t *testing.T) {
	dir, err := os.MkdirTemp("", "w")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	t.Setenv(assets.WatchEnv, dir)
}

// A watcher of a live daemon sees a turn and its end, as text on a terminal and as JSON,
// without transcripts; one with permission sees them.
//
//test:long
func Test003WatchLive(t *testing.T) {
	alone(t)
	s := startSidecar(t, t.TempDir(), "", "--set", "agentvoice.privacy.watch=words", "--set", "agentvoice.voice.rate=3")
	s.call(protocol.MethodStart, "{}", nil)
	s.state(protocol.StateListening)
	plain, asJSON, words := startWatch(t, "--verbose"), startWatch(t, "--json"), startWatch(t, "--words", "--pid", strconv.Itoa(s.cmd.Process.Pid))
	s.send(protocol.MethodSendText, `{"text":"what is a hedgehog"}`)
	for _, o := range []*onlooker{plain, words} {
		o.until(`turn-1 answered after`)
	}
	asJSON.until(`"turn-completed"`)
	s.end()

	status, out, errs := plain.ended()
	if status != 0 || errs != "" || strings.Contains(out, "hedgehog") {
		t.Errorf("status %d, %s\n%s", status, errs, out)
	}
	for _, line := range []string{
		`^\d\d:\d\d:\d\d\.\d  following test \(process \d+\)$`, `^\d\d:\d\d:\d\d\.\d  \S+ Listening +session ready$`,
		`Waiting for .+ copilot.request turn-1$`, `session running, service local$`, `Speaking +tts.bufferReady turn-1$`,
		`turn-1 answered after [\d.]+m?s$`, `Ending +user.stop$`, `^test \(process \d+\): the daemon ended$`,
	} {
		if !regexp.MustCompile("(?m)" + line).MatchString(out) {
			t.Errorf("no line %s in\n%s", line, out)
		}
	}
	if status, out, errs := words.ended(); status != 0 || !regexp.MustCompile(`(?m) \S+ Speaking$`).MatchString(out) || !strings.Contains(out, "  you: what is a hedgehog\n") || !strings.Contains(out, "  assistant: ") {
		t.Errorf("with words: status %d, %s\n%s", status, errs, out)
	}
	status, out, errs = asJSON.ended()
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if status != 0 || errs != "" || !strings.HasPrefix(lines[0], `{"snapshot":{"state":"listening"`) ||
		!strings.HasPrefix(lines[1], `{"method":"agentvoice.`) || strings.Contains(out, "hedgehog") || strings.Contains(out, "agentvoice.level") {
		t.Errorf("as JSON: status %d, %s\n%s", status, errs, out)
	}
}

// A crashed daemon is reported as such and its files are removed; with several daemons
// one must be chosen; a daemon that forbids watching is not listed.
//
//test:long
func TestWatchChoosesAndReportsCrashes(t *testing.T) {
	alone(t)
	try := func(want int, says string, args ...string) {
		t.Helper()
		cmd := exec.Command(os.Args[0], append([]string{"watch"}, args...)...)
		cmd.Args[0] = "agentvoice-daemon"
		out, _ := cmd.CombinedOutput() // the exit status is checked
		if got := cmd.ProcessState.ExitCode(); got != want || !regexp.MustCompile(says).Match(out) {
			t.Errorf("watch %v: status %d, %s", args, got, out)
		}
	}
	try(1, "no daemon to follow; start a conversation")
	try(2, "--levels requires --json", "--levels")
	try(0, "^no daemons to follow\n$", "--list")
	hidden := startSidecar(t, t.TempDir(), "", "--set", "agentvoice.privacy.watch=off")
	hidden.call(protocol.MethodState, "{}", nil)
	try(1, "no daemon to follow")

	folder := t.TempDir()
	one, two := startSidecar(t, folder, ""), startSidecar(t, folder, "")
	for _, s := range []*sidecar{one, two} {
		s.call(protocol.MethodStart, "{}", nil)
		s.state(protocol.StateListening)
	}
	pid := strconv.Itoa(one.cmd.Process.Pid)
	try(2, `several daemons are running: test \(process \d+\), test \(process \d+\); choose one with --pid`)
	try(1, "no daemon has process id 1; list daemons with --list", "--pid", "1")
	try(1, "no running daemon has session gone-1", "--session", "gone-1")
	try(1, "agentvoice.privacy.watch does not allow words.*Use the token", "--pid", pid, "--words")
	try(0, `STARTED +PROCESS +OF +SESSIONS\n(\d{4}-\S+ \S+ +\d+ +test +[a-z2-7]{10}-\*\n){2}`, "--list")
	try(0, `^\[\{"id":"[a-z2-7]{10}","name":"test","pid":\d+,"started":"[^"]+"\},`, "--list", "--json")

	var sessions protocol.SessionsResult
	one.call(protocol.MethodSessions, "null", &sessions)
	first := startWatch(t, "--session", sessions.Sessions[len(sessions.Sessions)-1].ID)
	first.until(`process ` + pid)
	others := []*onlooker{first, startWatch(t, "--pid", pid, "--json"), startWatch(t, "--pid", pid)}
	one.kill()
	for _, o := range others {
		status, out, errs := o.ended()
		if status != 1 || !strings.Contains(errs, "the daemon crashed or was killed; see `agentvoice-daemon sessions` for what it did") {
			t.Errorf("status %d, %s\n%s", status, errs, out)
		}
	}
	try(0, `STARTED.*\n.* `+strconv.Itoa(two.cmd.Process.Pid)+` .*\n$`, "--list")
	second := startWatch(t) // only one daemon is left
	if err := second.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if status, _, errs := second.ended(); status != 0 || errs != "" {
		t.Errorf("interrupted: status %d, %s", status, errs)
	}
	two.end()
}
