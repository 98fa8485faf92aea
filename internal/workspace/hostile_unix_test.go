//go:build unix

package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"pgregory.net/rapid"
)

// must fails the test if a step of its preparation fails.
func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	must(t, os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600))
}

func open(t *testing.T, dir string) *Folder {
	t.Helper()
	f, err := Open(dir)
	must(t, err)
	t.Cleanup(f.Close)
	return f
}

// hostile creates a folder with an entry of each kind that must not be read, and the few that
// may be.
func hostile(t *testing.T) (dir, outside string) {
	dir, outside = t.TempDir(), t.TempDir()
	put(t, outside, "id_rsa", "SECRET")
	put(t, dir, "plain.md", "plain")
	put(t, dir, "sub/deep.md", "deep")
	link := func(to, name string) { must(t, os.Symlink(to, filepath.Join(dir, name))) }
	link("plain.md", "inside.md")
	link(filepath.Join(dir, "plain.md"), "absolute.md")
	link("sub", "subdir")
	link("/dev/zero", "zero.md")
	link("/dev/stdin", "stdin.md")
	link("/dev/fd/0", "fd.md")
	link(filepath.Join(outside, "id_rsa"), "key.md")
	link(outside, "away")
	link("../"+filepath.Base(outside)+"/id_rsa", "up.md")
	link(".", "loop")
	link("b.md", "a.md")
	link("a.md", "b.md")
	link("pipe.md", "topipe.md")
	must(t, syscall.Mkfifo(filepath.Join(dir, "pipe.md"), 0o600))
	// The path of a socket is short.
	t.Chdir(dir)
	socket, err := net.Listen("unix", "socket.md")
	must(t, err)
	t.Cleanup(func() { _ = socket.Close() })
	huge, err := os.Create(filepath.Join(dir, "huge.md"))
	must(t, err)
	must(t, huge.Truncate(4<<30), huge.Close())
	return dir, outside
}

func TestReadsOnlyRegularFilesInside(t *testing.T) {
	dir, _ := hostile(t)
	f := open(t, dir)
	for _, test := range []struct {
		name, want string
		err        error
	}{
		{"plain.md", "plain", nil},
		{"inside.md", "plain", nil},
		{"absolute.md", "plain", nil},
		{"sub/deep.md", "deep", nil},
		{"subdir/deep.md", "deep", nil},
		{"loop/loop/loop/plain.md", "plain", nil},
		{"zero.md", "", ErrOutside},
		{"key.md", "", ErrOutside},
		{"up.md", "", ErrOutside},
		{"away/id_rsa", "", ErrOutside},
		{"../x", "", ErrOutside},
		{"/etc/passwd", "", ErrOutside},
		{"sub/../../x", "", ErrOutside},
		{"pipe.md", "", ErrNotRegular},
		{"topipe.md", "", ErrNotRegular},
		{"socket.md", "", ErrNotRegular},
		{"sub", "", ErrNotRegular},
		{"loop", "", ErrNotRegular},
		{"huge.md", "", ErrTooLarge},
		{"missing.md", "", fs.ErrNotExist},
	} {
		text, err := f.Read(test.name, 1000)
		if string(text) != test.want || !errors.Is(err, test.err) {
			t.Errorf("%s: %q, %v; want %q, %v", test.name, text, err, test.want, test.err)
		}
		if has := f.Has(test.name); has != (test.err == nil || test.err == ErrTooLarge) {
			t.Errorf("%s: has %v", test.name, has)
		}
		if err != nil && strings.Contains(err.Error(), filepath.Base(dir)) {
			t.Errorf("%s: the error has a path: %v", test.name, err)
		}
	}
	for _, name := range []string{"stdin.md", "fd.md", "a.md"} { // where they lead depends on the system
		if text, err := f.Read(name, 1000); err == nil {
			t.Errorf("%s is read: %q", name, text)
		}
	}
	if text, err := f.Head("huge.md", 10); err != nil || len(text) != 10 {
		t.Errorf("the head of a huge file: %d bytes, %v", len(text), err)
	}
	if text, err := f.Read("plain.md", 5); err != nil || string(text) != "plain" {
		t.Errorf("a file of exactly the limit: %q, %v", text, err)
	}
	if _, err := f.Read("plain.md", 4); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a file beyond the limit: %v", err)
	}
}

