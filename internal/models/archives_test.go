package models

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"testing"
)

// An archive is downloaded, unpacked and removed. A damaged model is downloaded again.
func TestInstallOfAnArchive(t *testing.T) {
	files := toneFiles(t)
	packed := tgz(t, filepath.Join(t.TempDir(), "tone.tgz"), headersOf(files), files)
	content, err := os.ReadFile(packed)
	if err != nil {
		t.Fatal(err)
	}
	m := newMirror(t, map[string][]byte{"tone.tgz": content})
	e := toneEntry(nil)
	e.Files = nil
	e.Archive = &File{Path: "tone.tgz", Size: int64(len(content)), SHA256: sum(content), URL: m.URL + "/tone.tgz"}
	s, log := open(t, e)
	ctx, cancel := context.WithCancel(t.Context())
	m.answer = func(w http.ResponseWriter, r *http.Request, n int, content []byte) bool {
		if n == 2 {
			cancel()
			panic(http.ErrAbortHandler)
		}
		return n == 1 && upTo(len(content)/2)(w, r, n, content)
	}
	if err := s.Install(ctx, "tone-tdt"); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	m.answer = nil
	if err := s.Install(t.Context(), "tone-tdt"); err != nil {
		t.Fatal(err)
	}
	wantInstalled(t, s, "tone-tdt")
	asked := m.requests("tone.tgz")
	if len(asked) != 3 || asked[2].span == "" {
		t.Errorf("requested %v, want the rest of the archive", asked)
	}
	if _, err := os.Stat(s.archive(e)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the archive was not removed: %v", err)
	}
	if got := log.of(Progress); got[len(got)-1].Done == 0 || got[0].Total != e.Archive.Size {
		t.Errorf("reported %+v", got)
	}
	for range 2 {
		if err := s.Install(t.Context(), "tone-tdt"); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(m.requests("tone.tgz")); n != 3 {
		t.Errorf("requested %d times", n)
	}
	write(filepath.Join(s.Folder("tone-tdt"), "tokens.txt"), []byte("damaged"))
	if err := s.Install(t.Context(), "tone-tdt"); err != nil {
		t.Fatal(err)
	}
	wantInstalled(t, s, "tone-tdt")
	if n := len(m.requests("tone.tgz")); n != 4 {
		t.Errorf("requested %d times", n)
	}
}

// A partly downloaded archive is removed with its model.
func TestRemoveOfAPartlyDownloadedArchive(t *testing.T) {
	e := toneEntry(nil)
	e.Files, e.Archive = nil, &File{Path: "tone.tgz", Size: 9, SHA256: sum(nil), URL: "https://models.invalid/tone.tgz"}
	s, _ := open(t, e)
	if err := os.MkdirAll(s.archive(e), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := s.Remove("tone-tdt"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(s.archive(e)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
	wantError(t, s, s.Install(t.Context(), "toad"), `unknown model "toad"`, "tone-tdt")
}

// A file can come from an address of its own.
func TestFileWithItsOwnAddress(t *testing.T) {
	files := toneFiles(t)
	m, other := newMirror(t, files), newMirror(t, map[string][]byte{"words": files["tokens.txt"]})
	e := toneEntry(files, m.URL)
	for i := range e.Files {
		if e.Files[i].Path == "tokens.txt" {
			e.Files[i].URL = other.URL + "/words"
		}
	}
	s, _ := open(t, e)
	if err := s.Install(t.Context(), "tone-tdt"); err != nil {
		t.Fatal(err)
	}
	wantInstalled(t, s, "tone-tdt")
	if len(m.requests("tokens.txt")) != 0 || len(other.requests("words")) != 1 {
		t.Errorf("requested %v and %v", m.asked, other.asked)
	}
}
