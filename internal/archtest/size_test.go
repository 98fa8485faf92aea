package archtest

import (
	"go/ast"
	"strings"
	"testing"
)

// Maximum sizes for readability.
const (
	maxFileLines     = 600
	maxFunctionLines = 80
)

func TestNoFileOrFunctionIsTooLong(t *testing.T) {
	for _, f := range tree(t) {
		if !f.written {
			continue
		}
		if f.lines > maxFileLines {
			t.Errorf("%s has %d lines; split it so that no file has more than %d", f.path, f.lines, maxFileLines)
		}
		for _, d := range f.ast.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			if n := f.fset.Position(fn.End()).Line - f.fset.Position(fn.Pos()).Line + 1; n > maxFunctionLines {
				t.Errorf("%s: %s has %d lines; split it so that no function has more than %d", f.at(fn.Pos()), fn.Name.Name, n, maxFunctionLines)
			}
		}
	}
}

// Every package has a doc, in one file.
func TestEveryPackageHasADoc(t *testing.T) {
	docs := map[string][]string{}
	for _, f := range tree(t) {
		if f.isTest {
			continue
		}
		if _, known := docs[f.pkg()]; !known {
			docs[f.pkg()] = nil
		}
		if f.ast.Doc == nil {
			continue
		}
		docs[f.pkg()] = append(docs[f.pkg()], f.path)
		text := f.ast.Doc.Text()
		if name := f.ast.Name.Name; name != "main" && !strings.HasPrefix(text, "Package "+name+" ") {
			t.Errorf("%s: the package doc starts with %.40q; start it with \"Package %s\"", f.path, text, name)
		}
	}
	for pkg, files := range docs {
		switch len(files) {
		case 0:
			t.Errorf("package %s has no doc; describe its purpose, its use and its invariants", pkg)
		case 1:
		default:
			t.Errorf("package %s has a doc in %q; keep it in one file", pkg, files)
		}
	}
}