// All reads together are bounded, whatever each of them may read.
func TestReadsAreBoundedTogether(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "a", "12345678")
	f := open(t, dir)
	f.left = 12
	for i, want := range []int{8, 4, 0} {
		if text, _ := f.Head("a", 8); len(text) != want {
			t.Errorf("read %d has %d bytes, want %d", i+1, len(text), want)
		}
	}
	if _, err := f.Read("a", 8); !errors.Is(err, ErrTooLarge) {
		t.Errorf("beyond the total: %v", err)
	}
}

// What is opened is checked, so a pipe that takes the place of a file after the first look is
// closed, and nobody waits for its other end. Were it opened blocking, this test would hang.
func TestFileIsReplacedWhileItIsRead(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	put(t, outside, "secret", "SECRET")
	put(t, dir, "file", "plain")
	must(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600), os.Symlink(filepath.Join(outside, "secret"), filepath.Join(dir, "link")))
	if _, _, err := opened(os.OpenFile(filepath.Join(dir, "pipe"), os.O_RDONLY|nonBlocking, 0)); !errors.Is(err, ErrNotRegular) {
		t.Errorf("an opened pipe: %v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for at := 0; ctx.Err() == nil; at++ {
			next := filepath.Join(dir, fmt.Sprint("next", at))
			switch at % 3 {
			case 0:
				_ = os.Link(filepath.Join(dir, "file"), next)
			case 1:
				_ = syscall.Mkfifo(next, 0o600)
			case 2:
				_ = os.Symlink(filepath.Join(outside, "secret"), next)
			}
			_ = os.Rename(next, filepath.Join(dir, "changing"))
		}
	}()
	f := open(t, dir)
	f.left = 1 << 40
	for range 5000 {
		if text, err := f.Read("changing", 100); err == nil && string(text) != "plain" {
			t.Fatalf("read %q", text)
		}
	}
	stop()
	<-ended
}

func TestWalkStaysInside(t *testing.T) {
	dir, _ := hostile(t)
	put(t, dir, "line\nbreak.go", "x")
	put(t, dir, "right\u202eog.exe", "x")
	put(t, dir, "\xff.go", "x")
	put(t, dir, ".hidden/x", "x")
	put(t, dir, "skipped/x", "x")
	f := open(t, dir)
	var seen []string
	must(t, f.Walk(t.Context(), ".", Limits{Entries: 1000, Depth: 10}, func(name string, d fs.DirEntry) error {
		seen = append(seen, name)
		if d.Name() == "skipped" {
			return fs.SkipDir
		}
		return nil
	}))
	if want := []string{".hidden", ".hidden/x", "huge.md", "plain.md", "skipped", "sub", "sub/deep.md"}; !slices.Equal(seen, want) {
		t.Errorf("walked %q, want %q", seen, want)
	}
	for _, from := range []string{"away", "missing", "pipe.md", ".."} {
		if err := f.Walk(t.Context(), from, Limits{Entries: 10, Depth: 10}, func(name string, _ fs.DirEntry) error {
			t.Errorf("%s: walked %s", from, name)
			return nil
		}); err == nil {
			t.Errorf("%s: no error", from)
		}
	}
}

