package requirements

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agentvoice/agentvoice-daemon/internal/memo"
)

// bench is built for the proofs: the tests of each package once with all mutants behind
// a switch, and once more for each mutant that has none (switched.go).
type bench struct {
	root, out string
	tree      string                   // copy of the files that tests read and may write
	files     string                   // hash of these, except for what is compiled into the binaries
	sources   string                   // hash of everything that is compiled
	alone     map[string]around        // mutants without a switch
	binaries  map[string]string        // by package, or mutant and package
	hashes    map[string]string        // hashes of the binaries
	machine   string                   // the versions of Go and of what is installed
	took      map[string]time.Duration // how long each test takes without a mutant
}

// aroundKey returns the key of a binary with its own mutant.
func aroundKey(mutant, pkg string) string { return mutant + " " + pkg }

func newBench(root, out string) (*bench, error) {
	out, err := filepath.Abs(out)
	if err != nil {
		return nil, err
	}
	b := &bench{root: root, out: out, tree: filepath.Join(out, "tree"), binaries: map[string]string{}, hashes: map[string]string{}, took: map[string]time.Duration{}}
	if b.machine, err = memo.Of(root, "proofs").Key(); err != nil {
		return nil, err
	}
	if err := os.RemoveAll(b.tree); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(b.tree, 0o755); err != nil {
		return nil, err
	}
	// Files written here must not be packages of the module.
	if err := os.WriteFile(filepath.Join(out, "go.mod"), []byte("module out\n"), 0o644); err != nil {
		return nil, err
	}
	return b, b.copyFiles()
}

// binary is a test binary to compile.
type binary struct{ key, pkg, tags, overlay string }

// build compiles what the proofs need, unless nothing has changed since the last run.
func (b *bench) build(list []requirement, w *world, jobs int) error {
	tags, core, err := b.core(list, w)
	if err != nil {
		return err
	}
	all, alone, err := b.withSwitches(core, w)
	if err != nil {
		return err
	}
	b.alone = alone
	var binaries []binary
	add := func(n binary) {
		if !slices.ContainsFunc(binaries, func(o binary) bool { return o.key == n.key }) {
			binaries = append(binaries, n)
		}
	}
	for _, r := range list {
		for _, p := range r.proofs {
			add(binary{p.pkg, p.pkg, tags, all})
			for _, name := range p.mut {
				m, ok := b.alone[name]
				if !ok {
					continue
				}
				overlay, err := m.overlay(b.root, b.out)
				if err != nil {
					return err
				}
				add(binary{aroundKey(name, p.pkg), p.pkg, buildTags, overlay})
			}
		}
	}
	return b.compileAll(binaries, jobs)
}

// compileAll compiles in parallel, because linking uses only one core.
func (b *bench) compileAll(all []binary, jobs int) error {
	stamp := filepath.Join(b.out, "sources")
	before, _ := os.ReadFile(stamp)
	fresh := string(before) == b.sources
	if !fresh {
		if err := os.RemoveAll(filepath.Join(b.out, "bin")); err != nil {
			return err
		}
		if err := os.WriteFile(stamp, []byte(b.sources), 0o644); err != nil {
			return err
		}
	}
	paths, sums, errs := make([]string, len(all)), make([]string, len(all)), make([]error, len(all))
	parallel(len(all), jobs, func(i int) { paths[i], sums[i], errs[i] = b.compile(all[i]) })
	for i, n := range all {
		b.binaries[n.key], b.hashes[n.key] = paths[i], sums[i]
	}
	return errors.Join(errs...)
}

// compile compiles a binary unless it exists, and returns its path and its hash.
func (b *bench) compile(n binary) (path, sum string, err error) {
	path = filepath.Join(b.out, "bin", strings.NewReplacer("/", "-", " ", "-").Replace(n.key)+".test")
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		// Without debug information, which takes half of the linking time.
		if _, err = goTool(b.root, "test", "-c", "-vet=off", "-tags", n.tags, "-ldflags", "-s -w", "-overlay", n.overlay, "-o", path, "./"+n.pkg); err != nil {
			return "", "", fmt.Errorf("%s: %w", n.key, err)
		}
		text, err = os.ReadFile(path)
	}
	hash := sha256.Sum256(text)
	return path, hex.EncodeToString(hash[:]), err
}

// core generates the mutants of the core, if any proof names one, and returns the
// tags and the overlay for a build with them; the overlay is "" without any.
func (b *bench) core(list []requirement, w *world) (tags, overlay string, err error) {
	seeded := func(name string) bool { return w.seeded[name] }
	if !slices.ContainsFunc(list, func(r requirement) bool {
		return slices.ContainsFunc(r.proofs, func(p proof) bool { return slices.ContainsFunc(p.mut, seeded) })
	}) {
		return buildTags, "", nil
	}
	// The folder is that of `mutants run`, so that compiled packages are shared.
	folder := filepath.Join(b.root, "out", "mutants")
	_, err = goTool(b.root, "run", "-tags", buildTags, "./internal/prove", "mutants", "generate", "-out", folder)
	return buildTags + ",mutants", filepath.Join(folder, "overlay.json"), err
}

// notCopied lists folders that no test of a proof reads. Documents are not copied either.
var notCopied = []string{".git", ".ci", "bin", "out", "node_modules", "dist", "extension"}

// copyFiles copies the module to the tree and hashes it twice: without its Go files,
// which are compiled into the binaries, and the lists of requirements and mutants;
// and completely, except for the list of requirements.
func (b *bench) copyFiles() error {
	sum, sources := sha256.New(), sha256.New()
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
		case !d.Type().IsRegular() || memo.IsDocument(filepath.ToSlash(rel)):
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		promises := strings.HasPrefix(filepath.ToSlash(rel), "testdata/requirements/")
		faults := strings.HasPrefix(filepath.ToSlash(rel), "testdata/mutants/")
		if filepath.Ext(rel) != ".go" && !promises && !faults {
			fmt.Fprintf(sum, "%s %d\n%s", rel, len(text), text)
		}
		if !promises {
			fmt.Fprintf(sources, "%s %d\n%s", rel, len(text), text)
		}
		return os.WriteFile(filepath.Join(b.tree, rel), text, 0o644)
	})
	b.files, b.sources = hex.EncodeToString(sum.Sum(nil)), hex.EncodeToString(sources.Sum(nil))
	return err
}

// writeOverlay writes files and a build overlay that replaces those of the module
// with them, and returns the overlay's path.
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
