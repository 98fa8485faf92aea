package archtest

import (
	"go/ast"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// On a bare machine the targets first install what they need. Variables such as the
// models' folder must be evaluated after that.
func TestFirstBuildFindsTheModelsThatItInstalled(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write("Makefile", string(makefile))
	// pkg-config reports no models before setup.sh has run.
	write("bin/pkg-config", "#!/bin/sh\ncat installed\n")
	write("scripts/setup.sh", "#!/bin/sh\necho /usr/share/models >installed\n")
	write("bin/go", "#!/bin/sh\necho \"$@\" >>asked\n")
	cmd := exec.CommandContext(t.Context(), "make", "build")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"), "MAKEFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("make build: %v\n%s", err, out)
	}
	asked, err := os.ReadFile(filepath.Join(dir, "asked"))
	if err != nil {
		t.Fatal(err)
	}
	for _, variable := range []string{"audio/localrealtime/stt.buildModelDir", "audio/wake.buildModelDir"} {
		if !strings.Contains(string(asked), variable+"=/usr/share/models") {
			t.Errorf("%s is not the models' folder:\n%s", variable, asked)
		}
	}
}

// TestLongTestsAreFound: the Makefile finds a long test by the line after its mark, leaves
// it out of `make test` and includes it in `make test-long`, both by its name alone.
func TestLongTestsAreFound(t *testing.T) {
	packages := map[string][]string{} // by name of a test
	var long []string
	for _, f := range tree(t) {
		if !f.isTest {
			continue
		}
		marks := map[int]bool{} // lines
		for _, group := range f.ast.Comments {
			for _, c := range group.List {
				if c.Text == "//test:long" {
					marks[f.fset.Position(c.Pos()).Line] = true
				}
			}
		}
		for _, d := range f.ast.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv != nil || !strings.HasPrefix(fn.Name.Name, "Test") {
				continue
			}
			packages[fn.Name.Name] = append(packages[fn.Name.Name], f.pkg())
			if before := f.fset.Position(fn.Pos()).Line - 1; marks[before] {
				delete(marks, before)
				long = append(long, fn.Name.Name)
			}
		}
		for line := range marks {
			t.Errorf("%s:%d: no test begins in the line after //test:long", f.path, line)
		}
	}
	if len(long) < 20 {
		t.Errorf("%d long tests; the marks were not found", len(long))
	}
	for _, name := range long {
		if len(packages[name]) > 1 {
			t.Errorf("%s is long, and the tests of that name in %s are left out too; rename one", name, packages[name])
		}
	}
}
