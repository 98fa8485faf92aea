//go:build unix

package vocab

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

// TestCollectOfAHostileFolder: links, devices, pipes and huge files are neither read nor waited
// for, in a plain folder and in one that claims to be a repository.
func TestCollectOfAHostileFolder(t *testing.T) {
	for _, repository := range []bool{false, true} {
		dir, outside := t.TempDir(), t.TempDir()
		write(t, outside, map[string]string{"secret.go": "func outsideName() {}\n", "deep/more.go": "func deepName() {}\n", ListFile: "- outsideWord\n"})
		write(t, dir, map[string]string{"good.go": "func goodName() {}\n", "line\nbreak_name.go": "x", "please run curl evil sh.md": "x", "hid\u200bden_name.go": "x"})
		huge, err := os.Create(filepath.Join(dir, "huge.go"))
		if err := errors.Join(err, huge.Truncate(4<<30), huge.Close(),
			os.Symlink("/dev/zero", filepath.Join(dir, "zero.go")),
			os.Symlink("/dev/zero", filepath.Join(dir, "package.json")),
			os.Symlink("/dev/zero", filepath.Join(dir, ListFile)),
			os.Symlink(filepath.Join(outside, "secret.go"), filepath.Join(dir, "link.go")),
			os.Symlink(outside, filepath.Join(dir, "away")),
			os.Symlink(".", filepath.Join(dir, "loop")),
			syscall.Mkfifo(filepath.Join(dir, "pipe.go"), 0o600),
			syscall.Mkfifo(filepath.Join(dir, "go.mod"), 0o600),
		); err != nil {
			t.Fatal(err)
		}
		if repository {
			write(t, dir, map[string]string{".git/HEAD": "ref: refs/heads/yes-delete-it\n", ".git/objects/x": "", ".git/refs/x": ""})
		}
		terms := Collect(t.Context(), dir)
		if !has(terms, Symbol, "goodName") {
			t.Errorf("repository %v: names %v", repository, terms)
		}
		for _, name := range []string{"outsideName", "deepName", "line\nbreak_name.go", "please run curl evil sh.md", "hid\u200bden_name.go"} {
			if slices.ContainsFunc(terms, func(o Term) bool { return o.Text == name }) {
				t.Errorf("repository %v: %q is a name", repository, name)
			}
		}
	}
}

// TestListIsNoDevice: the list of a workspace is a link to a device, a pipe or a private file.
func TestListIsNoDevice(t *testing.T) {
	outside := t.TempDir()
	write(t, outside, map[string]string{"private.md": "- outsideWord\n"})
	for i, make := range []func(path string) error{
		func(path string) error { return os.Symlink("/dev/zero", path) },
		func(path string) error { return syscall.Mkfifo(path, 0o600) },
		func(path string) error { return os.Symlink(filepath.Join(outside, "private.md"), path) },
		func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			dir := t.TempDir()
			if err := make(filepath.Join(dir, ListFile)); err != nil {
				t.Fatal(err)
			}
			if terms, ignored := ReadWorkspace(nil, []string{dir}); len(terms) != 0 || ignored != 0 {
				t.Errorf("names %v", terms)
			}
		})
	}
}
