package models

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestFullDisk writes to /dev/full, which accepts no data. The installed model stays.
func TestFullDisk(t *testing.T) {
	files := toneFiles(t)
	m := newMirror(t, files)
	s, _ := open(t, toneEntry(files, m.URL, m.URL))
	part := filepath.Join(s.stage("tone-tdt"), "encoder.onnx"+partSuffix)
	if err := errors.Join(os.MkdirAll(filepath.Dir(part), 0o755), os.Symlink("/dev/full", part)); err != nil {
		t.Fatal(err)
	}
	wantError(t, s, s.Install(t.Context(), "tone-tdt"), "the disk is full", "free some space")
	if n := len(m.requests("encoder.onnx")); n != 1 {
		t.Errorf("%d requests, although no mirror fixes a full disk", n)
	}
	if err := os.Remove(part); err != nil {
		t.Fatal(err)
	}
	if err := s.Install(t.Context(), "tone-tdt"); err != nil {
		t.Fatal(err)
	}
	wantInstalled(t, s, "tone-tdt")
}
