package mutants

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
)

// The classes of automatic mutants. A survivor among guards and deadlines makes the
// gate fail.
const (
	classGuard    = "guard"
	classDeadline = "deadline"
	classRow      = "row"
	classEffect   = "effect"
	classState    = "state"
	classError    = "error"
	classBound    = "bound"
)

// skippedFiles are not behaviour of the core: they judge, draw, encode or document it.
var skippedFiles = []string{"doc.go", "invariant.go", "invariant_words.go", "decode.go", "draw.go", "regions.go", "kind.go", "effect.go", "event.go", "config.go", "adapter.go", "clock.go"}

// skippedFuncs return names.
var skippedFuncs = []string{"String", "MarshalText", "MarshalJSON", "UnmarshalText", "UnmarshalJSON", "name", "kind"}

// maker walks a file and creates its automatic mutants.
type maker struct {
	src    *source
	number int  // number of the next mutant
	more   bool // of handlers: errors, bounds, sends and what select chooses
	fn     string
	sigs   []*types.Signature // enclosing functions, innermost last
	params [][]*ast.Ident     // their receivers and parameters
	seen   map[string]int

	mutants []mutant
	edits   []edit
	rows    bool // the file has rows of a table
	rebuild []variable
}

// variable is a package variable whose initial value depends on mutated code.
type variable struct {
	name     string
	from, to int // range of the value
}

// automatic creates all automatic mutants of a file, numbered from number.
func automatic(s *source, number int, handlers bool) *maker {
	m := &maker{src: s, number: number, more: handlers, seen: map[string]int{}}
	if !handlers && (slices.Contains(skippedFiles, path.Base(s.path)) || s.path == "csm/statechart/chart.go") {
		return m
	}
	for _, d := range s.ast.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Body != nil && !slices.Contains(skippedFuncs, d.Name.Name) {
				m.function(d)
			}
		case *ast.GenDecl:
			if d.Tok == token.VAR {
				m.variables(d)
			}
		}
	}
	return m
}

func (m *maker) function(d *ast.FuncDecl) {
	m.fn = d.Name.Name
	sig, ok := m.src.pkg.info.Defs[d.Name].Type().(*types.Signature)
	if !ok {
		return
	}
	names := paramNames(d.Type)
	if d.Recv != nil {
		names = append(paramNames(&ast.FuncType{Params: d.Recv}), names...)
	}
	m.enter(sig, names)
	defer m.leave()
	m.walk(d.Body)
	if isSliceOf(sig, "Row") {
		m.rows = true
		m.tableRows(d)
	}
}

func paramNames(t *ast.FuncType) []*ast.Ident {
	var out []*ast.Ident
	for _, f := range t.Params.List {
		out = append(out, f.Names...)
	}
	return out
}

func (m *maker) enter(sig *types.Signature, names []*ast.Ident) {
	m.sigs, m.params = append(m.sigs, sig), append(m.params, names)
}

func (m *maker) leave() {
	m.sigs, m.params = m.sigs[:len(m.sigs)-1], m.params[:len(m.params)-1]
}

// variables creates mutants of the initial values of package variables, which are
// reinitialized when a mutant is selected later.
func (m *maker) variables(d *ast.GenDecl) {
	for _, spec := range d.Specs {
		v := spec.(*ast.ValueSpec)
		before := len(m.mutants)
		for i, value := range v.Values {
			m.fn = v.Names[i].Name
			m.walk(value)
			m.bits(value)
			if len(v.Names) == len(v.Values) && (len(m.mutants) > before || m.usesTable(value)) {
				m.rebuild = append(m.rebuild, variable{m.fn, m.src.offset(value.Pos()), m.src.offset(value.End())})
			}
		}
	}
}

// usesTable reports whether a value depends on the table.
func (m *maker) usesTable(x ast.Expr) (found bool) {
	ast.Inspect(x, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && (id.Name == "Table" || id.Name == "table")
		return !found
	})
	return found
}

