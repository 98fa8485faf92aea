package mutants

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// bench is built once and run for each mutant.
type bench struct {
	detectors []detector
	binaries  map[string]detector // by package
	tree      string              // copy of the files that tests read and may write
	stamp     string              // hash of the binaries and of those files
}

// build compiles the tests of every package of the project once, with all mutants,
// and copies the files that they read, so that a failing test writes to the copy.
func build(pr project, o *overlay, out string) (*bench, error) {
	b := &bench{binaries: map[string]detector{}, tree: filepath.Join(out, "tree")}
	if err := copyTree(pr, b.tree); err != nil {
		return nil, err
	}
	packages := slices.Clone(pr.packages)
	for _, d := range pr.detectors {
		if slices.ContainsFunc(pr.packages, d.judges) && d.pkg != own && !slices.Contains(packages, d.pkg) {
			packages = append(packages, d.pkg)
		}
	}
	for _, p := range packages {
		if tests, _ := filepath.Glob(filepath.Join(pr.root, filepath.FromSlash(p), "*_test.go")); len(tests) == 0 {
			continue
		}
		binary, err := filepath.Abs(filepath.Join(out, "bin", strings.ReplaceAll(p, "/", "-")+".test"))
		if err != nil {
			return nil, err
		}
		if _, err := goTool(pr.root, "test", "-c", "-tags", mutantsTags, "-overlay", o.Path, "-o", binary, "./"+p); err != nil {
			return nil, err
		}
		rapid, err := usesRapid(pr.root, p)
		if err != nil {
			return nil, err
		}
		b.binaries[p] = detector{binary: binary, rapid: rapid}
	}
	for _, d := range pr.detectors {
		if built, ok := b.binaries[d.pkg]; ok {
			d.binary, d.rapid = built.binary, built.rapid
			b.detectors = append(b.detectors, d)
		} else if d.pkg == own {
			b.detectors = append(b.detectors, d)
		}
	}
	var err error
	b.stamp, err = b.hash()
	return b, err
}

// usesRapid reports whether a test binary of the package has rapid's flags.
func usesRapid(root, p string) (bool, error) {
	out, err := goTool(root, "list", "-tags", mutantsTags, "-test", "-deps", "-json=ImportPath", "./"+p)
	return strings.Contains(string(out), `"pgregory.net/rapid"`), err
}

// of returns the detectors for a mutant, in order.
func (b *bench) of(m mutant) []detector {
	home := path.Dir(m.File)
	var out []detector
	for _, d := range b.detectors {
		if !d.judges(home) {
			continue
		}
		if d.pkg == own {
			built, ok := b.binaries[home]
			if !ok || slices.ContainsFunc(b.detectors, func(o detector) bool { return o.pkg == home }) {
				continue
			}
			d.pkg, d.binary, d.rapid = home, built.binary, built.rapid
		}
		out = append(out, d)
	}
	return out
}

// hash returns a hash of everything that a result depends on.
func (b *bench) hash() (string, error) {
	sum := sha256.New()
	file := func(name string) error {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(sum, "%s %d\n", filepath.Base(name), len(text))
		_, err = sum.Write(text)
		return err
	}
	for _, d := range b.detectors {
		fmt.Fprintf(sum, "%s %s %s\n", d.Name, d.run, d.skip)
	}
	for _, p := range slices.Sorted(mapsKeys(b.binaries)) {
		if err := file(b.binaries[p].binary); err != nil {
			return "", err
		}
	}
	err := filepath.WalkDir(b.tree, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return file(name)
	})
	return hex.EncodeToString(sum.Sum(nil))[:16], err
}

func mapsKeys[V any](m map[string]V) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// copyTree copies the files that tests read to a new folder.
func copyTree(pr project, to string) error {
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	for _, c := range pr.copied {
		from := filepath.Join(pr.root, filepath.FromSlash(c))
		err := filepath.WalkDir(from, func(name string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() && !d.Type().IsRegular() {
				return err
			}
			rel, err := filepath.Rel(pr.root, name)
			if err != nil {
				return err
			}
			target := filepath.Join(to, rel)
			if d.IsDir() {
				return os.MkdirAll(target, 0o755)
			}
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
				return err
			}
			return os.WriteFile(target, text, 0o644)
		})
		if err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	return nil
}

// cached returns the result of an earlier run with the same stamp.
func cached(out, stamp, name string) (result, bool) {
	text, err := os.ReadFile(filepath.Join(out, "cache", stamp, name+".json"))
	if err != nil {
		return result{}, false
	}
	var r result
	return r, json.Unmarshal(text, &r) == nil
}

func keep(out, stamp string, r result) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	dir := filepath.Join(out, "cache", stamp)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, r.Name+".json"), text, 0o644)
}
