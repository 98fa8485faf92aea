package mutants

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// tree is the mutated module.
type tree struct {
	root     string // the folder with go.mod
	module   string // its path
	packages []*pkg
}

// pkg is one of its packages, with the types of its expressions.
type pkg struct {
	dir   string // relative to the root, with slashes
	name  string
	files []*source
	fset  *token.FileSet
	info  *types.Info
	types *types.Package
}

// source is one file that is not a test.
type source struct {
	path string // relative to the root, with slashes
	text []byte
	ast  *ast.File
	pkg  *pkg
}

// offset returns the position of p in the text.
func (s *source) offset(p token.Pos) int { return s.pkg.fset.Position(p).Offset }

// snippet returns the text between two positions, on one line.
func (s *source) snippet(from, to token.Pos) string {
	return strings.Join(strings.Fields(string(s.text[s.offset(from):s.offset(to)])), " ")
}

// listed is the output of `go list -json` for a package.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
	Module                  *struct{ Path string }
}

// load parses and type-checks the packages that are mutated.
func load(pr project) (*tree, error) {
	root, dirs := pr.root, pr.packages
	args := []string{"list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,Module", "-tags", buildTags}
	for _, d := range dirs {
		args = append(args, "./"+d)
	}
	out, err := goTool(root, args...)
	if err != nil {
		return nil, err
	}
	all := map[string]listed{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var l listed
		if err := dec.Decode(&l); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("output of go list: %w", err)
		}
		all[l.ImportPath] = l
	}
	t := &tree{root: root}
	for _, l := range all {
		if l.Module != nil && filepath.Clean(l.Dir) == filepath.Join(root, dirs[0]) {
			t.module = l.Module.Path
		}
	}
	for _, d := range dirs {
		l, ok := all[path.Join(t.module, d)]
		if !ok {
			return nil, fmt.Errorf("no package in %s of %s", d, root)
		}
		p, err := check(d, l, all)
		if err != nil {
			return nil, err
		}
		t.packages = append(t.packages, p)
	}
	return t, nil
}

// check parses the package in dir and finds the types of its expressions. It reads
// the types of imports from the compiler's export data.
func check(dir string, l listed, all map[string]listed) (*pkg, error) {
	p := &pkg{dir: dir, fset: token.NewFileSet(), info: &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
	}}
	var files []*ast.File
	for _, name := range l.GoFiles {
		text, err := os.ReadFile(filepath.Join(l.Dir, name))
		if err != nil {
			return nil, err
		}
		f, err := parser.ParseFile(p.fset, filepath.Join(l.Dir, name), text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
		p.files = append(p.files, &source{path: path.Join(dir, name), text: text, ast: f, pkg: p})
	}
	conf := types.Config{Importer: importer.ForCompiler(p.fset, "gc", func(path string) (io.ReadCloser, error) {
		if all[path].Export == "" {
			return nil, fmt.Errorf("go list returned no export data for %s", path)
		}
		return os.Open(all[path].Export)
	})}
	var err error
	if p.types, err = conf.Check(l.ImportPath, p.fset, files, p.info); err != nil {
		return nil, err
	}
	p.name = p.types.Name()
	return p, nil
}

// file finds a file of the core by its path relative to the root.
func (t *tree) file(path string) (*source, bool) {
	for _, p := range t.packages {
		if i := slices.IndexFunc(p.files, func(s *source) bool { return s.path == path }); i >= 0 {
			return p.files[i], true
		}
	}
	return nil, false
}

// typeText formats a type as in a file of the package.
func (p *pkg) typeText(t types.Type) string {
	return types.TypeString(t, func(other *types.Package) string {
		if other == p.types {
			return ""
		}
		return other.Name()
	})
}

// imports reports whether the file has the imports that typeText of t needs.
func (s *source) imports(t types.Type) (all bool) {
	all = true
	types.TypeString(t, func(other *types.Package) string {
		all = all && (other == s.pkg.types || slices.ContainsFunc(s.ast.Imports, func(i *ast.ImportSpec) bool {
			return i.Path.Value == strconv.Quote(other.Path()) && (i.Name == nil || i.Name.Name == other.Name())
		}))
		return other.Name()
	})
	return all
}

// goTool runs the go command in dir. It ignores GOFLAGS.
func goTool(dir string, args ...string) ([]byte, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, errs.Bytes())
	}
	return out.Bytes(), nil
}
