package models

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime/sherpa"
)

// ImportOptions say what the files do not.
type ImportOptions struct {
	Name      string   // of the folder; else the model's own
	Kind      string   // the architecture, where there is no model.json
	Languages []string // likewise
}

// Import copies a model from a folder, or from an archive (tar, with gzip or bzip2 or
// neither), and returns its name. The package of the engine is one, too. A folder is
// described by its model.json, or is a model of the manifest, or has a kind that its
// files tell; else o.Kind says it.
func (s *Store) Import(ctx context.Context, path string, o ImportOptions) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("cannot read what to import: %w; give a folder or an archive", errors.Unwrap(err))
	}
	if !info.IsDir() && !isArchive(path) {
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

// importArchive unpacks an archive beside the models and imports what is in it.
func (s *Store) importArchive(ctx context.Context, path string, size int64, o ImportOptions) (string, error) {
	if err := needSpace(s.Dir, 2*size); err != nil { // it is unpacked, and copied
		return "", err
	}
	unpacked := s.stage("archive.unpacked")
	if err := errors.Join(os.RemoveAll(unpacked), os.MkdirAll(unpacked, 0o755)); err != nil {
		return "", localError{err}
	}
	defer func() { _ = os.RemoveAll(unpacked) }() // the next import removes what is left
	if _, err := unpack(ctx, path, unpacked, func(string) bool { return true }); err != nil {
		return "", err
	}
	base := filepath.Base(path)
	for _, suffix := range []string{".bz2", ".gz", ".tbz2", ".tgz", ".tar"} {
		base = strings.TrimSuffix(base, suffix)
	}
	// Most archives hold one folder with everything in it.
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
	if !names.MatchString(name) || name == EngineName {
		return "", fmt.Errorf("a model cannot be installed as %q; give --name with letters, digits, dots, dashes and underscores", name)
	}
	files, total, err := s.partFiles(ctx, from, m)
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
	if err := s.copyFiles(ctx, from, dir, files, Event{Event: Progress, Name: name, Total: total}); err != nil {
		return "", errors.Join(err, os.RemoveAll(dir))
	}
	for _, f := range pinned {
		if sum, err := sumOf(filepath.Join(dir, filepath.FromSlash(f.Path))); err != nil || sum != f.SHA256 {
			return "", errors.Join(fmt.Errorf("%s has another checksum than the pinned one of %s; download it again, or give --kind if it is another model", f.Path, m.Name), os.RemoveAll(dir))
		}
	}
	return name, s.finish(name, m)
}

// identify finds out what model a folder holds, and the pinned files of one that is in
// the manifest.
func (s *Store) identify(dir, base string, o ImportOptions) (sherpa.Model, []File, error) {
	if _, err := os.Stat(filepath.Join(dir, sherpa.DescriptionFile)); err == nil {
		m, err := sherpa.ReadModel(dir)
		return m, nil, err
	}
	if o.Kind == "" {
		for _, e := range s.Manifest.Models {
			if e.matches(dir) {
				return e.description(), e.Files, nil
			}
		}
	}
	kind := o.Kind
	if kind == "" {
		kind = guessKind(dir)
	}
	if kind == "" {
		return sherpa.Model{}, nil, fmt.Errorf("%s does not tell what model it holds; give --kind with one of %s", base, strings.Join(sherpa.Kinds(), ", "))
	}
	m := sherpa.Model{Name: base, Kind: kind, Files: map[string]string{}, Languages: slices.Concat([]string{}, o.Languages)}
	required, optional, known := sherpa.Parts(kind)
	if !known {
		return sherpa.Model{}, nil, fmt.Errorf("unknown --kind %q; give one of %s", kind, strings.Join(sherpa.Kinds(), ", "))
	}
	for _, part := range slices.Concat(required, optional) {
		file := findPart(dir, part)
		if file == "" && slices.Contains(required, part) {
			return sherpa.Model{}, nil, fmt.Errorf("a model of kind %s needs a file such as %s, and %s has none, or several; download it completely, or write a model.json", kind, patterns[part][0], base)
		}
		if file != "" {
			m.Files[part] = file
		}
	}
	return m, nil, nil
}

// matches says whether a folder seems to hold the model: its files by name and size,
// where those are known.
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

// patterns are how the parts of published models are called, the best first.
var patterns = map[string][]string{
	"encoder":            {"encoder*.int8.onnx", "encoder*.onnx", "*-encoder.int8.onnx", "*-encoder.onnx", "encoder_model.ort"},
	"decoder":            {"decoder*.int8.onnx", "decoder*.onnx", "*-decoder.int8.onnx", "*-decoder.onnx"},
	"joiner":             {"joiner*.int8.onnx", "joiner*.onnx"},
	"merged_decoder":     {"decoder_model_merged.ort", "*merged*.onnx"},
	"model":              {"model.int8.onnx", "model.onnx", "smart-turn*cpu.onnx", "*.onnx"},
	"smart_turn":         {"smart-turn*.onnx"}, // shows the kind
	"tokens":             {"tokens.txt", "*-tokens.txt"},
	"bpe_vocab":          {"bpe.vocab"},
	"data":               {"espeak-ng-data"},
	"lexicon":            {"lexicon.txt", "lexicon-us-en.txt"},
	"voices":             {"voices.bin"},
	"duration_predictor": {"duration_predictor*.onnx"},
	"text_encoder":       {"text_encoder*.onnx"},
	"vector_estimator":   {"vector_estimator*.onnx"},
	"vocoder":            {"vocoder*.onnx"},
	"tts":                {"tts.json"},
	"unicode_indexer":    {"unicode_indexer.bin"},
	"voice_style":        {"voice.bin"},
}

// findPart is the one file of a folder that the best pattern of a part matches.
func findPart(dir, part string) string {
	for _, pattern := range patterns[part] {
		found, err := fs.Glob(os.DirFS(dir), pattern)
		if err == nil && len(found) == 1 {
			return found[0]
		}
	}
	return ""
}

// guessKind is the kind of a model whose files belong to no other; "" where several
// kinds have such files.
func guessKind(dir string) string {
	for _, c := range []struct{ part, kind string }{
		{"smart_turn", "smart-turn"}, {"duration_predictor", "supertonic"}, {"voices", "kokoro"}, {"merged_decoder", "moonshine"}, {"data", "vits"},
	} {
		if findPart(dir, c.part) != "" {
			return c.kind
		}
	}
	return ""
}

// partFiles are the files of a model's parts, relative to its folder, and their size. A
// part may be a folder. Links are followed, as those in the cache of Hugging Face are
// all links. The licence and the description for people come along.
func (s *Store) partFiles(ctx context.Context, dir string, m sherpa.Model) ([]string, int64, error) {
	paths := slices.Collect(maps.Values(m.Files))
	for _, pattern := range []string{"LICENSE*", "LICENCE*", "README*", "MODEL_CARD*"} {
		more, _ := fs.Glob(os.DirFS(dir), pattern) // the patterns are valid
		paths = append(paths, more...)
	}
	var files []string
	var total int64
	var visit func(path string, depth int) error
	visit = func(path string, depth int) error {
		info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(path)))
		switch {
		case err != nil:
			return fmt.Errorf("cannot read %s: %w; check its permissions", path, errors.Unwrap(err))
		case ctx.Err() != nil:
			return ctx.Err()
		case depth > 10 || len(files) > maxFiles || total > maxBytes:
			return fmt.Errorf("%s holds too many files for a model; correct model.json", path)
		case !info.IsDir():
			files, total = append(files, path), total+info.Size()
			return nil
		}
		entries, err := os.ReadDir(filepath.Join(dir, filepath.FromSlash(path)))
		if err != nil {
			return fmt.Errorf("cannot read %s: %w; check its permissions", path, errors.Unwrap(err))
		}
		for _, e := range entries {
			if err := visit(path+"/"+e.Name(), depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	slices.Sort(paths)
	for _, path := range slices.Compact(paths) {
		if err := visit(path, 0); err != nil {
			return nil, 0, err
		}
	}
	return files, total, nil
}

// copyFiles copies files from a folder to another one, and reports how far it is.
func (s *Store) copyFiles(ctx context.Context, from, to string, files []string, progress Event) error {
	for _, path := range files {
		if err := context.Cause(ctx); err != nil {
			return fmt.Errorf("%s was not imported completely: %w; run the command again", progress.Name, err)
		}
		target := filepath.Join(to, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return localError{err}
		}
		source, err := os.Open(filepath.Join(from, filepath.FromSlash(path)))
		if err != nil {
			return fmt.Errorf("cannot read %s: %w; check its permissions", path, errors.Unwrap(err))
		}
		file, err := os.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
		if err == nil {
			err = copyInto(file, source)
		} else {
			err = localError{err}
		}
		_ = source.Close()
		if err != nil {
			return err
		}
		progress.File, progress.Done = path, progress.Done+sizeOf(target)
		s.Report(progress)
	}
	return nil
}