// bits removes each bit from a mask of a package variable, such as an edge of the
// session's guard map.
func (m *maker) bits(x ast.Expr) {
	var mask func(n ast.Expr, typ, of string)
	mask = func(n ast.Expr, typ, of string) {
		if b, ok := n.(*ast.BinaryExpr); ok && b.Op == token.OR {
			mask(b.X, typ, of)
			mask(b.Y, typ, of)
			return
		}
		m.wrap(n, "mutant.Choose["+typ+"]("+on(m.add(classGuard, "bit gone", n, of))+", 0, ", ")")
	}
	ast.Inspect(x, func(n ast.Node) bool {
		if kv, ok := n.(*ast.KeyValueExpr); ok {
			b, binary := kv.Value.(*ast.BinaryExpr)
			if tv := m.src.pkg.info.Types[kv.Value]; binary && tv.Value != nil && (b.Op == token.OR || b.Op == token.SHL) {
				mask(b, m.src.pkg.typeText(types.Default(tv.Type)), " of "+m.src.snippet(kv.Key.Pos(), kv.Key.End()))
			}
		}
		return true
	})
}

// walk creates the mutants of everything below n.
func (m *maker) walk(n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		if x, ok := n.(ast.Expr); ok && m.bound(x) {
			return false
		}
		switch n := n.(type) {
		case *ast.FuncLit:
			sig, _ := m.src.pkg.info.Types[n].Type.(*types.Signature)
			m.enter(sig, paramNames(n.Type))
			m.walk(n.Body)
			m.leave()
			return false
		case *ast.IfStmt:
			m.condition(n.Cond)
		case *ast.ForStmt:
			if n.Cond != nil && m.isBool(n.Cond) {
				id := m.add(classGuard, "loop not entered", n.Cond, "")
				m.wrap(n.Cond, "(!"+on(id)+" && (", "))")
			}
		case *ast.SwitchStmt:
			if n.Tag == nil {
				m.tagless(n)
			}
		case *ast.BinaryExpr:
			m.operands(n)
			m.growth(n)
		case *ast.BlockStmt:
			m.statements(n.List)
		case *ast.CaseClause:
			m.statements(n.Body)
		case *ast.CommClause:
			if m.more {
				m.statements(n.Body)
			}
		case *ast.GenDecl: // constants must stay constant
			return n.Tok != token.CONST
		case *ast.ArrayType: // and so must array lengths
			return false
		case *ast.ReturnStmt:
			m.returns(n)
		case *ast.CallExpr:
			m.guardArguments(n)
		}
		return true
	})
}

func (m *maker) tagless(n *ast.SwitchStmt) {
	for _, c := range n.Body.List {
		for _, x := range c.(*ast.CaseClause).List {
			m.condition(x)
		}
	}
}

// condition creates mutants in which a condition always or never holds.
func (m *maker) condition(x ast.Expr) {
	if !m.isBool(x) {
		return
	}
	yes, no := m.add(m.guardClass(), "always holds", x, ""), m.add(m.guardClass(), "never holds", x, "")
	m.wrap(x, "("+on(yes)+" || !"+on(no)+" && (", "))")
}

// operands creates mutants that remove each part of a condition.
func (m *maker) operands(b *ast.BinaryExpr) {
	for _, x := range []ast.Expr{b.X, b.Y} {
		inner, same := ast.Unparen(x).(*ast.BinaryExpr)
		if same && inner.Op == b.Op || !m.isBool(x) { // its own operands are mutated instead
			continue
		}
		switch b.Op {
		case token.LAND:
			m.wrap(x, "("+on(m.add(m.guardClass(), "part gone", x, ""))+" || ", ")")
		case token.LOR:
			m.wrap(x, "(!"+on(m.add(m.guardClass(), "part gone", x, ""))+" && ", ")")
		}
	}
}

// guardClass returns the class of conditions in the current function.
func (m *maker) guardClass() string {
	if slices.Contains([]string{"Needs", "after", "deadlines", "remaining"}, m.fn) {
		return classDeadline
	}
	return classGuard
}

