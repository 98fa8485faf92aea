package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// terminal is a command in a pseudo-terminal.
type terminal struct {
	t      *testing.T
	cmd    *exec.Cmd
	master *os.File

	mu   sync.Mutex
	out  bytes.Buffer
	more chan struct{}
	read chan struct{} // closed when there is nothing more to read
}

// inTerminal runs the command line in a terminal of that width, with more environment variables.
func inTerminal(t *testing.T, columns uint16, env []string, args ...string) *terminal {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	must(err)
	t.Cleanup(func() { _ = master.Close() })
	must(unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	must(err)
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	must(err)
	defer slave.Close()
	x := &terminal{t: t, master: master, more: make(chan struct{}, 1), read: make(chan struct{}), cmd: exec.Command(os.Args[0], args...)}
	x.resize(columns)
	x.cmd.Args[0] = "agentvoice-daemon"
	x.cmd.Env = append(append(os.Environ(), "TERM=xterm", "XDG_RUNTIME_DIR="+t.TempDir()), env...)
	x.cmd.Stdin, x.cmd.Stdout, x.cmd.Stderr = slave, slave, slave
	x.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	must(x.cmd.Start())
	t.Cleanup(func() { _ = x.cmd.Process.Kill() }) // it may already have exited
	go func() {
		defer close(x.read)
		b := make([]byte, 4096)
		for {
			n, err := master.Read(b)
			x.mu.Lock()
			x.out.Write(b[:n])
			x.mu.Unlock()
			select {
			case x.more <- struct{}{}:
			default:
			}
			if err != nil {
				return
			}
		}
	}()
	return x
}

func (x *terminal) resize(columns uint16) {
	x.t.Helper()
	if err := unix.IoctlSetWinsize(int(x.master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns}); err != nil {
		x.t.Fatal(err)
	}
}

// echoes reports whether the terminal shows what is typed.
func (x *terminal) echoes() bool {
	x.t.Helper()
	of, err := unix.IoctlGetTermios(int(x.master.Fd()), unix.TCGETS)
	if err != nil {
		x.t.Fatal(err)
	}
	return of.Lflag&unix.ECHO != 0
}

// text is what the command has printed.
func (x *terminal) text() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.out.String()
}

// until waits until the command has printed something.
func (x *terminal) until(want string) {
	x.t.Helper()
	for late := time.After(patience); !strings.Contains(x.text(), want); {
		select {
		case <-x.more:
		case <-late:
			x.t.Fatalf("no %q in %q", want, x.text())
		}
	}
}

// press types keys.
func (x *terminal) press(keys string) {
	x.t.Helper()
	if _, err := x.master.WriteString(keys); err != nil {
		x.t.Fatal(err)
	}
}

// ends waits for the end of the command, and returns its status.
func (x *terminal) ends() int {
	x.t.Helper()
	done := make(chan struct{})
	go func() {
		_ = x.cmd.Wait() // the status is returned
		<-x.read         // what it printed last
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(patience):
		x.t.Fatalf("it does not end after %q", x.text())
	}
	return x.cmd.ProcessState.ExitCode()
}

const ctrlC = "\x03"

// One Ctrl-C ends a command that asks something, or that waits for the other end of a pipe.
func TestOneInterruptEndsPrompts(t *testing.T) {
	home := t.TempDir()
	env := []string{"AGENTVOICE_MODELS=" + filepath.Join(home, "models"), "HOME=" + home, "XDG_CONFIG_HOME=" + home, "XDG_DATA_HOME=" + home}
	for _, line := range []string{
		"models install supertonic-3-int8",
		"talk --agent acp:/bin/cat --audio-in null --audio-out null",
		"settings check PIPE",
		"talk --audio-out null --audio-in null --reference PIPE",
		"serve --stdio --headless --script PIPE",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			pipe := filepath.Join(t.TempDir(), "pipe")
			if err := unix.Mkfifo(pipe, 0o600); err != nil {
				t.Fatal(err)
			}
			x := inTerminal(t, 80, env, strings.Fields(strings.ReplaceAll(line, "PIPE", pipe))...)
			if strings.Contains(line, "PIPE") {
				holdPipe(t, pipe)
			} else {
				x.until("[y/N] ")
			}
			x.press(ctrlC)
			if status := x.ends(); status != exitFailed || !strings.Contains(x.text(), "agentvoice-daemon: stopped") {
				t.Errorf("status %d: %q", status, x.text())
			}
		})
	}
}

// holdPipe waits until a command reads a named pipe, and keeps the pipe open for writing.
func holdPipe(t *testing.T, pipe string) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		file, err := os.OpenFile(pipe, os.O_WRONLY|unix.O_NONBLOCK, 0) // fails without a reader
		if err == nil {
			t.Cleanup(func() { _ = file.Close() })
			return
		}
	}
	t.Fatal("the command does not read the pipe")
}

// A conversation in a terminal keeps its status line whole: typed keys are not shown, a new width is
// followed, and the terminal is as before at the end. Without a cursor that moves, and for a screen
// reader, it prints lines only.
//
//test:long
func TestConversationInATerminal(t *testing.T) {
	for _, c := range []struct {
		name string
		env  []string
		args []string
		live bool
	}{
		{"live", []string{"NO_COLOR=1"}, nil, true},
		{"dumb", []string{"TERM=dumb"}, nil, false},
		{"plain", nil, []string{"--plain"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			home := t.TempDir()
			x := inTerminal(t, 80, append(c.env, "HOME="+home), append([]string{"talk", "--audio-in", "null", "--audio-out", "null"}, c.args...)...)
			x.until("Speak now.")
			if c.live == x.echoes() {
				t.Errorf("typed keys are shown: %v", x.echoes())
			}
			if c.live {
				drawn := len(x.text())
				x.resize(40)
				x.press("quiet\n")
				for late := time.After(patience); !strings.Contains(x.text()[drawn:], eraseBelow); {
					select {
					case <-x.more:
					case <-late:
						t.Fatalf("nothing is redrawn after a resize")
					}
				}
			}
			x.press(ctrlC)
			if status := x.ends(); status != 0 {
				t.Errorf("status %d", status)
			}
			x.until("0 turns, 0 interrupted")
			if !x.echoes() {
				t.Error("typed keys stay hidden")
			}
			out := strings.ReplaceAll(x.text(), "\r\n", "\n")
			if !c.live && strings.ContainsAny(strings.ReplaceAll(out, "^C", ""), "\r\x1b") {
				t.Errorf("control characters in %q", out)
			}
			if strings.Contains(out, "\x1b[3") || strings.Contains(out, "\x1b[1m") || strings.Contains(out, "quiet") {
				t.Errorf("colours or keys in %q", out)
			}
		})
	}
}
