//go:build unix

package main

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
)

// A second Ctrl-C kills a command that is slow to exit.
func TestSecondInterruptKills(t *testing.T) {
	self, err := exec.LookPath("agentvoice-stuck")
	if err != nil {
		t.Fatal(err)
	}
	// A test in the background of a shell ignores interrupts, and the command would too.
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	cmd := exec.CommandContext(t.Context(), self)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for _, want := range []string{"runs", "ends"} {
		if !lines.Scan() || lines.Text() != want {
			t.Fatalf("the command says %q, want %q", lines.Text(), want)
		}
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGINT {
		t.Errorf("the command ended with %v, want a death by the signal", err)
	}
}
