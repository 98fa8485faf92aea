package models

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/audio/engine"
	"github.com/agentvoice/agentvoice-daemon/internal/workspace"
)

// ImportOptions supplies what the files do not say.
type ImportOptions struct {
	Name      string   // name of the folder; defaults to the model's name
	Kind      string   // architecture, if there is no model.json
	Languages []string // languages, if there is no model.json

	entry *Entry // what the files are, if they were downloaded
}

// Import copies a model from a folder or from a tar archive (plain, gzip or bzip2),
// and returns its name. It also accepts the engine's package. A folder is identified
// by its model.json, by the manifest, or by a kind that its file names imply;
// otherwise o.Kind is required.
func (s *Store) Import(ctx context.Context, path string, o ImportOptions) (string, error) {
	if o.Name != "" {
		if err := checkName(o.Name); err != nil {
			return "", err
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("cannot read the import source: %w; use a folder or an archive", errors.Unwrap(err))
	}
	if !info.IsDir() && (!isArchive(path) || !info.Mode().IsRegular()) {
		return "", fmt.Errorf("%s is neither a folder nor an archive (.tar.bz2, .tar.gz, .tgz, .tar); unpack it and import the folder", filepath.Base(path))
	}
	if !info.IsDir() {
		if done, err := s.importEngine(ctx, path); done || err != nil {
			return EngineName, err
		}
	}
	unlock, err := s.change()
	if err != nil {
		return "", err
	}
	defer unlock()
	if !info.IsDir() {
		return s.importArchive(ctx, path, info.Size(), o)
	}
	return s.importFolder(ctx, path, filepath.Base(filepath.Clean(path)), o)
}

func checkName(name string) error {
	if !names.MatchString(name) || name == EngineName {
		return fmt.Errorf("invalid model name %q; use --name with letters, digits, dots, dashes and underscores", name)
	}
	return nil
}

// importArchive unpacks an archive in the folder of models and imports its content.
func (s *Store) importArchive(ctx context.Context, path string, size int64, o ImportOptions) (string, error) {
	if err := needSpace(s.Dir, 2*size); err != nil { // unpacked and then copied
		return "", err
	}
	unpacked := s.stage("archive.unpacked")
	if err := errors.Join(os.RemoveAll(unpacked), os.MkdirAll(unpacked, 0o755)); err != nil {
		return "", localError{err}
	}
	defer func() { _ = os.RemoveAll(unpacked) }() // the next import removes leftovers
	if _, err := unpack(ctx, path, unpacked, func(string) bool { return true }); err != nil {
		return "", err
	}
	base := filepath.Base(path)
	for _, suffix := range []string{".bz2", ".gz", ".tbz2", ".tgz", ".tar"} {
		base = strings.TrimSuffix(base, suffix)
	}
	// Most archives contain a single top-level folder.
	entries, err := os.ReadDir(unpacked)
	if err != nil {
		return "", localError{err}
	}
	dir := unpacked
	if len(entries) == 1 && entries[0].IsDir() {
		dir, base = filepath.Join(unpacked, entries[0].Name()), entries[0].Name()
	}
	return s.importFolder(ctx, dir, base, o)
}

func (s *Store) importFolder(ctx context.Context, from, base string, o ImportOptions) (string, error) {
	m, pinned, err := s.identify(from, base, o)
	if err != nil {
		return "", err
	}
	name := m.Name
	if o.Name != "" {
		name = o.Name
	}
	if err := checkName(name); err != nil {
		return "", err
	}
	source, err := openSource(from)
	if err != nil {
		return "", fmt.Errorf("cannot read %s: %w; check its permissions", base, err)
	}
	defer source.close()
	files, total, err := s.partFiles(ctx, source, m)
	if err != nil {
		return "", err
	}
	if err := needSpace(s.Dir, total); err != nil {
		return "", err
	}
	dir := s.stage(name)
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		return "", localError{err}
	}
	if err := s.copyFiles(ctx, source, dir, files, Event{Event: Progress, Name: name, Total: total}); err != nil {
		return "", errors.Join(err, os.RemoveAll(dir))
	}
	for _, f := range pinned {
		if sum, err := sumOf(filepath.Join(dir, filepath.FromSlash(f.Path))); err != nil || sum != f.SHA256 {
			return "", errors.Join(fmt.Errorf("%s does not match the pinned checksum of %s; download it again, or use --kind if it is another model", f.Path, m.Name), os.RemoveAll(dir))
		}
	}
	return name, s.finish(name, m)
}

