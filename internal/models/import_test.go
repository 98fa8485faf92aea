package models

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/audio/engine"
	"github.com/agentvoice/agentvoice-daemon/internal/assets"
	"github.com/agentvoice/agentvoice-daemon/internal/testutil/tonemodel"
)

// folder writes files to a new folder.
func folder(t *testing.T, name string, files map[string][]byte) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	for path, content := range files {
		path = filepath.Join(dir, filepath.FromSlash(path))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, content, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// tgz returns an archive of entries with the content of files.
func tgz(t *testing.T, path string, headers []tar.Header, files map[string][]byte) string {
	t.Helper()
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	archive := tar.NewWriter(zipped)
	for _, h := range headers {
		h.Mode, h.Size = 0o644, int64(len(files[h.Name]))
		if err := archive.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Write(files[h.Name]); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(archive.Close(), zipped.Close(), os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, out.Bytes(), 0o644)); err != nil {
		t.Fatal(err)
	}
	return path
}

func headersOf(files map[string][]byte) []tar.Header {
	var list []tar.Header
	for name := range files {
		list = append(list, tar.Header{Name: name, Typeflag: tar.TypeReg})
	}
	return list
}

func TestImportOfADescribedFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "mine")
	if err := tonemodel.TDT(dir); err != nil {
		t.Fatal(err)
	}
	write(filepath.Join(dir, "LICENSE"), []byte("MIT"))
	write(filepath.Join(dir, "test.wav"), []byte("not needed"))
	s, log := open(t)
	name, err := s.Import(t.Context(), dir, ImportOptions{})
	if err != nil || name != "tone-tdt" {
		t.Fatalf("%q, %v", name, err)
	}
	wantInstalled(t, s, "tone-tdt")
	if _, err := os.Stat(filepath.Join(s.Folder(name), "LICENSE")); err != nil {
		t.Error("the licence was not copied")
	}
	if _, err := os.Stat(filepath.Join(s.Folder(name), "test.wav")); err == nil {
		t.Error("a file that the model does not need was copied")
	}
	if len(log.of(Progress)) == 0 {
		t.Error("no progress was reported")
	}

	// Another name, and a second import over the first.
	for range 2 {
		if name, err := s.Import(t.Context(), dir, ImportOptions{Name: "another"}); err != nil || name != "another" {
			t.Errorf("%q, %v", name, err)
		}
	}
	for _, bad := range []string{"../another", ".another", EngineName} {
		_, err := s.Import(t.Context(), dir, ImportOptions{Name: bad})
		wantError(t, s, err, "--name")
	}
	if list, err := s.List(); err != nil || !slices.Equal(list, []string{"another", "tone-tdt"}) {
		t.Errorf("%q, %v", list, err)
	}
	if err := s.Remove("another"); err != nil {
		t.Error(err)
	}
	if list, _ := s.List(); !slices.Equal(list, []string{"tone-tdt"}) {
		t.Errorf("%q were not removed", list)
	}
}