func TestWalkIsBounded(t *testing.T) {
	dir := t.TempDir()
	for i := range 1000 {
		put(t, dir, fmt.Sprintf("many/f%04d", i), "")
	}
	put(t, dir, strings.Repeat("d/", 40)+"deepest", "")
	f := open(t, dir)
	walk := func(l Limits) (n int, err error) {
		err = f.Walk(t.Context(), ".", l, func(string, fs.DirEntry) error { n++; return nil })
		return n, err
	}
	if n, err := walk(Limits{Entries: 600, Depth: 1}); n > 600 || !errors.Is(err, ErrTooMany) {
		t.Errorf("walked %d entries: %v", n, err)
	}
	if n, err := walk(Limits{Entries: 5000, Depth: 3}); n != 1+1000+1+3 || err != nil {
		t.Errorf("walked %d entries of four levels: %v", n, err)
	}
	if n, err := walk(Limits{Entries: 5000, Depth: 100}); n != 1+1000+40+1 || err != nil {
		t.Errorf("walked %d entries: %v", n, err)
	}
	entries, more, err := f.Entries("many", 10)
	if len(entries) != 10 || !more || err != nil {
		t.Errorf("%d entries, more %v: %v", len(entries), more, err)
	}
	if entries, more, err = f.Entries("many", 1000); len(entries) != 1000 || more || err != nil {
		t.Errorf("%d entries, more %v: %v", len(entries), more, err)
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.Walk(done, ".", Limits{Entries: 5000, Depth: 100}, func(name string, _ fs.DirEntry) error {
		t.Errorf("walked %s after the end", name)
		return nil
	}); err != nil {
		t.Error(err)
	}
}

func TestFolderItself(t *testing.T) {
	dir, outside := hostile(t)
	if _, err := Open(filepath.Join(dir, "pipe.md")); err == nil {
		t.Error("a pipe is a folder")
	}
	if _, err := Open(filepath.Join(dir, "plain.md")); err == nil {
		t.Error("a file is a folder")
	}
	if _, err := Open(filepath.Join(dir, "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing folder: %v", err)
	}
	if text, err := open(t, filepath.Join(dir, "away")).Read("id_rsa", 10); err != nil || string(text) != "SECRET" {
		t.Errorf("the user opened a link: %q, %v (it leads to %s)", text, err, outside)
	}
}

// A file of the user's own may be a link, as the files of many home folders are.
func TestFilesOfTheUsersOwn(t *testing.T) {
	dir, outside := hostile(t)
	if text, err := ReadFile(filepath.Join(dir, "key.md"), 10); err != nil || string(text) != "SECRET" {
		t.Errorf("a link: %q, %v (to %s)", text, err, outside)
	}
	for name, want := range map[string]error{"zero.md": ErrNotRegular, "pipe.md": ErrNotRegular, "topipe.md": ErrNotRegular, "socket.md": ErrNotRegular, "sub": ErrNotRegular, "huge.md": ErrTooLarge, "missing": fs.ErrNotExist} {
		if text, err := ReadFile(filepath.Join(dir, name), 10); !errors.Is(err, want) {
			t.Errorf("%s: %q, %v; want %v", name, text, err, want)
		}
	}
	if text, err := HeadFile(filepath.Join(dir, "huge.md"), 10); err != nil || len(text) != 10 {
		t.Errorf("the head of a huge file: %d bytes, %v", len(text), err)
	}
}

// Whatever links a folder has, and whatever path through them is asked for, only files inside are
// read and walked.
func TestNothingOutsideIsRead(t *testing.T) {
	top := t.TempDir()
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		base := filepath.Join(top, fmt.Sprint(n))
		dir := filepath.Join(base, "folder")
		put(t, base, "secret", "SECRET")
		put(t, base, "folder-other/secret", "SECRET")
		must(t, os.MkdirAll(filepath.Join(dir, "a", "b"), 0o700))
		name := rapid.SampledFrom([]string{"x", "y", "z", "a/x", "a/y", "a/b/x", "a/b/y"})
		target := rapid.SampledFrom([]string{"x", "y", "../x", "../y", "..", ".", "a", "a/b", "../..", "../../..", "../secret", "../../secret", "../../../secret",
			"../folder-other/secret", "../folder-other", base, dir, filepath.Join(dir, "x"), filepath.Join(base, "secret"), dir + "-other/secret", "/", "/dev/zero"})
		for range rapid.IntRange(1, 7).Draw(rt, "entries") {
			path := filepath.Join(dir, name.Draw(rt, "name"))
			if rapid.Bool().Draw(rt, "file") {
				_ = os.WriteFile(path, []byte("inside"), 0o600) // may lead outside, where it is no secret any more
				put(t, base, "secret", "SECRET")
				put(t, base, "folder-other/secret", "SECRET")
			} else {
				_ = os.Symlink(target.Draw(rt, "target"), path) // may exist
			}
		}
		f, err := Open(dir)
		must(t, err)
		defer f.Close()
		for range 10 {
			path := name.Draw(rt, "path") + "/" + rapid.SampledFrom([]string{"", "x", "secret", "../secret", "../../secret", "folder-other/secret"}).Draw(rt, "rest")
			text, err := f.Read(strings.TrimSuffix(path, "/"), 100)
			if err == nil && string(text) != "inside" {
				rt.Fatalf("%s: %q", path, text)
			}
		}
		must(t, f.Walk(t.Context(), ".", Limits{Entries: 100, Depth: 10}, func(path string, d fs.DirEntry) error {
			if d.Type()&fs.ModeSymlink != 0 {
				rt.Fatalf("walked the link %s", path)
			}
			return nil
		}))
	})
}
