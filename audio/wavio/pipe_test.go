//go:build unix

package wavio

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestPipesAreRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe.wav")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := (&Source{Path: path}).Open(t.Context()); err == nil || !strings.Contains(err.Error(), "pipe.wav is a pipe or a device: recordings are read from files") {
		t.Errorf("read: %v", err)
	}
	if err := (&Sink{Path: path}).Open(t.Context()); err == nil || !strings.Contains(err.Error(), "pipe.wav is a pipe: recordings are written to files") {
		t.Errorf("write: %v", err)
	}
}
