package pulse

import (
	"context"
	"os"
	"strings"
	"time"
)

// TB is the part of testing.TB that ForTest uses.
type TB interface {
	Helper()
	Skipf(format string, args ...any)
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
	Cleanup(func())
	Setenv(name, value string)
}

// startTime is how long a test waits for its server. Under the race detector a busy
// machine takes seconds.
const startTime = 30 * time.Second

// ForTest starts a server for the duration of the test and makes this process use it.
// It skips the test where no server can run.
func ForTest(t TB) *Server {
	t.Helper()
	return ForTestWith(t, Options{})
}

// ForTestWith is ForTest with options.
func ForTestWith(t TB, options Options) *Server {
	t.Helper()
	if err := Available(); err != nil {
		t.Skipf("no devices to test on: %v", err)
	}
	dir, err := os.MkdirTemp("", "av") // t.TempDir is too long for a socket
	if err != nil {
		t.Fatalf("%v", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	defer cancel()
	s, err := Start(ctx, dir, options)
	if err != nil {
		t.Fatalf("cannot start pulseaudio: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("cannot stop pulseaudio: %v", err)
		}
	})
	for _, pair := range s.Env() {
		name, value, _ := strings.Cut(pair, "=")
		t.Setenv(name, value)
	}
	return s
}