// identify determines which model a folder contains, and the pinned files if it is in
// the manifest.
func (s *Store) identify(dir, base string, o ImportOptions) (engine.Model, []File, error) {
	if o.entry != nil {
		return o.entry.description(), o.entry.Files, nil
	}
	if _, err := os.Stat(filepath.Join(dir, engine.DescriptionFile)); err == nil {
		m, err := engine.ReadModel(dir)
		return m, nil, err
	}
	if o.Kind == "" {
		for _, e := range s.Manifest.Models {
			if e.matches(dir) {
				return e.description(), e.Files, nil
			}
		}
	}
	if findPart(dir, engine.ESpeakData) != "" {
		return engine.Model{}, nil, fmt.Errorf("%s: %w", base, engine.ErrESpeak)
	}
	kind := o.Kind
	if kind == "" {
		kind = guessKind(dir)
	}
	if kind == "" {
		return engine.Model{}, nil, fmt.Errorf("cannot identify the model in %s; use --kind with one of %s", base, strings.Join(engine.Kinds(), ", "))
	}
	m := engine.Model{Name: base, Kind: kind, Files: map[string]string{}, Languages: slices.Concat([]string{}, o.Languages)}
	required, optional, known := engine.Parts(kind)
	if !known {
		return engine.Model{}, nil, fmt.Errorf("unknown --kind %q; use one of %s", kind, strings.Join(engine.Kinds(), ", "))
	}
	for _, part := range slices.Concat(required, optional) {
		file := findPart(dir, part)
		if file == "" && slices.Contains(required, part) {
			return engine.Model{}, nil, fmt.Errorf("a model of kind %s needs exactly one file such as %s in %s; download it completely, or write a model.json", kind, patterns[part][0], base)
		}
		if file != "" {
			m.Files[part] = file
		}
	}
	return m, nil, nil
}

// matches reports whether a folder appears to contain the model, by the names and, if
// known, the sizes of its files.
func (e Entry) matches(dir string) bool {
	for _, path := range e.Parts {
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(path))); err != nil {
			return false
		}
	}
	return !slices.ContainsFunc(e.Files, func(f File) bool {
		return sizeOf(filepath.Join(dir, filepath.FromSlash(f.Path))) != f.Size
	})
}

// patterns lists the file names of published models' parts, in order of preference.
var patterns = map[string][]string{
	"encoder":            {"encoder*.int8.onnx", "encoder*.onnx", "*-encoder.int8.onnx", "*-encoder.onnx", "encoder_model.ort"},
	"decoder":            {"decoder*.int8.onnx", "decoder*.onnx", "*-decoder.int8.onnx", "*-decoder.onnx"},
	"joiner":             {"joiner*.int8.onnx", "joiner*.onnx"},
	"merged_decoder":     {"decoder_model_merged.ort", "*merged*.onnx"},
	"model":              {"model.int8.onnx", "model.onnx", "smart-turn*cpu.onnx", "*.onnx"},
	"smart_turn":         {"smart-turn*.onnx"}, // identifies the kind
	"tokens":             {"tokens.txt", "*-tokens.txt"},
	"bpe_vocab":          {"bpe.vocab"},
	engine.ESpeakData:    {"espeak-ng-data"},
	"lexicon":            {"lexicon.txt"},
	"duration_predictor": {"duration_predictor*.onnx"},
	"text_encoder":       {"text_encoder*.onnx"},
	"vector_estimator":   {"vector_estimator*.onnx"},
	"vocoder":            {"vocoder*.onnx"},
	"tts":                {"tts.json"},
	"unicode_indexer":    {"unicode_indexer.bin"},
	"voice_style":        {"voice.bin"},
}

// findPart returns the only file in a folder that matches the best pattern of a part.
func findPart(dir, part string) string {
	names := entriesOf(dir)
	for _, pattern := range patterns[part] {
		if found := matching(names, pattern); len(found) == 1 {
			return found[0]
		}
	}
	return ""
}

