package contract

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// orphan is a promise with a missing end.
type orphan struct {
	kind, name string
	missing    string // which end, and where to connect it
}

func (o orphan) key() string    { return o.kind + " " + o.name }
func (o orphan) String() string { return fmt.Sprintf("%s %s has no %s", o.kind, o.name, o.missing) }

// producers reports whether a package's facts reach the core of a live daemon.
func producers(pkg string) bool {
	return pkg == "csm/dispatch" || pkg == "internal/daemon" || strings.HasPrefix(pkg, "internal/daemon/") || strings.HasPrefix(pkg, "cmd/")
}

// events finds events of the core that nothing in production produces.
func (s *source) events() (list []orphan) {
	made := map[types.Object]bool{}
	posted := map[string]bool{} // kinds that the core requests
	s.each(func(u *unit, n ast.Node, around []ast.Node) {
		lit, ok := n.(*ast.CompositeLit)
		if !ok || !s.runs(around) {
			return
		}
		switch of := s.typeOf(lit); {
		case of == nil:
		case u.path == "csm" && of.Name() == "Post":
			for _, e := range lit.Elts {
				if kv, ok := e.(*ast.KeyValueExpr); ok {
					posted[types.ExprString(kv.Value)] = true
				}
			}
		case producers(u.path) && !compared(around):
			made[of] = true
		}
	})
	for name, obj := range s.implementers("csm", "Event") {
		if !made[obj] && !posted["Kind"+name] {
			list = append(list, orphan{"event", name, "producer: post csm." + name + " in internal/daemon/live, internal/daemon/rpc or internal/daemon"})
		}
	}
	return list
}

// compared reports whether an expression is only compared, or returned beside false
// or an error.
func compared(around []ast.Node) bool {
	if len(around) == 0 {
		return false
	}
	switch p := around[len(around)-1].(type) {
	case *ast.BinaryExpr:
		return p.Op == token.EQL || p.Op == token.NEQ
	case *ast.ParenExpr:
		return len(around) > 1 && compared(around[:len(around)-1])
	case *ast.CaseClause:
		return true
	}
	return false
}

// effects finds effects of the core that no handler of the live daemon executes.
func (s *source) effects() (list []orphan) {
	all := s.implementers("csm", "Effect")
	handled := map[types.Object]bool{}
	s.each(func(u *unit, n ast.Node, around []ast.Node) {
		if !slices.Contains([]string{"csm/dispatch", "internal/daemon", "internal/daemon/live"}, u.path) || !s.runs(around) {
			return
		}
		switch n := n.(type) {
		case *ast.CaseClause:
			for _, e := range n.List {
				if of := s.typeOf(e); of != nil && len(n.Body) > 0 {
					handled[of] = true
				}
			}
		case *ast.TypeAssertExpr:
			if n.Type != nil {
				handled[s.typeOf(n.Type)] = true
			}
		}
	})
	for name, obj := range all {
		if !handled[obj] {
			list = append(list, orphan{"effect", name, "handler that does something: add a case for csm." + name + " to World.Execute in internal/daemon/live, or to internal/daemon"})
		}
	}
	return list
}

// settings finds settings whose field nothing reads outside of protocol.
func (s *source) settings() (list []orphan) {
	read := map[types.Object]bool{}
	s.each(func(u *unit, n ast.Node, around []ast.Node) {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok || strings.HasPrefix(u.path, "protocol") && s.file(n) != roleFile || !s.runs(around) {
			return
		}
		if assigned(around, sel) {
			return
		}
		read[s.info.Uses[sel.Sel]] = true
	})
	for name, field := range s.rows() {
		if !read[field] {
			list = append(list, orphan{"setting", name, "reader: use its field (" + field.Name() + ") where it counts, outside of protocol"})
		}
	}
	return list
}

// rows returns the fields of the settings table, by setting name.
func (s *source) rows() map[string]types.Object {
	rows := map[string]types.Object{}
	s.each(func(u *unit, n ast.Node, _ []ast.Node) {
		lit, ok := n.(*ast.CompositeLit)
		if !ok || u.path != "protocol" {
			return
		}
		name, field := "", types.Object(nil)
		for _, e := range lit.Elts {
			kv, ok := e.(*ast.KeyValueExpr)
			if !ok {
				continue
			}
			switch types.ExprString(kv.Key) {
			case "Name":
				name, _ = s.text(kv.Value)
			case "field":
				ast.Inspect(kv.Value, func(n ast.Node) bool {
					if u, ok := n.(*ast.UnaryExpr); ok && u.Op == token.AND {
						if sel, ok := u.X.(*ast.SelectorExpr); ok {
							field = s.info.Uses[sel.Sel]
						}
					}
					return true
				})
			}
		}
		if name != "" && field != nil {
			rows[name] = field
		}
	})
	return rows
}

// closed lists the enumerations whose values all need a user.
var closed = []struct {
	kind, pkg, typ string
	users          func(pkg string) bool
	missing        string
}{
	{"spoken command", "copilot/spoken", "Command", func(p string) bool { return p != "copilot/spoken" }, "consumer: act on it in internal/daemon/words.go or question.go"},
	{"utterance class", "copilot/spoken", "UtteranceClass", func(p string) bool { return p != "copilot/spoken" }, "consumer: act on it in internal/daemon/words.go"},
	{"class", "csm", "Class", producers, "producer: internal/daemon/words.go makes no utterance of it"},
}

// words finds spoken commands that nothing consumes, and classes that nothing produces.
func (s *source) words() (list []orphan) {
	for _, c := range closed {
		used := map[types.Object]bool{}
		s.each(func(u *unit, n ast.Node, around []ast.Node) {
			if id, ok := n.(*ast.Ident); ok && c.users(u.path) && s.runs(around) {
				used[s.info.Uses[id]] = true
			}
		})
		for name, obj := range s.constants(c.pkg, c.typ) {
			if strings.HasPrefix(name, "Num") || used[obj] || c.typ == "Class" && name == "Content" { // the zero value
				continue
			}
			list = append(list, orphan{c.kind, name, c.missing})
		}
	}
	return list
}
