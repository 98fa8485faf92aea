package archtest

import (
	"go/ast"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
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
	if !strings.Contains(string(asked), "internal/assets.buildSphinx=/usr/share/models") {
		t.Errorf("internal/assets.buildSphinx is not the models' folder:\n%s", asked)
	}
}

// TestMarkedTestsAreFound: the Makefile finds a test for another target by the line after its mark,
// leaves it out of `make test` and runs it there, both by its name alone.
func TestMarkedTestsAreFound(t *testing.T) {
	packages := map[string][]string{} // by name of a test
	marked := map[string][]string{}   // names of tests, by mark
	for _, f := range tree(t) {
		if !f.isTest {
			continue
		}
		marks := map[int]string{} // by line
		for _, group := range f.ast.Comments {
			for _, c := range group.List {
				if mark, ok := strings.CutPrefix(c.Text, "//test:"); ok {
					marks[f.fset.Position(c.Pos()).Line] = mark
				}
			}
		}
		for _, d := range f.ast.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv != nil || !strings.HasPrefix(fn.Name.Name, "Test") {
				continue
			}
			packages[fn.Name.Name] = append(packages[fn.Name.Name], f.pkg())
			before := f.fset.Position(fn.Pos()).Line - 1
			if mark, ok := marks[before]; ok {
				delete(marks, before)
				marked[mark] = append(marked[mark], fn.Name.Name)
			}
		}
		for line, mark := range marks {
			t.Errorf("%s:%d: no test begins in the line after //test:%s", f.path, line, mark)
		}
	}
	for mark, least := range map[string]int{"long": 20, "realtime": 5, "documents": 5} {
		if len(marked[mark]) < least {
			t.Errorf("%d tests are marked //test:%s; the marks were not found", len(marked[mark]), mark)
		}
		for _, name := range marked[mark] {
			if len(packages[name]) > 1 {
				t.Errorf("%s is marked //test:%s, which applies to the tests of that name in %s too; rename one", name, mark, packages[name])
			}
		}
		delete(marked, mark)
	}
	for mark, names := range marked {
		t.Errorf("unknown mark //test:%s of %s; use long, realtime or documents", mark, strings.Join(names, ", "))
	}
}

// documentPath matches the path of a document, or a pattern of them, from a package's folder.
var documentPath = regexp.MustCompile(`^(\.\./)+(docs(/|$)|[A-Z_]+\.md$)|^\*\.md$`)

// TestOnlyMarkedTestsReadDocuments: a change to documents runs only the tests that are marked
// //test:documents, so no other may name one, itself or in a function that it calls.
func TestOnlyMarkedTestsReadDocuments(t *testing.T) {
	readers := map[string]bool{} // functions that name a document, by package and name
	found := 0
	all := tree(t)
	each := func(do func(f source, fn *ast.FuncDecl, marked bool)) {
		for _, f := range all {
			for _, d := range f.ast.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !f.isTest || !ok || f.pkg() == "internal/archtest" {
					continue
				}
				marked := fn.Doc != nil && slices.ContainsFunc(fn.Doc.List, func(c *ast.Comment) bool { return c.Text == "//test:documents" })
				do(f, fn, marked)
			}
		}
	}
	each(func(f source, fn *ast.FuncDecl, _ bool) {
		ast.Inspect(fn, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok {
				if text, err := strconv.Unquote(lit.Value); err == nil && documentPath.MatchString(text) {
					readers[f.pkg()+"."+fn.Name.Name] = true
				}
			}
			return true
		})
	})
	each(func(f source, fn *ast.FuncDecl, marked bool) {
		if !strings.HasPrefix(fn.Name.Name, "Test") {
			return
		}
		ast.Inspect(fn, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok || !readers[f.pkg()+"."+id.Name] {
				return true
			}
			if found++; !marked {
				t.Errorf("%s: %s reads documents; mark it //test:documents", f.at(id.Pos()), fn.Name.Name)
			}
			return true
		})
	})
	if found < 4 {
		t.Errorf("%d tests read documents; the search does not work", found)
	}
}

// TestEveryTestWithoutTheRaceDetectorRuns: a test that is compiled only without the race detector runs
// in test-slow, which finds it by its constraint, or in a package of CORE.
func TestEveryTestWithoutTheRaceDetectorRuns(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	core := strings.Fields(regexp.MustCompile(`(?m)^CORE := (.*)$`).FindStringSubmatch(string(makefile))[1])
	for _, f := range tree(t) {
		for _, group := range f.ast.Comments {
			for _, c := range group.List {
				constraint, ok := strings.CutPrefix(c.Text, "//go:build ")
				if !ok || !f.isTest || !strings.Contains(constraint, "!race") || strings.HasPrefix(constraint, "cgo && !race") {
					continue
				}
				if !slices.ContainsFunc(core, func(p string) bool {
					whole, below := strings.CutSuffix(strings.TrimPrefix(p, "./"), "/...")
					return f.pkg() == whole || below && strings.HasPrefix(f.pkg(), whole+"/")
				}) {
					t.Errorf("%s: no target runs its tests; write //go:build cgo && !race", f.path)
				}
			}
		}
	}
}