func (m *maker) isBool(x ast.Expr) bool {
	tv, ok := m.src.pkg.info.Types[x]
	if !ok || tv.Value != nil {
		return false
	}
	b, ok := tv.Type.(*types.Basic)
	return ok && (b.Kind() == types.Bool || b.Kind() == types.UntypedBool)
}

// statements creates mutants that omit each statement.
func (m *maker) statements(list []ast.Stmt) {
	for _, s := range list {
		class := ""
		switch s := s.(type) {
		case *ast.ExprStmt:
			if c, ok := s.X.(*ast.CallExpr); ok && !isPanic(c) && !m.logs(c) {
				class = classEffect
			}
		case *ast.AssignStmt:
			if s.Tok != token.DEFINE && !allBlank(s.Lhs) {
				class = classState
			}
		case *ast.IncDecStmt:
			class = classState
		case *ast.SendStmt:
			if m.more {
				class = classEffect
			}
		}
		if class == "" {
			continue
		}
		text := m.src.snippet(s.Pos(), s.End())
		if strings.Contains(text, "refresh") || strings.Contains(text, "Timer") || strings.Contains(text, "saved") || m.guardClass() == classDeadline {
			class = classDeadline
		}
		m.wrap(s, "if !"+on(m.add(class, "left out", s, ""))+" { ", " }")
	}
}

// logs reports whether a call only writes to the log.
func (m *maker) logs(c *ast.CallExpr) bool {
	method, ok := c.Fun.(*ast.SelectorExpr)
	return ok && m.more && m.src.pkg.info.Types[method.X].Type != nil && m.src.pkg.info.Types[method.X].Type.String() == "*github.com/rs/zerolog.Event"
}

func isPanic(c *ast.CallExpr) bool {
	id, ok := c.Fun.(*ast.Ident)
	return ok && id.Name == "panic"
}

func allBlank(list []ast.Expr) bool {
	return !slices.ContainsFunc(list, func(x ast.Expr) bool { id, ok := x.(*ast.Ident); return !ok || id.Name != "_" })
}

// returns creates mutants that return the opposite, a zero duration, or an unchanged value.
func (m *maker) returns(r *ast.ReturnStmt) {
	sig := m.sigs[len(m.sigs)-1]
	if len(r.Results) == 0 || sig == nil || len(r.Results) != sig.Results().Len() {
		return
	}
	for i, x := range r.Results {
		tv := m.src.pkg.info.Types[x]
		switch t := sig.Results().At(i).Type(); {
		case t == types.Typ[types.Bool] && tv.Value != nil:
			m.wrap(x, "("+on(m.add(m.guardClass(), "other way", r, ""))+" != (", "))")
		case t == types.Typ[types.Bool]:
			yes, no := m.add(m.guardClass(), "always true", r, ""), m.add(m.guardClass(), "always false", r, "")
			m.wrap(x, "("+on(yes)+" || !"+on(no)+" && (", "))")
		case m.more && types.Identical(t, types.Universe.Lookup("error").Type()) && !tv.IsNil():
			m.wrap(x, "mutant.Choose[error]("+on(m.add(classError, "no error", r, ""))+", nil, ", ")")
		case m.more && tv.Value != nil: // handled by bound
		case t.String() == "time.Duration" && m.src.imports(t):
			m.wrap(x, "mutant.Choose["+m.src.pkg.typeText(t)+"]("+on(m.add(classDeadline, "no time", r, ""))+", 0, ", ")")
		}
	}
	m.unchanged(r, sig)
}

