package memo

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// clone makes a repository with two packages, of which a imports b, and c, which nothing imports.
func clone(t *testing.T) (root string) {
	t.Helper()
	root = t.TempDir()
	for name, text := range map[string]string{
		"go.mod":         "module example.org/m\n\ngo 1.26\n",
		"a/a.go":         "package a\n\nimport _ \"example.org/m/b\"\n",
		"a/a_test.go":    "package a\n",
		"b/b.go":         "package b\n\nimport _ \"embed\"\n\n//go:embed words.txt\nvar words string\n",
		"b/b_test.go":    "package b\n",
		"b/words.txt":    "one two\n",
		"c/c.go":         "package c\n",
		"testdata/x.txt": "x\n",
		".gitignore":     "out\n",
	} {
		put(t, root, name, text)
	}
	cmd := exec.Command("sh", "-c", "git init -q && git add .")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return root
}

func put(t *testing.T, root, name, text string) {
	t.Helper()
	path := filepath.Join(root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// keyOf is the key of a check of package a and the folder testdata.
func keyOf(t *testing.T, root string) string {
	t.Helper()
	in := Of(root, "check")
	in.Packages("./a")
	in.Files("testdata")
	key, err := in.Key()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestKeyIsThatOfTheInputs(t *testing.T) {
	root := clone(t)
	key := keyOf(t, root)
	if other := keyOf(t, clone(t)); other != key {
		t.Error("another clone has another key")
	}
	for _, tt := range []struct {
		name, text string
		input      bool
	}{
		{"a/a.go", "package a\n\nimport _ \"example.org/m/b\"\n\nconst x = 1\n", true},
		{"a/a_test.go", "package a\n\nconst y = 1\n", true},
		{"b/b.go", "package b\n\nimport _ \"embed\"\n\n//go:embed words.txt\nvar words, more string\n", true},
		{"b/words.txt", "three\n", true},
		{"b/b_test.go", "package b\n\nconst z = 1\n", false}, // of a package that is only imported
		{"c/c.go", "package c\n\nconst x = 1\n", false},
		{"testdata/x.txt", "y\n", true},
		{"testdata/new.txt", "not added yet\n", true},
		{"testdata/out/x.txt", "ignored\n", false},
		{"other.txt", "new\n", false},
	} {
		before := keyOf(t, root)
		put(t, root, tt.name, tt.text)
		if changed := keyOf(t, root) != before; changed != tt.input {
			t.Errorf("%s changed, and the key: %v, want %v", tt.name, changed, tt.input)
		}
	}
	if err := os.Remove(filepath.Join(root, "testdata", "x.txt")); err != nil {
		t.Fatal(err)
	}
	before := keyOf(t, root)
	t.Setenv("GOFLAGS", "-tags=other")
	other := keyOf(t, root)
	if other == before {
		t.Error("other build flags have the same key")
	}
	t.Setenv("GOFLAGS", "-tags=other -count=1")
	if keyOf(t, root) != other {
		t.Error("a run from scratch has another key, so its result is not found")
	}
}

func TestMissingInputsAreErrors(t *testing.T) {
	root := clone(t)
	for what, add := range map[string]func(*Inputs){
		"file":    func(in *Inputs) { in.Files("testdata/none.txt") },
		"package": func(in *Inputs) { in.Packages("./none") },
		"program": func(in *Inputs) { in.Program("agentvoice-no-such-program") },
	} {
		in := Of(root, "check")
		add(in)
		if _, err := in.Key(); err == nil {
			t.Errorf("a missing %s is no error", what)
		}
	}
	if _, err := func() (string, error) {
		in := Of(t.TempDir(), "check")
		in.Tracked(func(string) bool { return true })
		return in.Key()
	}(); err == nil {
		t.Error("a folder that is not a checkout is no error")
	}
}

func TestResultsAreKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "passed")
	t.Setenv(FolderEnv, dir)
	t.Setenv(FreshEnv, "")
	if _, _, ok := Load("k1"); ok {
		t.Error("there is a result before the first")
	}
	if err := Save("k1", []byte("well")); err != nil {
		t.Fatal(err)
	}
	if result, at, ok := Load("k1"); !ok || string(result) != "well" || time.Since(at) > time.Hour {
		t.Errorf("%q, %v, %v", result, at, ok)
	}
	old := time.Now().Add(-keptFor - time.Hour)
	if err := os.Chtimes(filepath.Join(dir, "k1"), old, old); err != nil {
		t.Fatal(err)
	}
	if err := Save("k2", nil); err != nil {
		t.Fatal(err)
	}
	if _, _, ok := Load("k1"); ok {
		t.Error("an old result is kept")
	}
	if _, _, ok := Load("k2"); !ok {
		t.Error("an empty result is not kept")
	}
	t.Setenv(FreshEnv, "1")
	if _, _, ok := Load("k2"); ok {
		t.Error("a result is used although everything is to run")
	}
}

func TestDocuments(t *testing.T) {
	for path, want := range map[string]bool{
		"README.md": true, "docs/guide.md": true, "docs/timeline.png": true, "extension/README.md": true, ".github/workflows/test.yml": true,
		"copilot/spoken/commands/en.md": false, "testdata/csm/README.md": false, "Makefile": false, "docs.go": false, ".ci/run": false,
	} {
		if IsDocument(path) != want {
			t.Errorf("%s: %v, want %v", path, !want, want)
		}
	}
}
