package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestNamedFilesAreBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	for size, ok := range map[int64]bool{0: true, maxInput: true, maxInput + 1: false} {
		file, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := file.Truncate(size); err != nil {
			t.Fatal(err)
		}
		_ = file.Close()
		if text, err := readNamed(path); (err == nil) != ok || ok && int64(len(text)) != size {
			t.Errorf("%d bytes: %d, %v", size, len(text), err)
		}
	}
	if _, err := readLimited(strings.NewReader(strings.Repeat("x", maxInput+1))); err == nil {
		t.Error("standard input is unlimited")
	}
}

// A journal over an existing file is private, as a new one is.
func TestJournalOverAnExistingFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "old.jsonl")
	if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := ownersOnly(path); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || os.PathSeparator == '/' && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if err := ownersOnly(path + ".missing"); err != nil {
		t.Error(err)
	}
}