// A model of the manifest needs no description; its files are compared with the
// pinned checksums. Files in the Hugging Face cache are links.
func TestImportOfAModelOfTheManifest(t *testing.T) {
	files := toneFiles(t)
	blobs := folder(t, "blobs", files)
	dir := filepath.Join(filepath.Dir(blobs), "snapshots", "2bda32ec")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name := range files {
		if err := os.Symlink(filepath.Join("..", "..", "blobs", name), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	s, _ := open(t, toneEntry(files, "https://models.invalid"))
	if name, err := s.Import(t.Context(), dir, ImportOptions{}); err != nil || name != "tone-tdt" {
		t.Fatalf("%q, %v", name, err)
	}
	wantInstalled(t, s, "tone-tdt")
	if info, err := os.Lstat(filepath.Join(s.Folder("tone-tdt"), "tokens.txt")); err != nil || !info.Mode().IsRegular() {
		t.Errorf("the copy is %v, %v", info, err)
	}

	files["encoder.onnx"][100] ^= 1
	if err := os.WriteFile(filepath.Join(blobs, "encoder.onnx"), files["encoder.onnx"], 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := s.Import(t.Context(), dir, ImportOptions{})
	wantError(t, s, err, "encoder.onnx", "pinned checksum")
	wantInstalled(t, s, "tone-tdt") // the first one

	// With one byte missing it does not match the manifest.
	if err := os.Truncate(filepath.Join(blobs, "encoder.onnx"), 100); err != nil {
		t.Fatal(err)
	}
	_, err = s.Import(t.Context(), dir, ImportOptions{})
	wantError(t, s, err, "model in 2bda32ec", "--kind", "nemo-transducer")
}

func TestImportByKind(t *testing.T) {
	x := []byte("x")
	for name, c := range map[string]struct {
		files map[string][]byte
		kind  string
		want  string // kind and parts
	}{
		"a Piper voice":       {map[string][]byte{"en_US-amy-low.onnx": x, "en_US-amy-low.onnx.json": x, "tokens.txt": x, "espeak-ng-data/phontab": x}, "", "eSpeak NG pronounces this voice"},
		"a voice with words":  {map[string][]byte{"model.onnx": x, "lexicon.txt": x, "tokens.txt": x}, "vits", "vits lexicon=lexicon.txt model=model.onnx tokens=tokens.txt"},
		"a transducer":        {map[string][]byte{"encoder-epoch-99.onnx": x, "encoder-epoch-99.int8.onnx": x, "decoder-epoch-99.onnx": x, "joiner-epoch-99.int8.onnx": x, "tokens.txt": x}, "streaming-transducer", "streaming-transducer decoder=decoder-epoch-99.onnx encoder=encoder-epoch-99.int8.onnx joiner=joiner-epoch-99.int8.onnx tokens=tokens.txt"},
		"Whisper":             {map[string][]byte{"tiny.en-encoder.onnx": x, "tiny.en-decoder.int8.onnx": x, "tiny.en-tokens.txt": x}, "whisper", "whisper decoder=tiny.en-decoder.int8.onnx encoder=tiny.en-encoder.onnx tokens=tiny.en-tokens.txt"},
		"Moonshine":           {map[string][]byte{"encoder_model.ort": x, "decoder_model_merged.ort": x, "tokens.txt": x}, "", "moonshine encoder=encoder_model.ort merged_decoder=decoder_model_merged.ort tokens=tokens.txt"},
		"Smart Turn":          {map[string][]byte{"smart-turn-v3.2-cpu.onnx": x}, "", "smart-turn model=smart-turn-v3.2-cpu.onnx"},
		"a kind without file": {map[string][]byte{"tokens.txt": x}, "nemo-ctc", "needs exactly one file such as model.int8.onnx"},
		"two files for one":   {map[string][]byte{"a.onnx": x, "b.onnx": x, "tokens.txt": x}, "nemo-ctc", "exactly one file"},
		"an unknown kind":     {map[string][]byte{"tokens.txt": x}, "vosk", "unknown --kind"},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := open(t)
			got, err := s.Import(t.Context(), folder(t, "folder", c.files), ImportOptions{Kind: c.kind, Languages: []string{"en"}})
			if err != nil {
				wantError(t, s, err, c.want)
				return
			}
			m, err := engine.ReadModel(s.Folder(got))
			if err != nil {
				t.Fatal(err)
			}
			text := m.Kind
			for _, part := range slices.Sorted(maps.Keys(m.Files)) {
				text += " " + part + "=" + m.Files[part]
			}
			if text != c.want || m.Name != "folder" || !slices.Equal(m.Languages, []string{"en"}) {
				t.Errorf("%s, %+v", text, m)
			}
		})
	}
}

func TestImportOfArchives(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tone")
	if err := tonemodel.TDT(dir); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{
		"a.tar.bz2": {"-cjf", "-C", filepath.Dir(dir), "tone"}, "b.tgz": {"-czf", "-C", dir, "."}, "c.tar": {"-cf", "-C", dir, "."},
	} {
		archive := filepath.Join(t.TempDir(), name)
		if out, err := exec.Command("tar", append([]string{args[0], archive}, args[1:]...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		s, _ := open(t)
		if got, err := s.Import(t.Context(), archive, ImportOptions{}); err != nil || got != "tone-tdt" {
			t.Errorf("%s: %q, %v", name, got, err)
			continue
		}
		wantInstalled(t, s, "tone-tdt")
		if left, _ := filepath.Glob(filepath.Join(s.Dir, stagePrefix+"*")); len(left) > 0 {
			t.Errorf("%s: %q was not removed", name, left)
		}

		// A truncated archive.
		text, err := os.ReadFile(archive)
		if err != nil {
			t.Fatal(err)
		}
		half := filepath.Join(t.TempDir(), name)
		write(half, text[:len(text)/2])
		_, err = s.Import(t.Context(), half, ImportOptions{})
		wantError(t, s, err, name, "download it again")
		wantInstalled(t, s, "tone-tdt")
	}
	s, _ := open(t)
	_, err := s.Import(t.Context(), filepath.Join(dir, "tokens.txt"), ImportOptions{})
	wantError(t, s, err, "neither a folder nor an archive")
	_, err = s.Import(t.Context(), filepath.Join(dir, "nothing"), ImportOptions{})
	wantError(t, s, err, "no such file")
}

// TestArchivesThatEscape: nothing may be written outside of the folder.
func TestArchivesThatEscape(t *testing.T) {
	outside := t.TempDir()
	for name, headers := range map[string][]tar.Header{
		"a path upwards":       {{Name: "../evil", Typeflag: tar.TypeReg}},
		"a path through":       {{Name: "a/../../evil", Typeflag: tar.TypeReg}},
		"an absolute path":     {{Name: filepath.Join(outside, "evil"), Typeflag: tar.TypeReg}},
		"a link":               {{Name: "link", Typeflag: tar.TypeSymlink, Linkname: outside}, {Name: "link/evil", Typeflag: tar.TypeReg}},
		"a hard link":          {{Name: "evil", Typeflag: tar.TypeLink, Linkname: "/etc/passwd"}},
		"a device":             {{Name: "evil", Typeflag: tar.TypeChar}},
		"a folder of the same": {{Name: "evil", Typeflag: tar.TypeReg}, {Name: "evil/evil", Typeflag: tar.TypeReg}},
	} {
		s, _ := open(t)
		archive := tgz(t, filepath.Join(t.TempDir(), "evil.tgz"), headers, nil)
		_, err := s.Import(t.Context(), archive, ImportOptions{})
		if err == nil {
			t.Errorf("%s was accepted", name)
		}
		for _, dir := range []string{outside, filepath.Dir(s.Dir), s.Dir} {
			if _, err := os.Stat(filepath.Join(dir, "evil")); err == nil {
				t.Errorf("%s wrote outside of the folder", name)
			}
		}
		if left, _ := filepath.Glob(filepath.Join(s.Dir, stagePrefix+"*")); len(left) > 0 {
			t.Errorf("%s: %q was not removed", name, left)
		}
	}
}

// TestImportOfAHostileFolder: a link that leads out of the folder is not followed, and a copy is
// readable by no more users than the file.
func TestImportOfAHostileFolder(t *testing.T) {
	outside := folder(t, "outside", map[string][]byte{"id_rsa": []byte("SECRET")})
	for name, link := range map[string]string{
		"a private file":             filepath.Join(outside, "id_rsa"),
		"a device":                   "/dev/zero",
		"a folder":                   outside,
		"itself":                     "LICENSE",
		"blobs outside of the cache": filepath.Join("..", "..", "blobs", "id_rsa"),
	} {
		dir := filepath.Join(t.TempDir(), "snapshots", "mine")
		if err := errors.Join(os.MkdirAll(dir, 0o755), tonemodel.TDT(dir), os.Symlink(outside, filepath.Join(dir, "..", "..", "blobs")),
			os.Symlink(link, filepath.Join(dir, "LICENSE"))); err != nil {
			t.Fatal(err)
		}
		s, _ := open(t)
		if _, err := s.Import(t.Context(), dir, ImportOptions{}); err == nil {
			t.Errorf("a link to %s was followed", name)
		}
		if text, err := os.ReadFile(filepath.Join(s.Folder("tone-tdt"), "LICENSE")); err == nil {
			t.Errorf("a link to %s was copied: %q", name, text)
		}
	}
	archive := filepath.Join(t.TempDir(), "device.tar.gz")
	if err := os.Symlink("/dev/zero", archive); err != nil {
		t.Fatal(err)
	}
	device, _ := open(t)
	if _, err := device.Import(t.Context(), archive, ImportOptions{}); err == nil {
		t.Error("a device was imported")
	}
	dir := filepath.Join(t.TempDir(), "mine")
	if err := errors.Join(os.MkdirAll(dir, 0o755), tonemodel.TDT(dir), os.WriteFile(filepath.Join(dir, "LICENSE"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	s, _ := open(t)
	if _, err := s.Import(t.Context(), dir, ImportOptions{}); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(s.Folder("tone-tdt"), "LICENSE")); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the copy of a private file: %v, %v", info, err)
	}
}

// TestSizesOfAnArchive: sizes that add up to more than an integer holds are too large, also those
// of files that are not unpacked.
func TestSizesOfAnArchive(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	for _, sizes := range [][]int64{{maxBytes + 1}, {1, math.MaxInt64}, {math.MaxInt64, math.MaxInt64, 5}, {maxBytes, 1}, {-1}, {5, math.MinInt64}} {
		for _, want := range []bool{false, true} {
			entries := func(yield func(entry, error) bool) {
				for i, size := range sizes {
					e := entry{name: fmt.Sprint("f", i), size: size, open: func() (io.Reader, error) { return strings.NewReader(""), nil }}
					if !yield(e, nil) {
						return
					}
				}
			}
			if total, err := extract(t.Context(), entries, root, func(string) bool { return want }); err == nil || total > maxBytes {
				t.Errorf("sizes %d: a total of %d, %v", sizes, total, err)
			}
		}
	}
}

func TestArchiveWithTooManyFiles(t *testing.T) {
	var headers []tar.Header
	for range maxFiles + 1 {
		headers = append(headers, tar.Header{Name: "same", Typeflag: tar.TypeDir})
	}
	s, _ := open(t)
	_, err := s.Import(t.Context(), tgz(t, filepath.Join(t.TempDir(), "many.tgz"), headers, nil), ImportOptions{})
	wantError(t, s, err, "more than 10000 files")
}

func TestCancelledImport(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tone")
	if err := tonemodel.TDT(dir); err != nil {
		t.Fatal(err)
	}
	s, _ := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	s.Report = func(Event) { cancel() }
	_, err := s.Import(ctx, dir, ImportOptions{})
	wantError(t, s, err, "is incomplete")
	if list, _ := s.List(); len(list) != 0 {
		t.Errorf("%q is installed", list)
	}
}

func TestVerify(t *testing.T) {
	files := toneFiles(t)
	m := newMirror(t, files)
	s, _ := open(t, toneEntry(files, m.URL))
	if err := s.Install(t.Context(), "tone-tdt"); err != nil {
		t.Fatal(err)
	}
	refused := errors.New("the engine refuses it; install it again")
	loaded := ""
	load := func(m engine.Model) error { loaded = m.Name; return refused }
	if err := s.Verify(t.Context(), "tone-tdt", load); !errors.Is(err, refused) || loaded != "tone-tdt" {
		t.Errorf("%v, loaded %q", err, loaded)
	}
	encoder := filepath.Join(s.Folder("tone-tdt"), "encoder.onnx")
	spoilt := slices.Clone(files["encoder.onnx"])
	spoilt[len(spoilt)/2] ^= 1
	write(encoder, spoilt)
	loaded = ""
	wantError(t, s, s.Verify(t.Context(), "tone-tdt", load), "encoder.onnx of tone-tdt is damaged", "install the model again")
	if loaded != "" {
		t.Error("a damaged model was loaded")
	}

	// Installing it again downloads the damaged file again.
	if err := s.Install(t.Context(), "tone-tdt"); err != nil {
		t.Fatal(err)
	}
	wantInstalled(t, s, "tone-tdt")
	if err := os.Remove(encoder); err != nil {
		t.Fatal(err)
	}
	wantError(t, s, s.Verify(t.Context(), "tone-tdt", load), "encoder.onnx is missing")
	write(encoder, files["encoder.onnx"])
	write(filepath.Join(s.Folder("tone-tdt"), SumsFile), []byte("nonsense"))
	wantError(t, s, s.Verify(t.Context(), "tone-tdt", load), "SHA256SUMS of tone-tdt is damaged")
	if err := os.Remove(filepath.Join(s.Folder("tone-tdt"), SumsFile)); err != nil {
		t.Fatal(err)
	}
	if err := s.Verify(t.Context(), "tone-tdt", load); !errors.Is(err, ErrNoChecksums) {
		t.Error(err)
	}
	wantError(t, s, s.Verify(t.Context(), "..", load), "is not installed")
}

// TestEngine installs two files in place of the libraries, from an npm-style package.
func TestEngine(t *testing.T) {
	libraries := map[string][]byte{"package/package.json": []byte("{}")}
	var files []File
	for _, name := range libraryNames(t) {
		content := bytes.Repeat([]byte(name), 1000)
		libraries["package/"+name] = content
		files = append(files, File{Path: "package/" + name, Size: int64(len(content)), SHA256: sum(content)})
	}
	archive, err := os.ReadFile(tgz(t, filepath.Join(t.TempDir(), "engine.tgz"), headersOf(libraries), libraries))
	if err != nil {
		t.Fatal(err)
	}
	m := newMirror(t, map[string][]byte{"engine.tgz": archive})
	m.answer = func(w http.ResponseWriter, r *http.Request, n int, content []byte) bool {
		return n == 1 && upTo(len(content)/2)(w, r, n, content)
	}
	s, log := open(t)
	s.Manifest.Engine = EngineRelease{Packages: []Package{{
		System: runtime.GOOS, Arch: runtime.GOARCH, URLs: []string{m.URL + "/engine.tgz"},
		Size: int64(len(archive)), SHA256: sum(archive), Files: files,
	}}}
	t.Setenv(assets.Env, s.Assets)
	if err := s.InstallEngine(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.EngineInstalled(); err != nil {
		t.Error(err)
	}
	if entries, err := os.ReadDir(s.Assets); err != nil || len(entries) != 2 {
		t.Errorf("the folder contains %v, %v", entries, err)
	}
	if len(log.of(Installed)) != 1 || len(m.asked) != 2 {
		t.Errorf("%d requests, reported %v", len(m.asked), log.list)
	}
	// A damaged library is replaced, from a file in this case.
	write(filepath.Join(s.Assets, filepath.Base(files[1].Path)), []byte("damaged"))
	if s.EngineInstalled() == nil {
		t.Error("a damaged library counts as installed")
	}
	path := filepath.Join(t.TempDir(), "sherpa-onnx.tgz")
	write(path, archive)
	if name, err := s.Import(t.Context(), path, ImportOptions{}); err != nil || name != EngineName || s.EngineInstalled() != nil {
		t.Errorf("%q, %v, then %v", name, err, s.EngineInstalled())
	}
	// A package that does not match its pinned checksum.
	s.Manifest.Engine.Packages[0].Files[0].SHA256 = sum(nil)
	wantError(t, s, s.InstallEngine(t.Context()), filepath.Base(files[0].Path), "pinned checksum")
	s.Manifest.Engine.Packages = nil
	wantError(t, s, s.InstallEngine(t.Context()), "no speech engine for")
}

// libraryNames lists the files that package assets requires here.
func libraryNames(t *testing.T) []string {
	t.Helper()
	m, err := DefaultManifest()
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Engine.Package()
	if err != nil {
		t.Fatal(err)
	}
	return []string{filepath.Base(p.Files[0].Path), filepath.Base(p.Files[1].Path)}
}
