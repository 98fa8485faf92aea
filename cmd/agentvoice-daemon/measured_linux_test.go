package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// peakFile names the file to which measured writes.
const peakFile = "AGENTVOICE_TEST_PEAK"

func init() { programs["agentvoice-measured"] = measured }

// measured runs the daemon with its arguments, and writes the most memory that it took, in KB. A
// process inherits the peak of the one that started it, and that of tests grows.
func measured() {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	cmd := exec.Command(self, os.Args[1:]...)
	cmd.Args[0] = "agentvoice-daemon" // required by testscript.Main
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = cmd.Run()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		panic(err)
	}
	usage, _ := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if err := os.WriteFile(os.Getenv(peakFile), fmt.Append(nil, usage.Maxrss), 0o600); err != nil {
		panic(err)
	}
	os.Exit(cmd.ProcessState.ExitCode())
}

// peakOf makes a command of this binary a measured daemon. The result returns its memory, in KB,
// after its end.
func peakOf(t *testing.T, cmd *exec.Cmd) (peak func() int64) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "peak")
	cmd.Args[0] = "agentvoice-measured"
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	cmd.Env = append(cmd.Env, peakFile+"="+file)
	return func() int64 {
		t.Helper()
		text, err := os.ReadFile(file)
		if err != nil {
			t.Error(err)
			return 0
		}
		kb, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
		if err != nil {
			t.Error(err)
		}
		return kb
	}
}

// TestAMeasuredDaemonIsNotTheTest: what the test itself takes does not count.
func TestAMeasuredDaemonIsNotTheTest(t *testing.T) {
	own := make([]byte, 300<<20)
	for i := 0; i < len(own); i += 4096 {
		own[i] = 1
	}
	cmd := exec.Command(os.Args[0], "version")
	peak := peakOf(t, cmd)
	if out, err := cmd.CombinedOutput(); err != nil || peak() > 200<<10 || peak() < 10<<10 {
		t.Errorf("version took %d KB: %v\n%s", peak(), err, out)
	}
	if own[0] != 1 {
		t.Error("the memory of the test is gone")
	}
}
