package models

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestInstallSurvivesTwoDisconnects(t *testing.T) {
	files := toneFiles(t)
	m := newMirror(t, files)
	size := len(files["encoder.onnx"])
	m.answer = func(w http.ResponseWriter, r *http.Request, n int, content []byte) bool {
		return n <= 2 && upTo(n*size/3)(w, r, n, content)
	}
	s, log := open(t, toneEntry(files, m.URL))
	if err := s.Install(t.Context(), "tone-tdt"); err != nil {
		t.Fatal(err)
	}
	wantInstalled(t, s, "tone-tdt")
	tag := etag(files["encoder.onnx"])
	want := []asked{
		{"encoder.onnx", "", ""},
		{"encoder.onnx", fmt.Sprintf("bytes=%d-", size/3), tag},
		{"encoder.onnx", fmt.Sprintf("bytes=%d-", 2*size/3), tag},
	}
	if got := m.requests("encoder.onnx"); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("requested %v, want %v", got, want)
	}
	var last int64
	for _, e := range log.of(Progress) {
		if e.Done < last || e.Done > e.Total || e.Total != toneEntry(files).Size() {
			t.Errorf("progress went from %d to %+v", last, e)
		}
		last = e.Done
	}
	if last != toneEntry(files).Size() || len(log.of(Installed)) != 1 || len(log.of(Note)) != 2 {
		t.Errorf("reported %+v", log.list)
	}

	// A complete model is not downloaded twice.
	before := len(m.asked)
	if err := s.Install(t.Context(), "tone-tdt"); err != nil || len(m.asked) != before {
		t.Errorf("installed again: %v, after %d requests", err, len(m.asked)-before)
	}
}

// Interruptions that make progress do not count as failures of the mirror.
func TestManyDisconnects(t *testing.T) {
	files := toneFiles(t)
	m := newMirror(t, files)
	const cuts = 4 * attempts
	m.answer = func(w http.ResponseWriter, r *http.Request, n int, content []byte) bool {
		return n < cuts && upTo(n*len(content)/cuts)(w, r, n, content)
	}
	s, _ := open(t, toneEntry(files, m.URL))
	if err := s.Install(t.Context(), "tone-tdt"); err != nil {
		t.Fatal(err)
	}
	wantInstalled(t, s, "tone-tdt")
	if n := len(m.requests("encoder.onnx")); n != cuts {
		t.Errorf("%d requests, want %d", n, cuts)
	}
}

// slowBody delivers a piece each time that it is read, after a pause.
type slowBody struct {
	rest  []byte
	pause time.Duration
}

func (b *slowBody) Read(p []byte) (n int, err error) {
	time.Sleep(b.pause)
	if len(b.rest) == 0 {
		return 0, io.EOF
	}
	n = copy(p[:min(len(p), 64)], b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

func (*slowBody) Close() error { return nil }

// A slow server is not a stalled one. The download takes many times as long as the
// server may send nothing.
func TestSlowServer(t *testing.T) {
	files := toneFiles(t)
	synctest.Test(t, func(t *testing.T) {
		s, _ := open(t, toneEntry(files, "http://mirror.test"))
		requests, begun := 0, time.Now()
		s.client = served(files, func(_ *http.Request, content []byte) io.ReadCloser {
			requests++
			return &slowBody{rest: content, pause: s.stall - time.Millisecond}
		})
		if err := s.Install(t.Context(), "tone-tdt"); err != nil {
			t.Fatal(err)
		}
		if requests != len(files) {
			t.Errorf("%d requests, want %d", requests, len(files))
		}
		if took := time.Since(begun); took < 10*s.stall {
			t.Errorf("the download took only %v", took)
		}
	})
}

// served returns a client whose requests for files get a body, without sockets: a
// synctest bubble cannot wait for those.
func served(files map[string][]byte, body func(r *http.Request, content []byte) io.ReadCloser) *http.Client {
	return &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		content := files[path.Base(r.URL.Path)]
		return &http.Response{
			StatusCode: http.StatusOK, ContentLength: int64(len(content)), Header: http.Header{}, Request: r, Body: body(r, content),
		}, nil
	})}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestServerThatIgnoresRange(t *testing.T) {
	files := toneFiles(t)
	m := newMirror(t, files)
	m.answer = func(w http.ResponseWriter, r *http.Request, n int, content []byte) bool {
		r.Header.Del("Range")
		if n == 1 {
			return upTo(len(content)/2)(w, r, n, content)
		}
		return false
	}
	s, _ := open(t, toneEntry(files, m.URL))
	if err := s.Install(t.Context(), "tone-tdt"); err != nil {
		t.Fatal(err)
	}
	wantInstalled(t, s, "tone-tdt")
}

