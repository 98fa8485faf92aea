package contract

import (
	"go/ast"
	"go/types"
	"strings"
)

// catalogue finds the daemon's texts that are missing in a language, and tables of
// texts that nothing reads.
func (s *source) catalogue() (list []orphan) {
	locales := s.constants("protocol", "Locale")
	s.each(func(u *unit, n ast.Node, around []ast.Node) {
		lit, ok := n.(*ast.CompositeLit)
		if !ok {
			return
		}
		where := s.fset.Position(lit.Pos()).String()
		if of := s.typeOf(lit); of != nil && of.Name() == "words" && u.path == "protocol" {
			empty := 0
			for _, e := range lit.Elts {
				if v, known := s.text(e); known && v == "" {
					empty++
				}
			}
			if n := len(lit.Elts); n != 0 && (n != len(locales) || empty != 0 && empty != n) {
				list = append(list, orphan{"string", where, "text in every language"})
			}
			return
		}
		have := map[string]bool{}
		for _, e := range lit.Elts {
			kv, ok := e.(*ast.KeyValueExpr)
			if !ok {
				return
			}
			c, ok := s.objectOf(kv.Key).(*types.Const)
			if !ok || locales[c.Name()] != c {
				return
			}
			have[c.Name()] = true
		}
		for name := range locales {
			if len(have) > 0 && !have[name] {
				list = append(list, orphan{"string", where, "text in " + name})
			}
		}
	})
	return append(list, s.unread()...)
}

// objectOf returns what a name or a selector refers to.
func (s *source) objectOf(e ast.Expr) types.Object {
	switch e := e.(type) {
	case *ast.Ident:
		return s.info.Uses[e]
	case *ast.SelectorExpr:
		return s.info.Uses[e.Sel]
	}
	return nil
}

// unread finds package variables with localized texts that nothing reads.
func (s *source) unread() (list []orphan) {
	read := map[types.Object]bool{}
	for _, obj := range s.info.Uses {
		read[obj] = true
	}
	for _, u := range s.pkgs {
		if !product(u.path) || u.types == nil {
			continue
		}
		for _, name := range u.types.Scope().Names() {
			v, ok := u.types.Scope().Lookup(name).(*types.Var)
			if !ok || read[v] {
				continue
			}
			if text := types.TypeString(v.Type(), nil); strings.Contains(text, "protocol.Locale]") || strings.HasSuffix(text, "protocol.words") {
				list = append(list, orphan{"string", u.path + "." + name, "user: nothing reads this table of texts"})
			}
		}
	}
	return list
}
