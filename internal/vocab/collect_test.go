package vocab

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// write creates the files of a folder.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func has(terms []Term, kind Kind, text string) bool {
	return slices.Contains(terms, Term{Text: text, Kind: kind})
}

func TestNamesOfARepository(t *testing.T) {
	dir := t.TempDir()
	run := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=x", "-c", "user.email=x@example.com"}, args...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	ran := filepath.Join(dir, "ran")
	write(t, dir, map[string]string{
		".gitignore": "secret_names.go\n", "secret_names.go": "package x\n\nfunc ignoredName() {}\n",
		"src/loader.py": "class TreeLoader:\n    def load_tree(self):\n        return start_http2\n",
		"web/view.ts":   "export const shownLines = 1; // the page's\n",
		"package.json":  "{\n  \"dependencies\": {\n    \"vscode-jsonrpc\": \"8.2.1\"\n  }\n}\n",
		"data.go":       "package x // \x00 binaryName\n",
		"hook.sh":       "#!/bin/sh\ntouch '" + ran + "'\n",
	})
	if err := os.Chmod(filepath.Join(dir, "hook.sh"), 0o700); err != nil {
		t.Fatal(err)
	}
	run("init", "-q", "-b", "feature/tree-loader")
	run("commit", "-q", "--allow-empty", "-m", "x")
	run("config", "core.fsmonitor", filepath.Join(dir, "hook.sh"))
	terms := Collect(t.Context(), dir)
	for text, kind := range map[string]Kind{
		"TreeLoader": Symbol, "load_tree": Symbol, "start_http2": Symbol, "shownLines": Symbol, "loader.py": File,
		"vscode-jsonrpc": Dependency, "feature/tree-loader": Branch,
	} {
		if !has(terms, kind, text) {
			t.Errorf("the %s %s is missing in %v", kind, text, terms)
		}
	}
	for _, text := range []string{"ignoredName", "binaryName", "secret_names.go", "the", "return"} {
		if slices.ContainsFunc(terms, func(o Term) bool { return o.Text == text }) {
			t.Errorf("%s is a name", text)
		}
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("a program that the repository names was run")
	}
}

func TestCollectIsBounded(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{}
	for i := range 50 {
		var b strings.Builder
		for j := range 100 {
			fmt.Fprintf(&b, "func name%cOf%cThing%c() {}\n", 'A'+i%26, 'A'+j%26, 'A'+(i+j)/8%26)
			fmt.Fprintf(&b, "func other%c%cWord() {}\n", 'A'+i%26, 'a'+j%26)
		}
		files[fmt.Sprintf("file%d.go", i)] = b.String()
	}
	files["long.go"] = strings.Repeat("x", 2*maxFile) + "\nfunc behindTheBound() {}\n"
	write(t, dir, files)
	terms := Collect(t.Context(), dir)
	if len(terms) != maxTerms {
		t.Errorf("%d names, want %d", len(terms), maxTerms)
	}
	if has(terms, Symbol, "behindTheBound") {
		t.Error("a file was read beyond its bound")
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if terms := Collect(done, dir); slices.ContainsFunc(terms, func(o Term) bool { return o.Kind == Symbol }) {
		t.Errorf("files were read after the end: %d names", len(terms))
	}
	if terms := Collect(t.Context(), filepath.Join(dir, "nowhere")); len(terms) > 0 {
		t.Errorf("a folder that is not there has %v", terms)
	}
}

// A symbolic link could lead outside the workspace or to a device.
func TestLinksAreNotFollowed(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	write(t, outside, map[string]string{"secret.go": "package x\n\nfunc outsideName() {}\n"})
	if err := os.Symlink(filepath.Join(outside, "secret.go"), filepath.Join(dir, "link.go")); err != nil {
		t.Fatal(err)
	}
	if terms := Collect(t.Context(), dir); has(terms, Symbol, "outsideName") {
		t.Errorf("the link was followed: %v", terms)
	}
}
