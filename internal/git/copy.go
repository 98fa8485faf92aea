package git

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/internal/workspace"
)

// Limits of what is copied.
const (
	maxConfig = 256 << 10
	maxPacked = 32 << 20
	maxRefs   = 20_000
	maxAside  = 1 << 20 // of the excludes, the shallow commits and the list of other object folders
)

// stored are the settings of a repository that say how names and files are stored. No other
// setting of it reaches git.
var stored = []string{"core.filemode", "core.ignorecase", "core.precomposeunicode", "core.symlinks", "core.autocrlf", "core.eol", "extensions.objectformat"}

// theirs are the settings of the user that are kept, of the same kind.
var theirs = []string{"core.autocrlf", "core.eol", "core.precomposeunicode", "core.excludesfile"}

// plainValues are the values that a setting of a repository may have.
var plainValues = []string{"true", "false", "yes", "no", "on", "off", "1", "0", "input", "lf", "crlf", "native", "sha1", "sha256"}

// separate makes a git folder with what is read of the repository. The caller removes it.
func (r *Repository) separate(ctx context.Context) (dir string, err error) {
	if dir, err = os.MkdirTemp("", "agentvoice-git-"); err != nil {
		return "", err
	}
	if err = r.fill(ctx, dir); err != nil {
		return "", errors.Join(err, os.RemoveAll(dir))
	}
	return dir, nil
}

func (r *Repository) fill(ctx context.Context, dir string) error {
	config, err := r.config(ctx)
	if err != nil {
		return err
	}
	if err := r.usable(); err != nil {
		return err
	}
	for _, name := range []string{"refs", "objects", "info", "hooks"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			return err
		}
	}
	put := func(name string, text []byte) error {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		return os.WriteFile(path, text, 0o600)
	}
	if err := errors.Join(put("config", []byte(config)), put("HEAD", []byte(r.head+"\n"))); err != nil {
		return err
	}
	for _, file := range []struct {
		name  string
		limit int64
	}{{"packed-refs", maxPacked}, {"shallow", maxAside}, {"info/exclude", maxAside}} {
		if text, err := r.common.Read(file.name, file.limit); err == nil { // usually missing
			if err := put(file.name, text); err != nil {
				return err
			}
		}
	}
	err = r.common.Walk(ctx, "refs/heads", workspace.Limits{Entries: maxRefs, Depth: 16}, func(name string, d fs.DirEntry) error {
		if d.IsDir() {
			return nil
		}
		text, err := line(r.common, name)
		if err != nil {
			return nil // skip it
		}
		return put(name, []byte(text+"\n"))
	})
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, workspace.ErrTooMany) {
		err = nil // there may be none, and the first ones are enough
	}
	return err
}

// usable checks the files that git reads in place: it would read without end from a device.
func (r *Repository) usable() error {
	if info, err := r.common.Lstat("objects"); err != nil || !info.IsDir() {
		return ErrNone
	}
	for _, file := range []struct {
		in   *workspace.Folder
		name string
	}{{r.own, "index"}, {r.common, "objects/info/alternates"}, {r.common, "objects/info/commit-graph"}, {r.common, "objects/pack/multi-pack-index"}} {
		if _, err := file.in.Lstat(file.name); err == nil && !file.in.Has(file.name) {
			return ErrNone
		}
	}
	return nil
}

// config returns the text of the configuration for git.
func (r *Repository) config(ctx context.Context) (string, error) {
	own, err := settingsOf(ctx, r.common)
	if err != nil {
		return "", err
	}
	if format := own["extensions.refstorage"]; format != "" && format != "files" {
		return "", ErrNone // the branches are not in files that can be copied
	}
	values := map[string]string{}
	user := usersSettings(ctx)
	for _, key := range theirs {
		if v, ok := user[key]; ok {
			values[key] = v
		}
	}
	for _, key := range stored {
		if v := strings.ToLower(own[key]); slices.Contains(plainValues, v) {
			values[key] = v
		}
	}
	values["core.repositoryformatversion"] = "0"
	if values["extensions.objectformat"] != "" {
		values["core.repositoryformatversion"] = "1"
	}
	var text strings.Builder
	for _, key := range slices.Sorted(maps.Keys(values)) {
		section, name, _ := strings.Cut(key, ".")
		text.WriteString("[" + section + "]\n\t" + name + " = " + quoted(values[key]) + "\n")
	}
	return text.String(), nil
}

// quoted returns a value as git reads it.
func quoted(value string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(value) + `"`
}

// settingsOf returns the settings in the configuration of a git folder, without those of files
// that it includes. A folder may have none.
func settingsOf(ctx context.Context, f *workspace.Folder) (map[string]string, error) {
	text, err := f.Read("config", maxConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out, _, err := run(ctx, command{args: []string{"config", "--file", "-", "--no-includes", "-z", "--list"}, in: string(text), dir: os.TempDir()})
	if err != nil {
		return nil, ErrNone
	}
	return settings(out), nil
}

// usersSettings returns the settings of the user and of the system, if they can be read.
func usersSettings(ctx context.Context) map[string]string {
	out, _, _ := run(ctx, command{args: []string{"config", "--global", "--includes", "-z", "--list"}, dir: os.TempDir()})
	all := settings(out)
	out, _, _ = run(ctx, command{args: []string{"config", "--system", "--includes", "-z", "--list"}, dir: os.TempDir()})
	for key, value := range settings(out) {
		if _, set := all[key]; !set {
			all[key] = value
		}
	}
	return all
}

// settings parses the output of git config --list -z. The last value of a key counts.
func settings(out []byte) map[string]string {
	values := map[string]string{}
	for entry := range strings.SplitSeq(string(out), "\x00") {
		key, value, ok := strings.Cut(entry, "\n")
		if !ok {
			value = "true" // a key without a value
		}
		if key != "" {
			values[key] = value
		}
	}
	return values
}
