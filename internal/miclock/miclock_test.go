//go:build unix

package miclock

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// TestMain is also the main function of the helper process, which holds the lease.
func TestMain(m *testing.M) {
	if how := os.Getenv("LEASE_TEST_HOLDER"); how != "" {
		if err := hold(how); err != nil {
			fmt.Println("failed:", err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// hold acquires the lease and prints what happens, until its input ends.
func hold(how string) error {
	l, err := Acquire(context.Background(), Holder{Name: how})
	if err != nil {
		return err
	}
	fmt.Println("held")
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(ended)
	}()
	select {
	case <-l.Lost():
		fmt.Println("lost to", l.Taker().Name)
		if how == "gives it up" {
			l.Release()
		}
		<-ended
	case <-ended:
		l.Release()
	}
	return nil
}

// other is a process that holds the lease.
type other struct {
	t     *testing.T
	cmd   *exec.Cmd
	input io.Closer
	said  *bufio.Scanner
}

func startOther(t *testing.T, how string) *other {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "LEASE_TEST_HOLDER="+how)
	cmd.Stderr = os.Stderr
	input, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	o := &other{t, cmd, input, bufio.NewScanner(output)}
	t.Cleanup(func() { _ = o.end(syscall.SIGKILL) })
	o.says("held")
	return o
}

func (o *other) says(want string) {
	o.t.Helper()
	if !o.said.Scan() || o.said.Text() != want {
		o.t.Fatalf("the other process says %q, want %q", o.said.Text(), want)
	}
}

// end kills the process, or closes its input if sig is 0.
func (o *other) end(sig syscall.Signal) error {
	_ = o.input.Close()
	if sig != 0 {
		_ = o.cmd.Process.Signal(sig)
	}
	return o.cmd.Wait()
}

func inFolder(t *testing.T) (dir string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "lease") // t.TempDir is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	t.Setenv("XDG_RUNTIME_DIR", dir)
	return dir
}

func bounded(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func TestHeldByAnother(t *testing.T) {
	dir, ctx := inFolder(t), bounded(t)
	o := startOther(t, "the other window")
	_, err := Acquire(ctx, Holder{Name: "me"})
	var held *HeldError
	if !errors.As(err, &held) || held.Stuck || held.Holder.Name != "the other window" || held.Holder.PID != o.cmd.Process.Pid ||
		time.Since(held.Holder.Since) > time.Minute || !strings.Contains(err.Error(), "the other window") {
		t.Errorf("while another process holds it: %v", err)
	}
	for path, want := range map[string]os.FileMode{"": os.ModeDir | 0o700, "microphone.lock": 0o600, "microphone.sock": os.ModeSocket | 0o600} {
		if info, err := os.Stat(filepath.Join(dir, "agentvoice", path)); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v; want %v", path, info.Mode(), err, want)
		}
	}
	if err := o.end(0); err != nil {
		t.Error(err)
	}
	l, err := Acquire(ctx, Holder{Name: "me"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Acquire(ctx, Holder{Name: "me again"}); !errors.As(err, &held) || held.Holder.PID != os.Getpid() {
		t.Errorf("a second time in one process: %v", err)
	}
	l.Release()
	l.Release()
	if left, err := os.ReadDir(filepath.Join(dir, "agentvoice")); err != nil || len(left) > 0 {
		t.Errorf("a released lease leaves %v, %v", left, err)
	}
}

func TestCrashReleasesTheLease(t *testing.T) {
	inFolder(t)
	ctx := bounded(t)
	if err := startOther(t, "crashes").end(syscall.SIGKILL); err == nil {
		t.Error("the process did not crash")
	}
	l, err := Acquire(ctx, Holder{Name: "me"})
	if err != nil {
		t.Fatal(err)
	}
	l.Release()
}

// TestTakeOver: the holder is told who took the lease, and loses it whether it
// cooperates or not.
func TestTakeOver(t *testing.T) {
	for _, how := range []string{"gives it up", "does not care"} {
		t.Run(how, func(t *testing.T) {
			inFolder(t)
			ctx := bounded(t)
			o := startOther(t, how)
			l, err := TakeOver(ctx, Holder{Name: "me"})
			if err != nil {
				t.Fatal(err)
			}
			o.says("lost to me")
			var held *HeldError
			if _, err := Acquire(ctx, Holder{}); !errors.As(err, &held) || held.Holder.Name != "me" {
				t.Errorf("after it was taken over: %v", err)
			}
			if err := o.end(0); err != nil {
				t.Error(err)
			}
			l.Release()
		})
	}
}

func TestTakeOverWithoutAHolder(t *testing.T) {
	inFolder(t)
	l, err := TakeOver(bounded(t), Holder{Name: "me"})
	if err != nil {
		t.Fatal(err)
	}
	l.Release()
}

// TestStuck: a suspended process cannot release the lease, and blocks others only for
// Limit.
func TestStuck(t *testing.T) {
	inFolder(t)
	ctx := bounded(t)
	o := startOther(t, "stands still")
	if err := o.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	var held *HeldError
	if _, err := TakeOver(ctx, Holder{Name: "me"}); !errors.As(err, &held) || !held.Stuck || held.Holder.Name != "stands still" {
		t.Errorf("from a process that stands still: %v", err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := TakeOver(cancelled, Holder{Name: "me"}); !errors.Is(err, context.Canceled) {
		t.Errorf("when cancelled: %v", err)
	}
}

// TestOneWins: of many concurrent take-overs, one holds the lease at the end.
func TestOneWins(t *testing.T) {
	inFolder(t)
	ctx := bounded(t)
	startOther(t, "gives it up")
	type result struct {
		l   *Lease
		err error
	}
	results := make(chan result)
	for i := range 8 {
		go func() {
			l, err := TakeOver(ctx, Holder{Name: fmt.Sprint(i)})
			if err == nil {
				go func() {
					<-l.Lost()
					l.Release()
				}()
			}
			results <- result{l, err}
		}()
	}
	var leases []*Lease
	for range 8 {
		r := <-results
		var held *HeldError
		switch {
		case r.err == nil:
			leases = append(leases, r.l)
		case !errors.As(r.err, &held):
			t.Error(r.err)
		}
	}
	kept := 0
	for _, l := range leases {
		select {
		case <-l.Lost():
		default:
			kept++
		}
	}
	if kept != 1 {
		t.Errorf("%d of %d leases are still held", kept, len(leases))
	}
	last, err := TakeOver(ctx, Holder{Name: "the end"})
	if err != nil {
		t.Fatal(err)
	}
	last.Release()
	for _, l := range leases {
		l.Release()
	}
}

// A holder can change the name that others see, and gives the lease back as before.
func TestRename(t *testing.T) {
	inFolder(t)
	ctx := bounded(t)
	l, err := Acquire(ctx, Holder{Name: "a long name (waits for its wake phrase)"})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Rename("a name"); err != nil {
		t.Fatal(err)
	}
	var held *HeldError
	if _, err := Acquire(ctx, Holder{Name: "another"}); !errors.As(err, &held) || held.Holder.Name != "a name" || held.Holder.PID != os.Getpid() {
		t.Errorf("the holder is %v", err)
	}
	l.Release()
	if err := l.Rename("too late"); err != nil {
		t.Error(err)
	}
	other, err := Acquire(ctx, Holder{Name: "another"})
	if err != nil {
		t.Fatal(err)
	}
	other.Release()
}

func TestRemedyIsThatOfTheSystem(t *testing.T) {
	for goos, want := range map[string]string{"windows": "%LocalAppData%", "darwin": "Library/Caches", "linux": "XDG_RUNTIME_DIR"} {
		if got := Remedy(goos); !strings.Contains(got, want) || goos != "linux" && strings.Contains(got, "XDG") {
			t.Errorf("%s: %q", goos, got)
		}
	}
}