// entriesOf returns the names of a folder's entries, if it can be read.
func entriesOf(dir string) (names []string) {
	folder, err := workspace.Open(dir)
	if err != nil {
		return nil
	}
	defer folder.Close()
	entries, _, _ := folder.Entries(".", maxFiles)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// matching returns the names that match a pattern.
func matching(names []string, pattern string) (found []string) {
	for _, name := range names {
		if ok, _ := path.Match(pattern, name); ok { // the patterns are valid
			found = append(found, name)
		}
	}
	return found
}

// guessKind returns the kind whose files a folder has, or "" if several kinds match.
func guessKind(dir string) string {
	for _, c := range []struct{ part, kind string }{
		{"smart_turn", "smart-turn"}, {"duration_predictor", "supertonic"}, {"merged_decoder", "moonshine"},
	} {
		if findPart(dir, c.part) != "" {
			return c.kind
		}
	}
	return ""
}

// partFiles returns the files of a model's parts, relative to its folder, and their
// total size. A part may be a folder. It includes the licence and the readme.
func (s *Store) partFiles(ctx context.Context, from *source, m engine.Model) ([]string, int64, error) {
	paths := slices.Collect(maps.Values(m.Files))
	entries, _, err := from.folder.Entries(".", maxFiles)
	if err != nil {
		return nil, 0, fmt.Errorf("cannot read the folder: %w; check its permissions", err)
	}
	for _, e := range entries {
		for _, pattern := range []string{"LICENSE*", "LICENCE*", "README*", "MODEL_CARD*"} {
			if len(matching([]string{e.Name()}, pattern)) > 0 {
				paths = append(paths, e.Name())
			}
		}
	}
	var files []string
	var total int64
	var visit func(path string, depth int) error
	visit = func(path string, depth int) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if depth > 10 || len(files) > maxFiles || total > maxBytes {
			return fmt.Errorf("%s has too many files for a model; correct model.json", path)
		}
		if info, err := from.folder.Lstat(path); err == nil && info.IsDir() {
			entries, more, err := from.folder.Entries(path, maxFiles)
			if err != nil {
				return fmt.Errorf("cannot read %s: %w; check its permissions", path, err)
			}
			if more {
				return fmt.Errorf("%s has too many files for a model; correct model.json", path)
			}
			for _, e := range entries {
				if err := visit(path+"/"+e.Name(), depth+1); err != nil {
					return err
				}
			}
			return nil
		}
		file, info, err := from.open(path)
		if err != nil {
			return fmt.Errorf("cannot read %s: %w; a model's files are in its folder, or in a Hugging Face cache", path, err)
		}
		files, total = append(files, path), total+info.Size()
		return file.Close()
	}
	slices.Sort(paths)
	for _, path := range slices.Compact(paths) {
		if err := visit(path, 0); err != nil {
			return nil, 0, err
		}
	}
	return files, total, nil
}

// copyFiles copies files between folders, and reports progress. A copy is readable by no more
// users than the file.
func (s *Store) copyFiles(ctx context.Context, from *source, to string, files []string, progress Event) error {
	for _, path := range files {
		if err := context.Cause(ctx); err != nil {
			return fmt.Errorf("import of %s is incomplete: %w; run the command again", progress.Name, err)
		}
		target := filepath.Join(to, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return localError{err}
		}
		file, info, err := from.open(path)
		if err != nil {
			return fmt.Errorf("cannot read %s: %w; check its permissions", path, err)
		}
		if progress.Done+info.Size() > maxBytes {
			err = fmt.Errorf("%s is too large for a model", path)
		} else {
			err = copyFile(target, info.Mode(), io.LimitReader(file, info.Size()))
		}
		_ = file.Close()
		if err != nil {
			return err
		}
		progress.File, progress.Done = path, progress.Done+sizeOf(target)
		s.Report(progress)
	}
	return nil
}

func copyFile(target string, mode fs.FileMode, from io.Reader) error {
	file, err := os.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600|mode.Perm()&0o044)
	if err != nil {
		return localError{err}
	}
	return copyInto(file, from)
}
