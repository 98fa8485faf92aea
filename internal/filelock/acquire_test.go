package filelock

import (
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
)

func TestLockFileIsRemoved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	f, ok, err := Acquire(path)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	other, ok, err := Acquire(path)
	if err != nil || ok || other == nil {
		t.Fatalf("the lock was given twice: %v, %v", ok, err)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	if err := Remove(f); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the file is still there: %v", err)
	}
	if f, ok, err = Acquire(path); err != nil || !ok {
		t.Fatal(ok, err)
	}
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		t.Log(err) // Windows does not remove an open file
	}
	if err := Remove(f); err != nil {
		t.Errorf("a file that somebody removed: %v", err)
	}
}

// At no time do two holders have the lock, although each removes the file.
func TestOneHolderAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	var holders, held atomic.Int32
	var run sync.WaitGroup
	for range 8 {
		run.Go(func() {
			for range 300 {
				f, ok, err := Acquire(path)
				if err != nil {
					t.Error(err)
					return
				}
				if !ok {
					_ = f.Close()
					continue
				}
				if n := holders.Add(1); n != 1 {
					t.Errorf("%d holders", n)
				}
				held.Add(1)
				holders.Add(-1)
				if err := Remove(f); err != nil {
					t.Error(err)
				}
			}
		})
	}
	run.Wait()
	if held.Load() == 0 {
		t.Error("nobody had the lock")
	}
}
