package models

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio/engine"
	"github.com/agentvoice/agentvoice-daemon/internal/testutil/tonemodel"
)

// asked is a request that a mirror received.
type asked struct{ path, span, ifRange string }

// mirror is a file server. It behaves correctly unless answer is set.
type mirror struct {
	*httptest.Server
	files map[string][]byte
	// answer, if set, may handle the n-th request (from 1) for a model's first file
	// or the engine itself.
	answer func(w http.ResponseWriter, r *http.Request, n int, content []byte) bool

	mu    sync.Mutex
	asked []asked
}

func newMirror(t *testing.T, files map[string][]byte) *mirror {
	t.Helper()
	m := &mirror{files: files}
	m.Server = httptest.NewServer(m)
	t.Cleanup(m.Close)
	return m
}

func (m *mirror) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/")
	m.mu.Lock()
	n := 1
	for _, a := range m.asked {
		if a.path == name {
			n++
		}
	}
	m.asked = append(m.asked, asked{name, r.Header.Get("Range"), r.Header.Get("If-Range")})
	m.mu.Unlock()
	content, known := m.files[name]
	switch {
	case !known:
		http.NotFound(w, r)
	case m.answer != nil && slices.Contains([]string{"encoder.onnx", "engine.tgz", "tone.tgz"}, name) && m.answer(w, r, n, content):
	default:
		w.Header().Set("ETag", etag(content))
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	}
}

// requests returns the requests for a file so far.
func (m *mirror) requests(name string) []asked {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []asked
	for _, a := range m.asked {
		if a.path == name {
			list = append(list, a)
		}
	}
	return list
}

func etag(content []byte) string { return `"` + sum(content)[:16] + `"` }

func sum(content []byte) string {
	s := sha256.Sum256(content)
	return hex.EncodeToString(s[:])
}

// upTo sends what was requested up to a position in the content, then breaks the
// connection.
func upTo(end int) func(http.ResponseWriter, *http.Request, int, []byte) bool {
	return func(w http.ResponseWriter, r *http.Request, _ int, content []byte) bool {
		start := 0
		w.Header().Set("ETag", etag(content))
		if _, err := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-", &start); err == nil {
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", start, len(content)-1, len(content)))
			w.Header().Set("Content-Length", fmt.Sprint(len(content)-start))
			w.WriteHeader(http.StatusPartialContent)
		} else {
			w.Header().Set("Content-Length", fmt.Sprint(len(content)))
		}
		_, _ = w.Write(content[start:max(start, end)])
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
}

// toneFiles returns the files of a small recognition model.
func toneFiles(t *testing.T) map[string][]byte {
	t.Helper()
	dir := t.TempDir()
	if err := tonemodel.TDT(dir); err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, name := range []string{"encoder.onnx", "decoder.onnx", "joiner.onnx", "tokens.txt"} {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = content
	}
	return files
}

// toneEntry returns the manifest entry of toneFiles.
func toneEntry(files map[string][]byte, sources ...string) Entry {
	e := Entry{
		Name: "tone-tdt", Title: "Tone language", Kind: "nemo-transducer", Machine: Small,
		Parts:     map[string]string{"encoder": "encoder.onnx", "decoder": "decoder.onnx", "joiner": "joiner.onnx", "tokens": "tokens.txt"},
		Languages: []string{"en"}, Licence: Licence{"MIT", "https://example.org/licence"}, Sources: sources,
	}
	for _, name := range []string{"encoder.onnx", "decoder.onnx", "joiner.onnx", "tokens.txt"} {
		e.Files = append(e.Files, File{Path: name, Size: int64(len(files[name])), SHA256: sum(files[name])})
	}
	return e
}

// open returns a store in a new folder, with short retry delays.
func open(t *testing.T, entries ...Entry) (*Store, *events) {
	t.Helper()
	return openIn(t, t.TempDir(), entries...)
}

func openIn(t *testing.T, dir string, entries ...Entry) (*Store, *events) {
	t.Helper()
	log := &events{}
	s, err := Open(Options{Dir: dir, Assets: t.TempDir(), Manifest: &Manifest{Models: entries}, Report: log.add})
	if err != nil {
		t.Fatal(err)
	}
	s.retry = time.Millisecond
	t.Cleanup(s.client.CloseIdleConnections)
	return s, log
}

// events collects a Store's reports.
type events struct {
	mu   sync.Mutex
	list []Event
}

func (l *events) add(e Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, e)
}

func (l *events) of(kind string) []Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []Event
	for _, e := range l.list {
		if e.Event == kind {
			list = append(list, e)
		}
	}
	return list
}

// noLoad does not load the model.
func noLoad(engine.Model) error { return nil }

// wantInstalled fails unless a model is complete and its temporary files are gone.
func wantInstalled(t *testing.T, s *Store, name string) {
	t.Helper()
	if err := s.Verify(t.Context(), name, noLoad); err != nil {
		t.Errorf("the model is not complete: %v", err)
	}
	if _, err := os.Stat(s.stage(name)); err == nil {
		t.Error("the stage of the model was not removed")
	}
	if list, damaged, err := engine.Installed(s.Dir); err != nil || damaged != nil || len(list) != 1 {
		t.Errorf("the daemon finds %+v, %v, %v", list, damaged, err)
	}
	_ = filepath.WalkDir(s.Folder(name), func(path string, _ fs.DirEntry, _ error) error {
		if strings.HasSuffix(path, partSuffix) || strings.HasSuffix(path, originSuffix) {
			t.Errorf("%s was not removed", path)
		}
		return nil
	})
}

// wantError fails unless an error contains all of the words and names no folder.
func wantError(t *testing.T, s *Store, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Error("no error")
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q does not contain %q", err, w)
		}
	}
	if !strings.Contains(err.Error(), "; ") {
		t.Errorf("error %q has no remedy", err)
	}
	if strings.Contains(err.Error(), s.Dir) {
		t.Errorf("error %q names a user's folder", err)
	}
}
