package models

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/internal/assets"
)

// wheelOf makes a wheel with two files in place of the libraries.
func wheelOf(t *testing.T) (content []byte, files []File) {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	add := func(name string, content []byte) {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write(content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	const info = "sherpa_onnx_core-9.9.9.dist-info/"
	add(info+"METADATA", []byte("Metadata-Version: 2.1\nName: sherpa-onnx-core\nVersion: 9.9.9\n"))
	add(info+"WHEEL", []byte("Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"))
	add(info+"RECORD", nil)
	for _, name := range libraryNames(t) {
		content := bytes.Repeat([]byte(name), 1000)
		add("sherpa_onnx/lib/"+name, content)
		files = append(files, File{Path: "sherpa_onnx/lib/" + name, Size: int64(len(content)), SHA256: sum(content)})
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), files
}

// wheelName is the file name of the wheel in the index.
const wheelName = "sherpa_onnx_core-9.9.9-py3-none-any.whl"

// index serves a wheel, nil for none, as an index of pip, and makes pip use only it.
func index(t *testing.T, content *atomic.Pointer[[]byte]) {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/simple/sherpa-onnx-core/", func(w http.ResponseWriter, _ *http.Request) {
		if content.Load() != nil {
			fmt.Fprintf(w, "<a href=\"/files/%s\">%s</a>\n", wheelName, wheelName)
		}
	})
	mux.HandleFunc("/files/"+wheelName, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(*content.Load())
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	t.Setenv("PIP_CONFIG_FILE", os.DevNull)
	t.Setenv("PIP_INDEX_URL", s.URL+"/simple/")
	for _, name := range []string{"PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_NO_INDEX", "PIP_PROXY", "http_proxy", "HTTP_PROXY"} {
		t.Setenv(name, "")
	}
	t.Setenv("PIP_NO_CACHE_DIR", "1")
	t.Setenv("PIP_RETRIES", "0")
}

// TestEngineByPip: pip downloads the wheel, with its own settings.
func TestEngineByPip(t *testing.T) {
	if findPip(t.Context()) == nil {
		t.Fatal("pip is missing; install it with `make deps-test`")
	}
	content, files := wheelOf(t)
	var served atomic.Pointer[[]byte]
	served.Store(&content)
	index(t, &served)
	s, log := open(t)
	s.Manifest.Engine = EngineRelease{Packages: []Package{{
		System: runtime.GOOS, Arch: runtime.GOARCH, Pip: "sherpa-onnx-core==9.9.9", Platform: "manylinux2014_x86_64",
		Size: int64(len(content)), SHA256: sum(content), Files: files,
	}}}
	t.Setenv(assets.Env, s.Assets)

	cancelled, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	if err := s.InstallEngine(cancelled); err == nil {
		t.Error("installed although it was cancelled")
	}
	short := content[:len(content)-1]
	served.Store(&short)
	wantError(t, s, s.InstallEngine(t.Context()), "sherpa-onnx-core==9.9.9")
	served.Store(nil)
	wantError(t, s, s.InstallEngine(t.Context()), "pip cannot download sherpa-onnx-core==9.9.9 (No matching distribution found", "check the network, its proxy and pip's settings")
	served.Store(&content)
	s.Manifest.Engine.Packages[0].SHA256 = sum(nil)
	wantError(t, s, s.InstallEngine(t.Context()), "pinned checksum", "check pip's index")

	s.Manifest.Engine.Packages[0].SHA256 = sum(content)
	if err := s.InstallEngine(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.EngineInstalled(); err != nil {
		t.Error(err)
	}
	if entries, err := os.ReadDir(s.Assets); err != nil || len(entries) != 2 {
		t.Errorf("the folder contains %v, %v", entries, err)
	}
	if len(log.of(Installed)) != 1 {
		t.Errorf("reported %v", log.list)
	}
	// Without pip: a wheel that was downloaded elsewhere.
	write(filepath.Join(s.Assets, filepath.Base(files[1].Path)), []byte("damaged"))
	t.Setenv("PATH", t.TempDir())
	wantError(t, s, s.InstallEngine(t.Context()), "install Python's pip", "models import FILE")
	path := filepath.Join(t.TempDir(), wheelName)
	write(path, content)
	if got, err := s.Import(t.Context(), path, ImportOptions{}); err != nil || got != EngineName || s.EngineInstalled() != nil {
		t.Errorf("%q, %v, then %v", got, err, s.EngineInstalled())
	}
}

// TestZipArchives: what is unpacked stays within its folder.
func TestZipArchives(t *testing.T) {
	for _, name := range []string{"../outside", "/etc/outside", "a/../../outside"} {
		var out bytes.Buffer
		z := zip.NewWriter(&out)
		if w, err := z.CreateRaw(&zip.FileHeader{Name: name}); err != nil {
			t.Fatal(err)
		} else if _, err := w.Write(nil); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "x.zip")
		write(path, out.Bytes())
		if _, err := unpack(t.Context(), path, t.TempDir(), func(string) bool { return true }); err == nil || !strings.Contains(err.Error(), "outside") {
			t.Errorf("%s: %v", name, err)
		}
	}
	path := filepath.Join(t.TempDir(), "x.zip")
	write(path, []byte("no archive"))
	if _, err := unpack(t.Context(), path, t.TempDir(), func(string) bool { return true }); err == nil || !strings.Contains(err.Error(), "cannot unpack x.zip") {
		t.Error(err)
	}
}
