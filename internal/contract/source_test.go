package contract

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/agentvoice/agentvoice-daemon"

// notProduct lists packages that a live daemon does not run. What they produce,
// handle or read does not count.
var notProduct = []string{"csm/csmtest", "csm/explore", "csm/journal", "csm/world", "internal/daemon/headless", "internal/gen", "internal/archtest", "internal/mutant", "internal/timeline", "internal/prove", "internal/testutil", "internal/tools", "bench", "testdata", "extension"}

// product reports whether a package runs in the live daemon.
func product(pkg string) bool {
	return !slices.ContainsFunc(notProduct, func(p string) bool { return pkg == p || strings.HasPrefix(pkg, p+"/") })
}

// source is the project's source, with some files replaced.
type source struct {
	root    string
	overlay map[string]string // by path from the root
	fset    *token.FileSet
	info    *types.Info
	pkgs    map[string]*unit // by path from the root
	live    map[types.Object]bool
	named   map[string]bool // method names of any interface
}

// unit is one of our packages.
type unit struct {
	path  string
	files []*ast.File
	types *types.Package
}

// whole is the source as it is.
var whole = sync.OnceValues(func() (*source, error) { return check(nil) })

// load reads and type-checks the packages of the product, with some files replaced.
func load(t testing.TB, overlay map[string]string) *source {
	t.Helper()
	of := whole
	if overlay != nil {
		of = func() (*source, error) { return check(overlay) }
	}
	s, err := of()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func check(overlay map[string]string) (*source, error) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		return nil, err
	}
	s := &source{
		root: root, overlay: overlay, fset: token.NewFileSet(), pkgs: map[string]*unit{}, live: map[types.Object]bool{}, named: map[string]bool{},
		info: &types.Info{
			Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{},
		},
	}
	for name := range overlay {
		if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(name))); err != nil {
			return nil, fmt.Errorf("the overlay replaces a missing file: %w", err)
		}
	}
	if _, err := s.Import(module + "/cmd/agentvoice-daemon"); err != nil {
		return nil, err
	}
	s.findLive()
	return s, nil
}

// read returns a file of the project.
func (s *source) read(name string) ([]byte, error) {
	if text, ok := s.overlay[name]; ok {
		return []byte(text), nil
	}
	return os.ReadFile(filepath.Join(s.root, filepath.FromSlash(name)))
}

// Import implements types.Importer: our own packages are type-checked, all others are
// empty.
func (s *source) Import(name string) (*types.Package, error) {
	rel, ours := strings.CutPrefix(name, module+"/")
	if !ours {
		p := types.NewPackage(name, path.Base(name))
		p.MarkComplete()
		return p, nil
	}
	if u, ok := s.pkgs[rel]; ok {
		return u.types, nil
	}
	u := &unit{path: rel}
	s.pkgs[rel] = u
	dir := filepath.Join(s.root, filepath.FromSlash(rel))
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	ctx := build.Default
	ctx.GOOS, ctx.GOARCH, ctx.CgoEnabled = "linux", "amd64", true
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".go" || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		if ok, err := ctx.MatchFile(dir, e.Name()); err != nil || !ok {
			continue
		}
		text, err := s.read(rel + "/" + e.Name())
		if err != nil {
			return nil, err
		}
		f, err := parser.ParseFile(s.fset, rel+"/"+e.Name(), text, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		u.files = append(u.files, f)
	}
	conf := types.Config{Importer: s, FakeImportC: true, Error: func(error) {}} // declarations of other modules are unknown
	u.types, _ = conf.Check(name, s.fset, u.files, s.info)
	return u.types, nil
}

// findLive finds the functions that the product refers to.
func (s *source) findLive() {
	for id, obj := range s.info.Uses {
		if _, ok := obj.(*types.Func); ok && product(path.Dir(s.file(id))) {
			s.live[obj] = true
		}
	}
	s.each(func(_ *unit, n ast.Node, _ []ast.Node) {
		if i, ok := n.(*ast.InterfaceType); ok {
			for _, m := range i.Methods.List {
				for _, name := range m.Names {
					s.named[name.Name] = true
				}
			}
		}
	})
	for _, m := range []string{"String", "Error", "Unwrap", "Close", "Read", "Write", "MarshalJSON", "UnmarshalJSON", "Handle", "Conn"} {
		s.named[m] = true // methods of interfaces in other modules
	}
}

