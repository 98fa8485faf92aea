// Package modelmirror creates a model mirror for tests: a folder with the files of a
// tone language model and of an engine package, and the matching manifest.
package modelmirror

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/agentvoice/agentvoice-daemon/internal/models"
	"github.com/agentvoice/agentvoice-daemon/internal/testutil/tonemodel"
)

// Libraries lists the engine's files in its package.
var Libraries = []string{"libonnxruntime.so", "libsherpa-onnx-c-api.so"}

// Write fills a folder with the content of a mirror at a URL, and writes the
// manifest. It takes the engine's libraries from another folder. One of its two
// models, tone-tdt, can be installed; the other, tone-new, has no checksum.
func Write(at, folder, manifest, libraries string) error {
	dir := filepath.Join(folder, "tone-tdt")
	if err := tonemodel.TDT(dir); err != nil {
		return err
	}
	entry := models.Entry{
		Name: "tone-tdt", Title: "Tone language", Kind: "nemo-transducer", Machine: models.Small, Languages: []string{"en"},
		Licence: models.Licence{Name: "MIT", URL: "https://example.org/mit"}, Sources: []string{at + "/tone-tdt/"},
		Parts:   map[string]string{"encoder": "encoder.onnx", "decoder": "decoder.onnx", "joiner": "joiner.onnx", "tokens": "tokens.txt"},
		Figures: []models.Figure{{What: "word error rate", Value: "0 %", Source: "the tests"}},
	}
	for _, name := range []string{"encoder.onnx", "decoder.onnx", "joiner.onnx", "tokens.txt"} {
		f, err := fileOf(dir, name)
		if err != nil {
			return err
		}
		entry.Files = append(entry.Files, f)
	}
	unpinned := entry
	unpinned.Name, unpinned.Files, unpinned.Archive = "tone-new", nil, at+"/tone-new.tar.bz2"
	engine, err := pack(at, folder, libraries)
	if err != nil {
		return err
	}
	text, err := json.Marshal(models.Manifest{Models: []models.Entry{entry, unpinned}, Engine: models.EngineRelease{
		Version: "2.0.1", Licence: models.Licence{Name: "GPL-3.0-or-later", URL: "https://example.org/gpl"},
		Packages: []models.Package{engine},
	}})
	if err != nil {
		return err
	}
	return os.WriteFile(manifest, text, 0o600)
}

func fileOf(dir, name string) (models.File, error) {
	text, err := os.ReadFile(filepath.Join(dir, name))
	return models.File{Path: name, Size: int64(len(text)), SHA256: fmt.Sprintf("%x", sha256.Sum256(text))}, err
}

// pack packs the libraries like npm.
func pack(at, folder, libraries string) (p models.Package, err error) {
	p = models.Package{System: runtime.GOOS, Arch: runtime.GOARCH, URLs: []string{at + "/engine.tgz"}}
	out, err := os.Create(filepath.Join(folder, "engine.tgz"))
	if err != nil {
		return p, err
	}
	zipped, err := gzip.NewWriterLevel(out, gzip.BestSpeed)
	if err != nil {
		return p, err
	}
	archive := tar.NewWriter(zipped)
	for _, name := range Libraries {
		f, err := fileOf(libraries, name)
		if err != nil {
			return p, err
		}
		text, err := os.ReadFile(filepath.Join(libraries, name))
		if err != nil {
			return p, err
		}
		f.Path = "package/" + name
		if err := archive.WriteHeader(&tar.Header{Name: f.Path, Mode: 0o644, Size: f.Size}); err != nil {
			return p, err
		}
		if _, err := archive.Write(text); err != nil {
			return p, err
		}
		p.Files = append(p.Files, f)
	}
	if err := errors.Join(archive.Close(), zipped.Close(), out.Close()); err != nil {
		return p, err
	}
	whole, err := fileOf(folder, "engine.tgz")
	p.Size, p.SHA256 = whole.Size, whole.SHA256
	return p, err
}
