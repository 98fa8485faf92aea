package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/agentvoice/agentvoice-daemon/internal/models"
	"github.com/agentvoice/agentvoice-daemon/internal/testutil/modelmirror"
)

// mirror is a script command that creates a mirror and its manifest, and serves it from a
// server that interrupts each download twice. MIRROR is its URL.
func mirror(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: mirror FOLDER MANIFEST")
	}
	dir := ts.MkAbs(args[0])
	ts.Check(modelmirror.Write("https://models.invalid", dir, ts.MkAbs(args[1]), ts.Getenv("ASSETS")))
	server := httptest.NewServer(&cuts{files: http.FileServer(http.Dir(dir)), dir: dir, asked: map[string]int{}})
	ts.Defer(server.Close)
	ts.Setenv("MIRROR", server.URL)
}

// cuts is a server that interrupts the first two responses for a file after a third.
type cuts struct {
	files http.Handler
	dir   string
	mu    sync.Mutex
	asked map[string]int
}

func (c *cuts) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// As a proxy it receives absolute URLs.
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

// cutter closes the connection after a number of bytes.
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

// On a terminal, one progress line is rewritten. It is no wider than the terminal.
func TestInstallViewOnATerminal(t *testing.T) {
	for _, columns := range []int{40, 80} {
		synctest.Test(t, func(t *testing.T) {
			d := &display{columns: columns}
			v := &installView{screen: screen{out: d, live: true, columns: func() int { return d.columns }}}
			shows := func(want ...string) {
				t.Helper()
				for i, line := range want {
					want[i] = line[:min(len(line), columns-1)]
				}
				if got := strings.TrimRight(strings.Join(d.text(), "\n"), "\n"); got != strings.Join(want, "\n") {
					t.Errorf("at %d columns:\n%s, want\n%s", columns, got, strings.Join(want, "\n"))
				}
			}
			v.report(models.Event{Event: models.Progress, Name: "tone", Done: 0, Total: 2e6})
			shows("tone [........................] 0 kB of 2 MB")
			time.Sleep(2 * time.Second)
			v.report(models.Event{Event: models.Progress, Name: "tone", Done: 1e6, Total: 2e6})
			v.report(models.Event{Event: models.Progress, Name: "tone", Done: 1.1e6, Total: 2e6}) // too soon to redraw
			shows("tone [############............] 1 MB of 2 MB, 500 kB/s, 2s left")
			v.report(models.Event{Event: models.Note, Name: "tone", Message: "trying again"})
			shows("tone: trying again")
			v.report(models.Event{Event: models.Progress, Name: "tone", Done: 2e6, Total: 2e6})
			shows("tone: trying again", "tone [########################] 2 MB of 2 MB, 1 MB/s, 0s left")
			v.report(models.Event{Event: models.Installed, Name: "tone"})
			shows("tone: trying again", "tone installed")
		})
	}
}
