package main

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

// The test's own process stands for peak, and for a command that holds memory.
const (
	asPeak  = "AGENTVOICE_TEST_PEAK"
	holding = "AGENTVOICE_TEST_HOLDS"
)

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(asPeak) != "":
		_ = os.Unsetenv(asPeak)
		main()
		os.Exit(0)
	case os.Getenv(holding) != "":
		held := make([]byte, 400<<20)
		for i := 0; i < len(held); i += 4096 {
			held[i] = 1
		}
		runtime.GC()
		runtime.KeepAlive(held)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// What a command holds counts, although Go's own limit has it collect before that: fuzz.sh sets
// both, because Go's mutator makes garbage of 100 MB.
func TestHeldMemoryCounts(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-limit", "300", "--", os.Args[0])
	cmd.Env = append(os.Environ(), asPeak+"=1", holding+"=1", "GOMEMLIMIT=200MiB")
	out, err := cmd.CombinedOutput()
	var failed *exec.ExitError
	if !errors.As(err, &failed) || failed.ExitCode() != 1 || !strings.Contains(string(out), "are more than 300 MB") {
		t.Errorf("%v: %s", err, out)
	}
}