// A partial file whose content has changed on the server is useless: with If-Range
// the server sends all of the new one.
func TestFileThatChangesOnTheServer(t *testing.T) {
	files := toneFiles(t)
	m := newMirror(t, files)
	m.answer = func(w http.ResponseWriter, r *http.Request, n int, content []byte) bool {
		if n == 1 {
			return upTo(len(content)/2)(w, r, n, []byte(strings.Repeat("x", len(content))))
		}
		return false
	}
	s, _ := open(t, toneEntry(files, m.URL))
	if err := s.Install(t.Context(), "tone-tdt"); err != nil {
		t.Fatal(err)
	}
	wantInstalled(t, s, "tone-tdt")
	if n := len(m.requests("encoder.onnx")); n != 2 {
		t.Errorf("%d requests, want 2", n)
	}
}

// A mirror without ETags may change a file, too. The checksum detects it, and the
// file is downloaded from the start.
func TestPartOfAnotherVersionWithoutETag(t *testing.T) {
	files := toneFiles(t)
	m := newMirror(t, files)
	s, _ := open(t, toneEntry(files, m.URL))
	part := filepath.Join(s.stage("tone-tdt"), "encoder.onnx"+partSuffix)
	if err := errors.Join(os.MkdirAll(filepath.Dir(part), 0o755), os.WriteFile(part, []byte("another version"), 0o644)); err != nil {
		t.Fatal(err)
	}
	write(filepath.Join(s.stage("tone-tdt"), "old.onnx"), []byte("not in this version"))
	if err := s.Install(t.Context(), "tone-tdt"); err != nil {
		t.Fatal(err)
	}
	wantInstalled(t, s, "tone-tdt")
	if _, err := os.Stat(filepath.Join(s.Folder("tone-tdt"), "old.onnx")); err == nil {
		t.Error("a file of another version was installed")
	}
	if got := fmt.Sprint(m.requests("encoder.onnx")); got != "[{encoder.onnx bytes=15- } {encoder.onnx  }]" {
		t.Errorf("requested %s", got)
	}
}

// badResponses lists wrong responses of a mirror, with words of the resulting error.
var badResponses = map[string]struct {
	answer func(http.ResponseWriter, *http.Request, int, []byte) bool
	words  string
}{
	"other content": {func(w http.ResponseWriter, _ *http.Request, _ int, content []byte) bool {
		_, _ = w.Write([]byte(strings.Repeat("x", len(content))))
		return true
	}, "pinned checksum"},
	"longer": {func(w http.ResponseWriter, _ *http.Request, _ int, content []byte) bool {
		w.Header().Set("Content-Length", fmt.Sprint(len(content)+1))
		_, _ = w.Write(slices.Concat(content, []byte("x")))
		return true
	}, "bytes instead of"},
	"longer than it says": {func(w http.ResponseWriter, _ *http.Request, _ int, content []byte) bool {
		w.(http.Flusher).Flush()
		_, _ = w.Write(slices.Concat(content, []byte("x")))
		return true
	}, "sent more than"},
	"an error page": {func(w http.ResponseWriter, _ *http.Request, _ int, _ []byte) bool {
		_, _ = w.Write([]byte("<html>not found</html>"))
		return true
	}, "bytes instead of"},
	"shorter than it says": {func(w http.ResponseWriter, _ *http.Request, _ int, content []byte) bool {
		w.(http.Flusher).Flush()
		_, _ = w.Write(content[:len(content)-1])
		return true
	}, "ended"},
	"another range": {func(w http.ResponseWriter, r *http.Request, n int, content []byte) bool {
		if n == 1 {
			return upTo(10)(w, r, n, content)
		}
		w.Header().Set("Content-Range", fmt.Sprintf("bytes 0-%d/%d", len(content)-1, len(content)))
		w.WriteHeader(http.StatusPartialContent)
		_, _ = w.Write(content)
		return true
	}, "different range"},
	"a file of another size": {func(w http.ResponseWriter, r *http.Request, n int, content []byte) bool {
		if n == 1 {
			return upTo(10)(w, r, n, content)
		}
		w.Header().Set("Content-Range", fmt.Sprintf("bytes 10-%d/%d", len(content), len(content)+1))
		w.WriteHeader(http.StatusPartialContent)
		_, _ = w.Write(content[10:])
		return true
	}, "bytes instead of"},
	"not there": {func(w http.ResponseWriter, r *http.Request, _ int, _ []byte) bool {
		http.NotFound(w, r)
		return true
	}, "404"},
	"overloaded": {func(w http.ResponseWriter, _ *http.Request, _ int, _ []byte) bool {
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	}, "503"},
	"always cut": {func(w http.ResponseWriter, r *http.Request, n int, content []byte) bool {
		return upTo(10)(w, r, n, content)
	}, "EOF"},
}

