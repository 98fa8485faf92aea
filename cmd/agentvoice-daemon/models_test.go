package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/agentvoice/agentvoice-daemon/internal/models"
	"github.com/agentvoice/agentvoice-daemon/internal/tonemodel"
)

// mirror is the command of that name: it makes a model of the tone language and a
// package of the engine, writes the manifest that has them, and serves them from a
// server that breaks each download twice. MIRROR is its URL.
func mirror(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: mirror FOLDER MANIFEST")
	}
	dir := ts.MkAbs(args[0])
	ts.Check(tonemodel.TDT(filepath.Join(dir, "tone-tdt")))
	entry := models.Entry{
		Name: "tone-tdt", Title: "Tone language", Kind: "nemo-transducer", Machine: models.Small, Languages: []string{"en"},
		Licence: models.Licence{Name: "MIT", URL: "https://example.org/mit"}, Sources: []string{"https://models.invalid/tone-tdt/"},
		Parts:   map[string]string{"encoder": "encoder.onnx", "decoder": "decoder.onnx", "joiner": "joiner.onnx", "tokens": "tokens.txt"},
		Figures: []models.Figure{{What: "word error rate", Value: "0 %", Source: "the tests"}},
	}
	for _, name := range []string{"encoder.onnx", "decoder.onnx", "joiner.onnx", "tokens.txt"} {
		entry.Files = append(entry.Files, fileOf(ts, filepath.Join(dir, "tone-tdt"), name))
	}
	unpinned := entry
	unpinned.Name, unpinned.Files, unpinned.Archive = "tone-new", nil, "https://models.invalid/tone-new.tar.bz2"
	m := models.Manifest{Models: []models.Entry{entry, unpinned}, Engine: models.EngineRelease{
		Version: "1.13.8", Licence: models.Licence{Name: "GPL-3.0-or-later", URL: "https://example.org/gpl"},
		Packages: []models.Package{enginePackage(ts, dir)},
	}}
	text, err := json.Marshal(m)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), text, 0o600))
	server := httptest.NewServer(&cuts{files: http.FileServer(http.Dir(dir)), dir: dir, asked: map[string]int{}})
	ts.Defer(server.Close)
	ts.Setenv("MIRROR", server.URL)
}

func fileOf(ts *testscript.TestScript, dir, name string) models.File {
	text, err := os.ReadFile(filepath.Join(dir, name))
	ts.Check(err)
	return models.File{Path: name, Size: int64(len(text)), SHA256: fmt.Sprintf("%x", sha256.Sum256(text))}
}

// enginePackage packs the installed libraries of the engine as npm does.
func enginePackage(ts *testscript.TestScript, dir string) models.Package {
	p := models.Package{System: runtime.GOOS, Arch: runtime.GOARCH, URLs: []string{"https://models.invalid/engine.tgz"}}
	var out bytes.Buffer
	zipped, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	ts.Check(err)
	archive := tar.NewWriter(zipped)
	for _, name := range []string{"libonnxruntime.so", "libsherpa-onnx-c-api.so"} {
		f := fileOf(ts, ts.Getenv("ASSETS"), name)
		text, err := os.ReadFile(filepath.Join(ts.Getenv("ASSETS"), name))
		ts.Check(err)
		f.Path = "package/" + name
		ts.Check(archive.WriteHeader(&tar.Header{Name: f.Path, Mode: 0o644, Size: f.Size}))
		_, err = archive.Write(text)
		ts.Check(err)
		p.Files = append(p.Files, f)
	}
	ts.Check(errors.Join(archive.Close(), zipped.Close(), os.WriteFile(filepath.Join(dir, "engine.tgz"), out.Bytes(), 0o600)))
	whole := fileOf(ts, dir, "engine.tgz")
	p.Size, p.SHA256 = whole.Size, whole.SHA256
	return p
}

// cuts is a server that ends the first two answers for a file after a third of what was
// asked for.
type cuts struct {
	files http.Handler
	dir   string
	mu    sync.Mutex
	asked map[string]int
}

func (c *cuts) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// As a proxy it is asked for whole URLs.
	r.URL.Scheme, r.URL.Host = "", ""
	c.mu.Lock()
	c.asked[r.URL.Path]++
	n := c.asked[r.URL.Path]
	c.mu.Unlock()
	if info, err := os.Stat(filepath.Join(c.dir, filepath.FromSlash(r.URL.Path))); err == nil && n <= 2 {
		w = &cutter{w, info.Size() / 3}
	}
	c.files.ServeHTTP(w, r)
}

// cutter breaks the connection after some bytes.
type cutter struct {
	http.ResponseWriter
	left int64
}

func (c *cutter) Write(p []byte) (int, error) {
	if int64(len(p)) < c.left {
		c.left -= int64(len(p))
		return c.ResponseWriter.Write(p)
	}
	_, _ = c.ResponseWriter.Write(p[:c.left])
	c.ResponseWriter.(http.Flusher).Flush()
	panic(http.ErrAbortHandler)
}

// On a terminal, one line shows the progress and is rewritten.
func TestInstallViewOnATerminal(t *testing.T) {
	var out strings.Builder
	v := &installView{out: &out, live: true}
	v.report(models.Event{Event: models.Progress, Name: "tone", Done: 0, Total: 2e6})
	v.shown, v.from = v.shown.Add(-time.Second), v.from.Add(-2*time.Second)
	v.report(models.Event{Event: models.Progress, Name: "tone", Done: 1e6, Total: 2e6})
	v.report(models.Event{Event: models.Progress, Name: "tone", Done: 1.1e6, Total: 2e6}) // too soon
	v.report(models.Event{Event: models.Note, Name: "tone", Message: "trying again"})
	v.report(models.Event{Event: models.Progress, Name: "tone", Done: 2e6, Total: 2e6})
	v.report(models.Event{Event: models.Installed, Name: "tone"})
	lines := strings.Split(strings.ReplaceAll(out.String(), "\r", "\n"), "\n")
	for i, want := range []string{
		"", "tone [........................] 0 kB of 2 MB",
		"tone [############............] 1 MB of 2 MB, 500 kB/s, 2s left", "tone: trying again",
		"", "tone [########################] 2 MB of 2 MB", "tone is installed",
	} {
		if i >= len(lines) || !strings.HasPrefix(strings.TrimRight(lines[i], " "), want) {
			t.Errorf("line %d of %q, want %q", i, lines, want)
		}
	}
}
