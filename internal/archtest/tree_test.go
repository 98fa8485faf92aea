package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/agentvoice/agentvoice-daemon"

// source is one Go file. Its path is relative to the module root, with slashes.
type source struct {
	path    string
	lines   int
	ast     *ast.File
	fset    *token.FileSet
	isTest  bool
	written bool // by a person, not by a generator
}

// pkg returns the folder of the file, "." for the root.
func (s source) pkg() string { return path.Dir(s.path) }

// imports returns the paths that the file imports.
func (s source) imports() []string {
	var out []string
	for _, i := range s.ast.Imports {
		p, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			panic(err) // the parser has read it
		}
		out = append(out, p)
	}
	return out
}

// at formats a position in the file.
func (s source) at(p token.Pos) string {
	return s.path + ":" + strconv.Itoa(s.fset.Position(p).Line)
}

// skipped lists folders without our Go code.
var skipped = []string{".git", "node_modules", "testdata", "out", "bin", "dist"}

// parsed is the result of tree, which every test needs.
var parsed []source

// tree parses every Go file of the module, once.
func tree(t *testing.T) []source {
	t.Helper()
	if parsed != nil {
		return parsed
	}
	root := moduleRoot(t)
	var out []source
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains(skipped, d.Name()):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(file) != ".go":
			return nil
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, file, text, parser.ParseComments)
		if err != nil {
			t.Errorf("%s does not parse: %v", filepath.ToSlash(rel), err)
			return nil
		}
		out = append(out, source{
			path: filepath.ToSlash(rel), lines: strings.Count(string(text), "\n"), ast: f, fset: fset,
			isTest: strings.HasSuffix(file, "_test.go"), written: !ast.IsGenerated(f),
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out) < 50 {
		t.Fatalf("found %d Go files under %s; the walk is broken", len(out), root)
	}
	parsed = out
	return out
}

func moduleRoot(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if parent := filepath.Dir(dir); parent != dir {
			dir = parent
			continue
		}
		t.Fatal("no go.mod in a parent folder of the test")
	}
}