func TestBadResponses(t *testing.T) {
	files := toneFiles(t)
	for name, c := range badResponses {
		t.Run(name, func(t *testing.T) {
			bad, good := newMirror(t, files), newMirror(t, files)
			bad.answer = c.answer
			s, _ := open(t, toneEntry(files, bad.URL))
			err := s.Install(t.Context(), "tone-tdt")
			wantError(t, s, err, "encoder.onnx", c.words, "--mirror")
			if list, err := s.List(); err != nil || len(list) != 0 {
				t.Errorf("%q is installed, %v", list, err)
			}
			if n := len(bad.requests("encoder.onnx")); n > attempts+1 {
				t.Errorf("the mirror got %d requests", n)
			}

			// The next mirror completes it, whatever the first one left.
			s, log := openIn(t, s.Dir, toneEntry(files, bad.URL, good.URL))
			if err := s.Install(t.Context(), "tone-tdt"); err != nil {
				t.Fatal(err)
			}
			wantInstalled(t, s, "tone-tdt")
			if len(log.of(Note)) == 0 {
				t.Error("no note about the first mirror")
			}
		})
	}
}

func TestMirrorOfTheUserComesFirst(t *testing.T) {
	files := toneFiles(t)
	mine := map[string][]byte{}
	for name, content := range files {
		mine["repo/"+name] = content
	}
	own, other := newMirror(t, mine), newMirror(t, files)
	s, err := Open(Options{Dir: t.TempDir(), Manifest: &Manifest{Models: []Entry{toneEntry(files, "https://models.invalid/repo/", other.URL)}}, Mirrors: []string{own.URL + "/"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Install(t.Context(), "tone-tdt"); err != nil {
		t.Fatal(err)
	}
	if len(other.asked) != 0 {
		t.Errorf("another mirror got requests for %v", other.asked)
	}
	if _, err := Open(Options{Mirrors: []string{"models.invalid"}}); err == nil {
		t.Error("a mirror without a scheme was accepted")
	}
}

// TestVanishedMirror: a partial download survives a network failure.
func TestVanishedMirror(t *testing.T) {
	files := toneFiles(t)
	m := newMirror(t, files)
	half := len(files["encoder.onnx"]) / 2
	m.answer = func(w http.ResponseWriter, r *http.Request, n int, content []byte) bool {
		go m.Listener.Close()
		return upTo(half)(w, r, n, content)
	}
	s, _ := open(t, toneEntry(files, m.URL))
	wantError(t, s, s.Install(t.Context(), "tone-tdt"), "encoder.onnx", "connection refused", "HTTPS_PROXY", "to resume")

	again := newMirror(t, files)
	s, _ = openIn(t, s.Dir, toneEntry(files, again.URL))
	if err := s.Install(t.Context(), "tone-tdt"); err != nil {
		t.Fatal(err)
	}
	wantInstalled(t, s, "tone-tdt")
	if got := again.requests("encoder.onnx"); len(got) != 1 || got[0].span != fmt.Sprintf("bytes=%d-", half) || got[0].ifRange != "" {
		t.Errorf("requested %v", got)
	}
}

// stalledBody delivers some bytes, and then nothing until the request is cancelled.
type stalledBody struct {
	*bytes.Reader
	ctx context.Context
}

func (b stalledBody) Read(p []byte) (int, error) {
	if n, err := b.Reader.Read(p); err == nil {
		return n, nil
	}
	<-b.ctx.Done()
	return 0, b.ctx.Err()
}

func (stalledBody) Close() error { return nil }

func TestServerThatStalls(t *testing.T) {
	files := toneFiles(t)
	synctest.Test(t, func(t *testing.T) {
		s, log := open(t, toneEntry(files, "http://bad.test", "http://good.test"))
		s.client = served(files, func(r *http.Request, content []byte) io.ReadCloser {
			if r.URL.Host == "bad.test" {
				return stalledBody{bytes.NewReader(content[:10]), r.Context()}
			}
			return io.NopCloser(bytes.NewReader(content))
		})
		if err := s.Install(t.Context(), "tone-tdt"); err != nil {
			t.Fatal(err)
		}
		wantInstalled(t, s, "tone-tdt")
		if notes := log.of(Note); len(notes) == 0 || !strings.Contains(notes[0].Message, "sent nothing for 1m0s") {
			t.Errorf("reported %v", notes)
		}
	})
}

func TestCancelledInstallContinues(t *testing.T) {
	files := toneFiles(t)
	m := newMirror(t, files)
	ctx, cancel := context.WithCancel(t.Context())
	half := len(files["encoder.onnx"]) / 2
	m.answer = func(w http.ResponseWriter, r *http.Request, n int, content []byte) bool {
		if n > 1 {
			return false
		}
		w.Header().Set("Content-Length", fmt.Sprint(len(content)))
		_, _ = w.Write(content[:half])
		w.(http.Flusher).Flush()
		time.AfterFunc(50*time.Millisecond, cancel)
		<-r.Context().Done()
		return true
	}
	s, _ := open(t, toneEntry(files, m.URL))
	wantError(t, s, s.Install(ctx, "tone-tdt"), "context canceled", "to resume")
	if err := s.Install(t.Context(), "tone-tdt"); err != nil {
		t.Fatal(err)
	}
	if got := m.requests("encoder.onnx"); len(got) != 2 || got[1].span != fmt.Sprintf("bytes=%d-", half) {
		t.Errorf("requested %v", got)
	}
}

// TestOldModelStays: until the new one is complete.
func TestOldModelStays(t *testing.T) {
	files := toneFiles(t)
	m := newMirror(t, files)
	s, _ := open(t, toneEntry(files, m.URL))
	if err := s.Install(t.Context(), "tone-tdt"); err != nil {
		t.Fatal(err)
	}
	newer := map[string][]byte{"encoder.onnx": files["encoder.onnx"], "decoder.onnx": files["decoder.onnx"], "joiner.onnx": files["joiner.onnx"], "tokens.txt": append([]byte("\n"), files["tokens.txt"]...)}
	m.files = map[string][]byte{"encoder.onnx": newer["encoder.onnx"], "decoder.onnx": newer["decoder.onnx"], "joiner.onnx": newer["joiner.onnx"]}
	s2, _ := openIn(t, s.Dir, toneEntry(newer, m.URL))
	wantError(t, s, s2.Install(t.Context(), "tone-tdt"), "tokens.txt", "404")
	if err := s.Verify(t.Context(), "tone-tdt", noLoad); err != nil {
		t.Errorf("the old model: %v", err)
	}
	m.files["tokens.txt"] = newer["tokens.txt"]
	if err := s2.Install(t.Context(), "tone-tdt"); err != nil {
		t.Fatal(err)
	}
	wantInstalled(t, s2, "tone-tdt")
	if got, err := os.ReadFile(filepath.Join(s.Folder("tone-tdt"), "tokens.txt")); err != nil || string(got) != string(newer["tokens.txt"]) {
		t.Errorf("the model was not replaced: %v", err)
	}
}

// TestKilledBetweenTwoRenames: the next command restores the old model.
func TestKilledBetweenTwoRenames(t *testing.T) {
	files := toneFiles(t)
	s, _ := open(t, toneEntry(files, newMirror(t, files).URL))
	if err := s.Install(t.Context(), "tone-tdt"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(s.Folder("tone-tdt"), s.old("tone-tdt")); err != nil {
		t.Fatal(err)
	}
	wantError(t, s, s.Remove("another"), `model "another" is not installed`)
	wantInstalled(t, s, "tone-tdt")
	// After the second rename the old one is removed.
	if err := os.CopyFS(s.old("tone-tdt"), os.DirFS(s.Folder("tone-tdt"))); err != nil {
		t.Fatal(err)
	}
	wantError(t, s, s.Remove("another"), `model "another" is not installed`)
	if _, err := os.Stat(s.old("tone-tdt")); err == nil {
		t.Error("the old model was not removed")
	}
	wantInstalled(t, s, "tone-tdt")
}

func TestTwoInstallsAtOnce(t *testing.T) {
	files := toneFiles(t)
	m := newMirror(t, files)
	asked, goOn := make(chan struct{}), make(chan struct{})
	m.answer = func(http.ResponseWriter, *http.Request, int, []byte) bool {
		close(asked)
		<-goOn
		return false
	}
	first, _ := open(t, toneEntry(files, m.URL))
	second, _ := openIn(t, first.Dir, toneEntry(files, m.URL))
	done := make(chan error)
	go func() { done <- first.Install(t.Context(), "tone-tdt") }()
	<-asked
	wantError(t, second, second.Install(t.Context(), "tone-tdt"), "another command")
	wantError(t, second, second.Remove("tone-tdt"), "another command")
	close(goOn)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	wantInstalled(t, first, "tone-tdt")
}

const killedEnv = "AGENTVOICE_TEST_INSTALL"

func TestMain(m *testing.M) {
	if args := strings.Split(os.Getenv(killedEnv), " "); len(args) == 2 {
		installAndHang(args[0], args[1])
	}
	os.Exit(m.Run())
}

// installAndHang runs in the process that is killed: it installs from a server that hangs.
func installAndHang(dir, manifest string) {
	text, err := os.ReadFile(manifest)
	if err != nil {
		panic(err)
	}
	parsed, err := ParseManifest(text)
	if err != nil {
		panic(err)
	}
	s, err := Open(Options{Dir: dir, Manifest: parsed})
	if err == nil {
		err = s.Install(context.Background(), parsed.Models[0].Name)
	}
	panic(fmt.Sprint("the process was not killed: ", err))
}

func TestKilledInstallContinues(t *testing.T) {
	files := toneFiles(t)
	m := newMirror(t, files)
	half := len(files["encoder.onnx"]) / 2
	m.answer = func(w http.ResponseWriter, r *http.Request, n int, content []byte) bool {
		if n > 1 {
			return false
		}
		w.Header().Set("ETag", etag(content))
		w.Header().Set("Content-Length", fmt.Sprint(len(content)))
		_, _ = w.Write(content[:half])
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		return true
	}
	s, _ := open(t, toneEntry(files, m.URL))
	manifest := writeManifest(t, s.Manifest)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), killedEnv+"="+s.Dir+" "+manifest)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	part := filepath.Join(s.stage("tone-tdt"), "encoder.onnx"+partSuffix)
	for begun := time.Now(); sizeOf(part) != int64(half); time.Sleep(time.Millisecond) {
		if time.Since(begun) > time.Minute {
			t.Fatalf("downloaded %d bytes, want %d", sizeOf(part), half)
		}
	}
	wantError(t, s, s.Install(t.Context(), "tone-tdt"), "another command")
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("the process was not killed")
	}
	if err := s.Install(t.Context(), "tone-tdt"); err != nil {
		t.Fatal(err)
	}
	wantInstalled(t, s, "tone-tdt")
	if got := m.requests("encoder.onnx"); len(got) != 2 || got[1].span != fmt.Sprintf("bytes=%d-", half) || got[1].ifRange == "" {
		t.Errorf("requested %v", got)
	}
}

func TestDiskWithoutSpace(t *testing.T) {
	files := toneFiles(t)
	m := newMirror(t, files)
	e := toneEntry(files, m.URL)
	e.Files[0].Size = 1 << 60
	s, _ := open(t, e)
	wantError(t, s, s.Install(t.Context(), "tone-tdt"), "of disk space", "are free", "free some space")
	if len(m.asked) != 0 {
		t.Errorf("requested %v", m.asked)
	}
}
