// Package memo remembers which checks passed, so that a check runs again only after something
// that it depends on has changed.
//
// A check names its inputs: Go packages with everything that they import, other files, and the
// programs that it runs. Their hash is the key under which its result is stored, in the user's
// cache folder, so that every clone of the repository shares it:
//
//	in := memo.Of(root, "exploration")
//	in.Packages("./csm/explore")
//	in.Files("testdata/csm")
//	in.Program("spin", "-V")
//	key, err := in.Key()
//	if result, ok := memo.Load(key); ok { return result }
//	... run the check ...
//	err = memo.Save(key, result)
//
// # Invariants
//
// Only a check that passed is saved. Paths are hashed relative to the root, and times not at all,
// so the key of a fresh clone is that of any other clone with the same files.
package memo

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// Environment variables.
const (
	// FolderEnv names the folder of the results; the default is in the user's cache folder.
	FolderEnv = "AGENTVOICE_PASSED"
	// FreshEnv makes every Load fail, so that everything runs. Results are still saved.
	FreshEnv = "AGENTVOICE_FRESH"
)

// keptFor is how long results are kept.
const keptFor = 30 * 24 * time.Hour

// Inputs are what a check depends on.
type Inputs struct {
	root string
	sum  hash.Hash
	errs []error
}

// Of starts the inputs of a check of the checkout at root. The name distinguishes checks with
// the same inputs; it includes the check's arguments. The system, the environment's GOFLAGS and
// the versions of Go and of the libraries that scripts/setup.sh installs are inputs of every
// check.
func Of(root, name string) *Inputs {
	in := &Inputs{sum: sha256.New()}
	var err error
	in.root, err = filepath.Abs(root)
	in.fail(err)
	in.add("check", name)
	in.add("system", runtime.GOOS+"/"+runtime.GOARCH)
	in.add("GOFLAGS", strings.ReplaceAll(os.Getenv("GOFLAGS"), " -count=1", "")) // of FreshEnv
	in.Program("go", "env", "GOVERSION", "CC")
	if _, err := os.Stat(filepath.Join(in.root, "scripts", "setup.sh")); err == nil {
		in.Program("bash", "scripts/setup.sh", "--versions")
	}
	return in
}

func (in *Inputs) add(what, value string) {
	fmt.Fprintf(in.sum, "%s %d\n%s\n", what, len(value), value)
}

func (in *Inputs) fail(err error) {
	if err != nil {
		in.errs = append(in.errs, err)
	}
}

// listed is a package as `go list -json` prints it.
type listed struct {
	ImportPath string
	Dir        string
	Standard   bool
	Module     *struct {
		Version string
		Main    bool
	}
	GoFiles, CgoFiles, CFiles, CXXFiles, HFiles, SFiles, EmbedFiles []string
	TestEmbedFiles, XTestEmbedFiles                                 []string
}

// Packages adds packages and their tests, in the patterns of the go command, with everything that
// they import. A package of another module counts by its module's version.
func (in *Inputs) Packages(patterns ...string) {
	const fields = "ImportPath,Dir,Standard,Module,GoFiles,CgoFiles,CFiles,CXXFiles,HFiles,SFiles,EmbedFiles,TestEmbedFiles,XTestEmbedFiles"
	cmd := exec.Command("go", append([]string{"list", "-deps", "-test", "-json=" + fields}, patterns...)...)
	cmd.Dir = in.root
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		in.fail(fmt.Errorf("list the packages %s: %w: %s", strings.Join(patterns, " "), err, complaint.String()))
		return
	}
	files := map[string]bool{}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			in.fail(err)
			return
		}
		switch {
		case p.Standard:
		case p.Module == nil || !p.Module.Main: // of another module, or generated
			if p.Module != nil {
				in.add("package", p.ImportPath+"@"+p.Module.Version)
			}
		default:
			for _, names := range [][]string{p.GoFiles, p.CgoFiles, p.CFiles, p.CXXFiles, p.HFiles, p.SFiles, p.EmbedFiles, p.TestEmbedFiles, p.XTestEmbedFiles} {
				for _, name := range names {
					if !filepath.IsAbs(name) { // go list generates the main file of a test in the build cache
						files[filepath.Join(p.Dir, name)] = true
					}
				}
			}
		}
	}
	relative := map[string]bool{}
	for name := range files {
		rel, err := filepath.Rel(in.root, name)
		in.fail(err)
		relative[rel] = true
	}
	in.hash(relative)
}

