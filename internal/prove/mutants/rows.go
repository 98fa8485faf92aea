package mutants

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"
)

// isSliceOf reports whether a function returns only a slice of the named type.
func isSliceOf(sig *types.Signature, name string) bool {
	if sig.Results().Len() != 1 {
		return false
	}
	s, ok := sig.Results().At(0).Type().(*types.Slice)
	return ok && named(s.Elem(), name)
}

func named(t types.Type, name string) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Name() == name
}

// tableRows creates the mutants of the rows that a function lists: the row is missing
// (its guard never holds), its guard always holds, its guard is negated.
func (m *maker) tableRows(d *ast.FuncDecl) {
	ast.Inspect(d.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CompositeLit:
			if s, ok := m.src.pkg.info.Types[n].Type.(*types.Slice); ok && named(s.Elem(), "Row") {
				for _, x := range n.Elts {
					m.row(x)
				}
			}
		case *ast.CallExpr:
			if id, ok := n.Fun.(*ast.Ident); ok && id.Name == "append" && !n.Ellipsis.IsValid() {
				for _, x := range n.Args[1:] {
					m.row(x)
				}
			}
		}
		return true
	})
}

// row creates the mutants of one row.
func (m *maker) row(x ast.Expr) {
	if !named(m.src.pkg.info.Types[x].Type, "Row") {
		return
	}
	ids := []int{m.add(classRow, "row gone", x, ""), 0, 0}
	if g, ok := m.guardOf(x); ok {
		text := "   in " + m.src.snippet(x.Pos(), x.End())
		ids[1], ids[2] = m.add(classGuard, "always holds", g, text), m.add(classGuard, "negated", g, text)
	}
	before := fmt.Sprintf("mutantRow(%d, %d, %d, ", ids[0], ids[1], ids[2])
	if lit, ok := x.(*ast.CompositeLit); ok && lit.Type == nil {
		before += "Row"
	}
	m.wrap(x, before, ")")
}

// guardOf finds the guard in a row: an element or an argument of type Guard that is
// not empty.
func (m *maker) guardOf(x ast.Expr) (ast.Expr, bool) {
	var parts []ast.Expr
	switch x := x.(type) {
	case *ast.CompositeLit:
		parts = x.Elts
	case *ast.CallExpr:
		parts = x.Args
	}
	for _, p := range parts {
		if kv, ok := p.(*ast.KeyValueExpr); ok {
			p = kv.Value
		}
		if lit, ok := p.(*ast.CompositeLit); ok && len(lit.Elts) == 0 {
			continue
		}
		if named(m.src.pkg.info.Types[p].Type, "Guard") {
			return p, true
		}
	}
	return nil, false
}

// guardArguments creates a mutant for each guard combined with others, in which it always holds.
func (m *maker) guardArguments(c *ast.CallExpr) {
	if tv := m.src.pkg.info.Types[c]; tv.Type == nil || !named(tv.Type, "Guard") {
		return
	}
	parts := c.Args
	if method, ok := c.Fun.(*ast.SelectorExpr); ok {
		parts = append([]ast.Expr{method.X}, parts...)
	}
	for _, x := range parts {
		if tv := m.src.pkg.info.Types[x]; tv.Type != nil && named(tv.Type, "Guard") {
			id := m.add(classGuard, "part always holds", x, "")
			m.wrap(x, fmt.Sprintf("mutantGuard(%d, ", id), ")")
		}
	}
}

// rowHelpers returns a file next to the table for the mutants of its rows.
func rowHelpers(p *pkg, path string) string {
	return strings.NewReplacer("PACKAGE", p.name, "MUTANT", path).Replace(`package PACKAGE

import "MUTANT"

// mutantRow is r with a guard that never holds (as if the row were missing), that
// always holds, or that is negated. Number 0 means no mutant.
func mutantRow(gone, always, negated int, r Row) Row {
	switch {
	case mutant.On(gone):
		r.Guard.Holds = mutantNever
	case mutant.On(always):
		r.Guard.Holds = mutantAlways
	case mutant.On(negated):
		r.Guard = r.Guard.Not()
	}
	return r
}

func mutantAlways[C any](C) bool { return true }

func mutantNever[C any](C) bool { return false }

func mutantGuard(number int, g Guard) Guard {
	if mutant.On(number) {
		g.Holds = mutantAlways
	}
	return g
}
`)
}
