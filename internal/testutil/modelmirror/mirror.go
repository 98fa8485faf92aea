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
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/agentvoice/agentvoice-daemon/internal/models"
	"github.com/agentvoice/agentvoice-daemon/internal/testutil/tonemodel"
)

// Libraries lists the engine's files in its package.
var Libraries = []string{"libonnxruntime.so", "libsherpa-onnx-c-api.so"}

// Write fills a folder with the content of a mirror at a URL, and writes the
// manifest. It takes the engine's libraries from another folder. Its models are the same:
// tone-tdt is downloaded file by file, tone-packed as an archive, and tone-large, whose licence
// must be accepted, with a file that takes a while.
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
	whole, _, err := pack(folder, "tone-packed.tgz", dir, "tone/", slices.Sorted(maps.Values(entry.Parts)))
	if err != nil {
		return err
	}
	whole.URL = at + "/" + whole.Path
	packed := entry
	packed.Name, packed.Files, packed.Sources, packed.Archive = "tone-packed", nil, nil, &whole
	archive, files, err := pack(folder, "engine.tgz", libraries, "package/", Libraries)
	if err != nil {
		return err
	}
	large, err := enlarge(entry, dir, filepath.Join(folder, "tone-large"), at)
	if err != nil {
		return err
	}
	engine := models.Package{
		System: runtime.GOOS, Arch: runtime.GOARCH, URLs: []string{at + "/" + archive.Path}, Size: archive.Size, SHA256: archive.SHA256, Files: files,
	}
	text, err := json.Marshal(models.Manifest{Models: []models.Entry{entry, packed, large}, Engine: models.EngineRelease{
		Version: "2.0.1", Licence: models.Licence{Name: "GPL-3.0-or-later", URL: "https://example.org/gpl"},
		Packages: []models.Package{engine},
	}})
	if err != nil {
		return err
	}
	return os.WriteFile(manifest, text, 0o600)
}

// largeBytes is the size of the file that takes a while.
const largeBytes = 12 << 20

// enlarge copies a model to a folder and adds a large file.
func enlarge(e models.Entry, from, to, at string) (models.Entry, error) {
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return e, err
	}
	noise := make([]byte, largeBytes)
	_, _ = rand.NewChaCha8([32]byte{}).Read(noise) // never fails
	if err := os.WriteFile(filepath.Join(to, "large.bin"), noise, 0o600); err != nil {
		return e, err
	}
	f, err := fileOf(to, "large.bin")
	e.Name, e.Files, e.Sources = "tone-large", append(slices.Clone(e.Files), f), []string{at + "/tone-large/"}
	e.Licence = models.Licence{Name: "OpenRAIL-M", URL: "https://example.org/openrail"}
	return e, err
}

func fileOf(dir, name string) (models.File, error) {
	text, err := os.ReadFile(filepath.Join(dir, name))
	return models.File{Path: name, Size: int64(len(text)), SHA256: fmt.Sprintf("%x", sha256.Sum256(text))}, err
}

// pack packs files of a folder in a tar archive of another one, under a prefix, and returns the
// archive and the files in it.
func pack(folder, archive, from, prefix string, names []string) (whole models.File, files []models.File, err error) {
	out, err := os.Create(filepath.Join(folder, archive))
	if err != nil {
		return whole, nil, err
	}
	zipped, err := gzip.NewWriterLevel(out, gzip.BestSpeed)
	if err != nil {
		return whole, nil, err
	}
	tarred := tar.NewWriter(zipped)
	for _, name := range names {
		f, err := fileOf(from, name)
		if err != nil {
			return whole, nil, err
		}
		text, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			return whole, nil, err
		}
		f.Path = prefix + name
		if err := tarred.WriteHeader(&tar.Header{Name: f.Path, Mode: 0o644, Size: f.Size}); err != nil {
			return whole, nil, err
		}
		if _, err := tarred.Write(text); err != nil {
			return whole, nil, err
		}
		files = append(files, f)
	}
	if err := errors.Join(tarred.Close(), zipped.Close(), out.Close()); err != nil {
		return whole, nil, err
	}
	whole, err = fileOf(folder, archive)
	return whole, files, err
}
