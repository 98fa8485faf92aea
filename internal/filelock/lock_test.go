package filelock

import (
	"os"
	"path/filepath"
	"testing"
)

func TestOnlyOneHandleHasTheLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	open := func() *os.File {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	first, second := open(), open()
	defer second.Close()
	if ok, err := Try(first); err != nil || !ok {
		t.Fatalf("nobody has it: %v, %v", ok, err)
	}
	if ok, err := Try(second); err != nil || ok {
		t.Fatalf("the first handle has it: %v, %v", ok, err)
	}
	first.Close()
	if ok, err := Try(second); err != nil || !ok {
		t.Fatalf("the first handle is closed: %v, %v", ok, err)
	}
}
