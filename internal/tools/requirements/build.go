package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// bench is what is built for the proofs: the tests of each package once with all
// mutants of the core behind a switch, and once more for each mutant of what is
// around it.
type bench struct {
	root, out string
	tree      string            // a copy of what tests read, which they may write to
	files     string            // the hash of that
	binaries  map[string]string // by package, or mutant and package
	hashes    map[string]string // of the binaries
}

// aroundKey is the key of a binary with a mutant of its own.
func aroundKey(mutant, pkg string) string { return mutant + " " + pkg }

func newBench(root, out string) (*bench, error) {
	out, err := filepath.Abs(out)
	if err != nil {
		return nil, err
	}
	b := &bench{root: root, out: out, tree: filepath.Join(out, "tree"), binaries: map[string]string{}, hashes: map[string]string{}}
	if err := os.RemoveAll(b.tree); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(b.tree, 0o755); err != nil {
		return nil, err
	}
	// What is written here is no package of the module.
	if err := os.WriteFile(filepath.Join(out, "go.mod"), []byte("module out\n"), 0o644); err != nil {
		return nil, err
	}
	return b, b.copyFiles()
}

// build compiles what the proofs need.
func (b *bench) build(list []requirement, w *world) error {
	tags, core, err := b.core(list, w)
	if err != nil {
		return err
	}
	for _, r := range list {
		for _, p := range r.proofs {
			if err := b.compile(p.pkg, p.pkg, tags, core); err != nil {
				return err
			}
			for _, name := range p.mut {
				m, ok := w.around[name]
				if !ok {
					continue
				}
				overlay, err := m.overlay(b.root, b.out)
				if err != nil {
					return err
				}
				if err := b.compile(aroundKey(name, p.pkg), p.pkg, buildTags, overlay); err != nil {
					return fmt.Errorf("mutant %s: %w", name, err)
				}
			}
		}
	}
	return nil
}

// core has the mutants of the core written, if any proof names one, and returns
// what a build with them needs.
func (b *bench) core(list []requirement, w *world) (tags, overlay string, err error) {
	seeded := func(name string) bool { return w.seeded[name] }
	if !slices.ContainsFunc(list, func(r requirement) bool {
		return slices.ContainsFunc(r.proofs, func(p proof) bool { return slices.ContainsFunc(p.mut, seeded) })
	}) {
		return buildTags, "", nil
	}
	// The folder is that of `mutants run`, so that what is compiled is shared.
	folder := filepath.Join(b.root, "out", "mutants")
	_, err = goTool(b.root, "run", "-tags", buildTags, "./internal/tools/mutants", "generate", "-out", folder)
	return buildTags + ",mutants", filepath.Join(folder, "overlay.json"), err
}

func (b *bench) compile(key, pkg, tags, overlay string) error {
	if b.binaries[key] != "" {
		return nil
	}
	binary := filepath.Join(b.out, "bin", strings.NewReplacer("/", "-", " ", "-").Replace(key)+".test")
	if _, err := goTool(b.root, "test", "-c", "-vet=off", "-tags", tags, "-overlay", overlay, "-o", binary, "./"+pkg); err != nil {
		return err
	}
	text, err := os.ReadFile(binary)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(text)
	b.binaries[key], b.hashes[key] = binary, hex.EncodeToString(sum[:])
	return nil
}

// notCopied are folders that no test of a proof reads.
var notCopied = []string{".git", "bin", "out", "node_modules", "dist"}

// copyFiles copies the module into the tree and hashes it, but for its Go files,
// which the binaries stand for, and for the lists of requirements and mutants.
func (b *bench) copyFiles() error {
	sum := sha256.New()
	err := filepath.WalkDir(b.root, func(name string, d fs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(b.root, name)
		switch {
		case err != nil:
			return err
		case relErr != nil:
			return relErr
		case d.IsDir() && (slices.Contains(notCopied, d.Name()) || name == b.out):
			return filepath.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(b.tree, rel), 0o755)
		case !d.Type().IsRegular():
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		list := strings.HasPrefix(filepath.ToSlash(rel), "testdata/requirements/") || strings.HasPrefix(filepath.ToSlash(rel), "testdata/mutants/")
		if filepath.Ext(rel) != ".go" && !list {
			fmt.Fprintf(sum, "%s %d\n", rel, len(text))
			sum.Write(text)
		}
		return os.WriteFile(filepath.Join(b.tree, rel), text, 0o644)
	})
	b.files = hex.EncodeToString(sum.Sum(nil))
	return err
}

// writeOverlay writes files and a build overlay that puts them in place of those
// of the module, and returns the overlay's path.
func writeOverlay(root, out string, files map[string]string) (string, error) {
	replace := map[string]string{}
	for name, text := range files {
		to := filepath.Join(out, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(to, []byte(text), 0o644); err != nil {
			return "", err
		}
		replace[filepath.Join(root, filepath.FromSlash(name))] = to
	}
	text, err := json.MarshalIndent(map[string]any{"Replace": replace}, "", "  ")
	if err != nil {
		return "", err
	}
	path := filepath.Join(out, "overlay.json")
	return path, os.WriteFile(path, text, 0o644)
}