// bound creates mutants in which a constant limit of a time or a size is zero or ten
// times as large. It reports whether x is constant; its parts are then not mutated.
func (m *maker) bound(x ast.Expr) bool {
	tv := m.src.pkg.info.Types[x]
	if !m.more || tv.Value == nil {
		return false
	}
	typ, class, fits := "", classBound, true
	switch t := types.Default(tv.Type).(type) {
	case *types.Basic:
		if t.Info()&types.IsNumeric == 0 {
			return true
		}
		typ = "[" + t.String() + "]"
		if v, exact := constant.Int64Val(constant.ToInt(tv.Value)); exact {
			fits = v < math.MaxInt64>>(64-8*types.SizesFor("gc", "amd64").Sizeof(t))/10
		}
	case *types.Named:
		if t.String() != "time.Duration" {
			return true
		}
		class = classDeadline
	default:
		return true
	}
	if !m.named(x) {
		return true
	}
	text := string(m.src.text[m.src.offset(x.Pos()):m.src.offset(x.End())])
	for _, by := range []struct{ op, value string }{{"none", "0"}, {"ten times", "10*(" + text + ")"}} {
		if by.op == "ten times" && !fits {
			continue
		}
		m.wrap(x, "mutant.Choose"+typ+"("+on(m.add(class, by.op, x, ""))+", "+by.value+", ", ")")
	}
	return true
}

// named reports whether a constant of the package is part of x.
func (m *maker) named(x ast.Expr) (found bool) {
	ast.Inspect(x, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			c, constant := m.src.pkg.info.Uses[id].(*types.Const)
			found = found || constant && c.Pkg() == m.src.pkg.types && c.Parent() == c.Pkg().Scope()
		}
		return !found
	})
	return found
}

// growth creates a mutant in which a shift, as in an exponential backoff, has no
// effect.
func (m *maker) growth(b *ast.BinaryExpr) {
	tv := m.src.pkg.info.Types[b]
	if !m.more || b.Op != token.SHL || tv.Value != nil || tv.Type.String() != "time.Duration" {
		return
	}
	m.wrap(b.Y, "mutant.Choose("+on(m.add(classDeadline, "does not grow", b, ""))+", 0, ", ")")
}

// unchanged creates a mutant that returns the argument unchanged, if a function
// returns a new value of an argument's type.
func (m *maker) unchanged(r *ast.ReturnStmt, sig *types.Signature) {
	first, named := sig.Results().At(0).Type().(*types.Named)
	if !named || first.Obj().Pkg() == nil || first.String() == "time.Duration" {
		return
	}
	for _, p := range m.params[len(m.params)-1] {
		obj := m.src.pkg.info.Defs[p]
		if obj == nil || p.Name == "_" || !types.Identical(obj.Type(), first) || !m.src.imports(sig.Results()) {
			continue
		}
		if id, ok := r.Results[0].(*ast.Ident); ok && id.Name == p.Name {
			return
		}
		same := []string{p.Name}
		for i := 1; i < sig.Results().Len(); i++ {
			same = append(same, "*new("+m.src.pkg.typeText(sig.Results().At(i).Type())+")")
		}
		id := m.add(classState, "nothing changes", r, "")
		m.wrap(r, "if "+on(id)+" { return "+strings.Join(same, ", ")+" }; ", "")
		return
	}
}

// add records a mutant and returns its number. more is appended to the snippet.
func (m *maker) add(class, op string, n ast.Node, more string) int {
	mu := mutant{File: m.src.path, Func: m.fn, Op: op, Class: class, Snippet: m.src.snippet(n.Pos(), n.End()) + more}
	key := fmt.Sprintf("%s|%s|%s|%s", mu.File, mu.Func, mu.Op, mu.Snippet)
	m.seen[key]++
	if nth := m.seen[key]; nth > 1 { // the same text again in the function
		mu.Snippet += " #" + strconv.Itoa(nth)
		key += "#" + strconv.Itoa(nth)
	}
	sum := sha256.Sum256([]byte(key))
	mu.Name = "auto-" + hex.EncodeToString(sum[:4])
	m.mutants = append(m.mutants, mu)
	m.number++
	return m.number - 1
}

func (m *maker) wrap(n ast.Node, before, after string) {
	by := m.mutants[len(m.mutants)-1].Name
	m.edits = append(m.edits, edit{m.src.offset(n.Pos()), m.src.offset(n.End()), before, after, by})
}

func on(number int) string { return "mutant.On(" + strconv.Itoa(number) + ")" }