// Files adds files, and all files of folders, by their paths relative to the root. What git
// ignores does not count. A path that does not exist is an error.
func (in *Inputs) Files(paths ...string) {
	in.Tracked(func(name string) bool {
		return slices.ContainsFunc(paths, func(p string) bool { return name == p || strings.HasPrefix(name, p+"/") })
	})
	for _, p := range paths {
		_, err := os.Stat(filepath.Join(in.root, filepath.FromSlash(p)))
		in.fail(err)
	}
}

// Tracked adds the files of the checkout that git does not ignore and that count, by their
// slash-separated paths relative to the root.
func (in *Inputs) Tracked(counts func(path string) bool) {
	out, err := in.output("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	if err != nil {
		in.fail(err)
		return
	}
	files := map[string]bool{}
	for name := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		if counts(name) {
			files[name] = true
		}
	}
	in.hash(files)
}

// IsDocument reports whether a file, by its slash-separated path relative to the root, is a
// document or a picture of one. Only the tests marked //test:documents read these.
func IsDocument(path string) bool {
	top, rest, inFolder := strings.Cut(path, "/")
	return top == "docs" || top == ".github" || !inFolder && strings.HasSuffix(path, ".md") || top == "extension" && rest == "README.md"
}

// hash adds files by their names relative to the root. A deleted file that git still tracks does
// not count.
func (in *Inputs) hash(files map[string]bool) {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		text, err := os.ReadFile(filepath.Join(in.root, filepath.FromSlash(name)))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		in.fail(err)
		in.add("file "+filepath.ToSlash(name), string(text))
	}
}

// Program adds the version of a program, as the given command prints it.
func (in *Inputs) Program(name string, args ...string) {
	out, err := in.output(name, args...)
	in.fail(err)
	in.add("program "+name, out)
}

func (in *Inputs) output(name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = in.root
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return string(out), nil
}

// Value adds anything else.
func (in *Inputs) Value(what, value string) { in.add("value "+what, value) }

// Key returns the hash of everything that was added. Add nothing afterwards.
func (in *Inputs) Key() (string, error) {
	return hex.EncodeToString(in.sum.Sum(nil))[:40], errors.Join(in.errs...)
}

// folder is where results are stored.
func folder() (string, error) {
	if dir := os.Getenv(FolderEnv); dir != "" {
		return dir, nil
	}
	dir, err := os.UserCacheDir()
	return filepath.Join(dir, "agentvoice", "passed"), err
}

// Load returns the result that was saved under a key, and when. It returns false if there is no
// such result or if FreshEnv is set.
func Load(key string) (result []byte, at time.Time, ok bool) {
	if os.Getenv(FreshEnv) != "" || key == "" {
		return nil, time.Time{}, false
	}
	dir, err := folder()
	if err != nil {
		return nil, time.Time{}, false
	}
	path := filepath.Join(dir, key)
	info, err := os.Stat(path)
	if err != nil {
		return nil, time.Time{}, false
	}
	result, err = os.ReadFile(path)
	return result, info.ModTime(), err == nil
}

// Save stores the result of a check that passed, and removes results that are a month old.
func Save(key string, result []byte) error {
	dir, err := folder()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	prune(dir, time.Now().Add(-keptFor))
	file, err := os.CreateTemp(dir, ".new-*")
	if err != nil {
		return err
	}
	_, err = file.Write(result)
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), filepath.Join(dir, key)) // never half a result
	}
	if err != nil {
		_ = os.Remove(file.Name())
	}
	return err
}

// prune removes the results of a folder that are older than a time.
func prune(dir string, before time.Time) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.ModTime().Before(before) {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}