// each visits every node of the product, with its ancestors, innermost last.
func (s *source) each(visit func(u *unit, n ast.Node, around []ast.Node)) {
	for _, u := range s.pkgs {
		if !product(u.path) {
			continue
		}
		for _, f := range u.files {
			var around []ast.Node
			ast.Inspect(f, func(n ast.Node) bool {
				if n == nil {
					around = around[:len(around)-1]
					return true
				}
				visit(u, n, around)
				around = append(around, n)
				return true
			})
		}
	}
}

// file returns the path of the file that a node is in.
func (s *source) file(n ast.Node) string { return s.fset.Position(n.Pos()).Filename }

// runs reports whether a node is in a function that the product refers to.
func (s *source) runs(around []ast.Node) bool {
	for _, n := range around {
		f, ok := n.(*ast.FuncDecl)
		if !ok {
			continue
		}
		name := f.Name.Name
		return name == "main" || name == "init" || s.live[s.info.Defs[f.Name]] || f.Recv != nil && s.named[name]
	}
	return true // in a package variable
}

// scope returns the scope of a package, or an empty one if it does not exist.
func (s *source) scope(pkg string) *types.Scope {
	if u := s.pkgs[pkg]; u != nil && u.types != nil {
		return u.types.Scope()
	}
	return types.NewScope(nil, token.NoPos, token.NoPos, pkg)
}

// constants returns the names of the constants of one of our types, by value.
func (s *source) constants(pkg, typ string) map[string]*types.Const {
	list := map[string]*types.Const{}
	scope := s.scope(pkg)
	for _, name := range scope.Names() {
		c, ok := scope.Lookup(name).(*types.Const)
		if !ok {
			continue
		}
		if n, ok := c.Type().(*types.Named); ok && n.Obj().Name() == typ && n.Obj().Pkg() == c.Pkg() {
			list[name] = c
		}
	}
	return list
}

// text returns the value of a constant string expression.
func (s *source) text(e ast.Expr) (string, bool) {
	if v := s.info.Types[e].Value; v != nil && v.Kind() == constant.String {
		return constant.StringVal(v), true
	}
	return "", false
}

// implementers returns the types of a package that implement one of its interfaces.
func (s *source) implementers(pkg, iface string) map[string]types.Object {
	list := map[string]types.Object{}
	scope := s.scope(pkg)
	obj := scope.Lookup(iface)
	if obj == nil {
		return list
	}
	want, _ := obj.Type().Underlying().(*types.Interface)
	for _, name := range scope.Names() {
		t, ok := scope.Lookup(name).(*types.TypeName)
		if !ok || want == nil || !t.Exported() || types.IsInterface(t.Type()) {
			continue
		}
		if types.Implements(t.Type(), want) {
			list[name] = t
		}
	}
	return list
}

// named returns an expression's type if it is one of ours, otherwise nil.
func (s *source) typeOf(e ast.Expr) types.Object {
	t := s.info.Types[e].Type
	if t == nil {
		return nil
	}
	if n, ok := t.(*types.Named); ok {
		return n.Obj()
	}
	return nil
}

// files returns the files below a folder of the extension with one of the suffixes.
func (s *source) files(t testing.TB, dirs []string, endings ...string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, dir := range dirs {
		err := filepath.WalkDir(filepath.Join(s.root, filepath.FromSlash(dir)), func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !slices.Contains(endings, filepath.Ext(name)) || strings.HasSuffix(name, ".gen.ts") {
				return err
			}
			rel, err := filepath.Rel(s.root, name)
			if err != nil {
				return err
			}
			text, err := s.read(filepath.ToSlash(rel))
			out[filepath.ToSlash(rel)] = string(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}
