package contract

import (
	"encoding/json"
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The sources of the extension that run in the editor.
var extensionDirs = []string{"extension/src", "extension/webview"}

// methods finds messages of the wire without a sender or without a handler.
func (s *source) methods(t testing.TB) (list []orphan) {
	goes := s.raised(func(pkg string) bool { return pkg != "protocol" && !strings.HasPrefix(pkg, "protocol/") })
	var ts strings.Builder
	for _, text := range s.files(t, extensionDirs, ".ts") {
		ts.WriteString(text)
	}
	sends := func(m string) bool {
		return regexp.MustCompile(`\.(request|notify)\((?:[^'\n]*)'` + regexp.QuoteMeta(m) + `'|\.(request|notify)\([^)\n]*'` + regexp.QuoteMeta(m) + `'`).MatchString(ts.String())
	}
	takes := func(m string) bool {
		return regexp.MustCompile(`\.(on|answer)\(\s*'` + regexp.QuoteMeta(m) + `'`).MatchString(ts.String())
	}
	for _, m := range s.messages() {
		if m.name == "$/cancelRequest" { // vscode-jsonrpc sends and handles it for every token
			continue
		}
		if m.fromClient {
			if !goes.cases[m.name] {
				list = append(list, orphan{"method", m.name, "handler in the daemon: add it to internal/daemon/rpc/call.go"})
			}
			if !sends(m.name) {
				list = append(list, orphan{"method", m.name, "sender in the extension: call wire.request or wire.notify with it in extension/src"})
			}
			continue
		}
		if !goes.values[m.name] {
			list = append(list, orphan{"method", m.name, "sender in the daemon: send it in internal/daemon, internal/daemon/rpc or copilot/editor"})
		}
		if !takes(m.name) {
			list = append(list, orphan{"method", m.name, "handler in the extension: handle it with wire.on or wire.answer in extension/src"})
		}
	}
	return list
}

// message is a row of protocol.Messages.
type message struct {
	name       string
	fromClient bool
	params     types.Type // of a client's message; nil if it has none
}

// messages reads protocol.Messages.
func (s *source) messages() (list []message) {
	s.each(func(u *unit, n ast.Node, around []ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok || u.path != "protocol" || len(call.Args) == 0 {
			return
		}
		id, ok := call.Fun.(*ast.Ident)
		if !ok || len(around) < 2 {
			return
		}
		if _, row := around[len(around)-1].(*ast.CompositeLit); !row {
			return
		}
		name, known := s.text(call.Args[0])
		if !known {
			return
		}
		switch id.Name {
		case "request", "notification":
			list = append(list, message{name, true, s.info.Types[call.Args[1]].Type})
		case "call", "publish":
			list = append(list, message{name, false, nil})
		}
	})
	return list
}

// strings of the product: values are those that expressions have, cases those that
// they are compared with.
type texts struct{ values, cases map[string]bool }

// raised returns the constant strings in running code of some packages.
func (s *source) raised(in func(pkg string) bool) texts {
	out := texts{map[string]bool{}, map[string]bool{}}
	s.each(func(u *unit, n ast.Node, around []ast.Node) {
		e, ok := n.(ast.Expr)
		if !ok || !in(u.path) || !s.runs(around) || declared(around) || listed(around) {
			return
		}
		v, ok := s.text(e)
		if !ok {
			return
		}
		if comparison(around, e) {
			out.cases[v] = true
		} else {
			out.values[v] = true
		}
	})
	return out
}

// declared reports whether a node is in the declaration of a constant.
func declared(around []ast.Node) bool {
	for _, n := range around {
		if d, ok := n.(*ast.GenDecl); ok && d.Tok == token.CONST {
			return true
		}
	}
	return false
}

// listed reports whether a node is in a list that a package declares, such as all
// codes.
func listed(around []ast.Node) bool {
	for i, n := range around {
		lit, ok := n.(*ast.CompositeLit)
		if !ok {
			continue
		}
		_, list := lit.Type.(*ast.ArrayType)
		_, declared := around[1].(*ast.GenDecl)
		return list && declared && i <= 4
	}
	return false
}

// comparison reports whether an expression, or what it is the innermost part of, is
// only compared: in a case, with ==, or as a key.
func comparison(around []ast.Node, e ast.Expr) bool {
	for i := len(around) - 1; i >= 0; i-- {
		switch p := around[i].(type) {
		case *ast.SelectorExpr, *ast.ParenExpr:
			e = p.(ast.Expr)
			continue
		case *ast.CallExpr:
			if len(p.Args) == 1 && p.Args[0] == e { // a conversion
				e = p
				continue
			}
			return false
		case *ast.CaseClause:
			for _, c := range p.List {
				if c == e {
					return true
				}
			}
			return false
		case *ast.BinaryExpr:
			return p.Op == token.EQL || p.Op == token.NEQ
		case *ast.KeyValueExpr:
			return p.Key == e
		default:
			return false
		}
	}
	return false
}

// codes finds error codes that nothing raises.
func (s *source) codes(t testing.TB) (list []orphan) {
	raised := s.raised(func(pkg string) bool { return pkg != "protocol" }).values
	inProtocol := map[types.Object]bool{} // errors that protocol itself raises
	s.each(func(u *unit, n ast.Node, around []ast.Node) {
		if id, ok := n.(*ast.Ident); ok && u.path == "protocol" && s.file(n) != "protocol/errortable.go" && !comparison(around, id) {
			inProtocol[s.info.Uses[id]] = true
		}
	})
	var extension strings.Builder
	for _, text := range s.files(t, []string{"extension/src/copilot", "extension/src/daemon"}, ".ts") {
		extension.WriteString(text)
	}
	for name, c := range s.constants("protocol", "ErrorCode") {
		value := strings.Trim(c.Val().String(), `"`)
		if raised[value] || inProtocol[c] || strings.Contains(extension.String(), "'"+value+"'") {
			continue
		}
		list = append(list, orphan{"error code", value, "place that raises it: use protocol." + name + " or csm." + name + " where it happens"})
	}
	return list
}

// localized finds strings of the extension without a user or a translation, and uses
// of undefined strings.
func (s *source) localized(t testing.TB) (list []orphan) {
	sources := s.files(t, extensionDirs, ".ts")
	literals := map[string]bool{}
	for _, text := range sources {
		for _, l := range literalsOf(text) {
			literals[l] = true
		}
	}
	bundles := map[string]map[string]string{}
	for _, lang := range []string{"de", "ja"} {
		bundles[lang] = s.object(t, "extension/l10n/bundle.l10n."+lang+".json")
		for key, value := range bundles[lang] {
			if !literals[key] {
				list = append(list, orphan{"string", quote(key), "user: no source of the extension uses it, but extension/l10n/bundle.l10n." + lang + ".json translates it"})
			}
			if value == "" {
				list = append(list, orphan{"string", quote(key), "translation into " + lang})
			}
		}
	}
	for _, text := range sources {
		for _, said := range translated(text) {
			for lang, bundle := range bundles {
				if bundle[said] == "" {
					list = append(list, orphan{"string", quote(said), "translation into " + lang + ": add it to extension/l10n/bundle.l10n." + lang + ".json"})
				}
			}
		}
	}
	return append(list, s.manifest(t)...)
}

func quote(s string) string { return `"` + s + `"` }

// manifest finds strings of package.json that are missing in a language, and strings
// that it does not use.
func (s *source) manifest(t testing.TB) (list []orphan) {
	text, err := s.read("extension/package.json")
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, m := range regexp.MustCompile(`"%([^"%]+)%"`).FindAllStringSubmatch(string(text), -1) {
		used[m[1]] = true
	}
	for _, name := range []string{"package.nls.json", "package.nls.de.json", "package.nls.ja.json"} {
		have := s.object(t, "extension/"+name)
		for key := range used {
			if have[key] == "" {
				list = append(list, orphan{"string", key, "text in extension/" + name})
			}
		}
		for key := range have {
			if !used[key] {
				list = append(list, orphan{"string", key, "user: extension/package.json does not use it, but extension/" + name + " has it"})
			}
		}
	}
	return list
}

// object reads a JSON object of strings.
func (s *source) object(t testing.TB, name string) map[string]string {
	t.Helper()
	text, err := s.read(name)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return out
}

var literal = regexp.MustCompile(`'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"`)

// literalsOf returns the quoted strings of a source.
func literalsOf(text string) (out []string) {
	for _, m := range literal.FindAllStringSubmatch(text, -1) {
		out = append(out, unescape(m[1]+m[2]))
	}
	return out
}

var says = regexp.MustCompile(`\b(?:t|l10n\.t)\(\s*(?:'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)")`)

// translated returns the strings that a source passes to t().
func translated(text string) (out []string) {
	for _, m := range says.FindAllStringSubmatch(text, -1) {
		out = append(out, unescape(m[1]+m[2]))
	}
	return out
}

func unescape(s string) string {
	return strings.NewReplacer(`\'`, `'`, `\"`, `"`, `\n`, "\n", `\\`, `\`).Replace(s)
}

// parameters finds members of the client's requests that the daemon does not read.
// Package copilot/editor parses the assistant's messages with its own types.
func (s *source) parameters() (list []orphan) {
	read := map[types.Object]bool{}
	s.each(func(u *unit, n ast.Node, around []ast.Node) {
		sel, ok := n.(*ast.SelectorExpr)
		if ok && !strings.HasPrefix(u.path, "protocol/") && s.runs(around) && !assigned(around, sel) {
			read[s.info.Uses[sel.Sel]] = true
		}
	})
	for _, m := range s.messages() {
		if m.params == nil || strings.HasPrefix(m.name, "copilot/") {
			continue
		}
		s.fields(m.params, func(where string, f *types.Var) {
			if _, free := f.Type().Underlying().(*types.Map); !free && !read[f] {
				list = append(list, orphan{"parameter", m.name + " " + where, "reader: use it in the handler in internal/daemon/rpc, or remove it from the message"})
			}
		})
	}
	return list
}

// assigned reports whether a selector is on the left of an assignment.
func assigned(around []ast.Node, e ast.Expr) bool {
	a, ok := around[len(around)-1].(*ast.AssignStmt)
	return ok && slices.Contains(a.Lhs, e)
}

// fields visits the fields of a message, and of the structs in it that protocol
// declares.
func (s *source) fields(t types.Type, visit func(where string, f *types.Var)) {
	seen := map[types.Type]bool{}
	var walk func(t types.Type, where string)
	walk = func(t types.Type, where string) {
		switch u := t.(type) {
		case *types.Pointer:
			walk(u.Elem(), where)
			return
		case *types.Slice:
			walk(u.Elem(), where)
			return
		case *types.Named:
			if u.Obj().Name() == "List" && u.TypeArgs().Len() == 1 {
				walk(u.TypeArgs().At(0), where)
				return
			}
			if u.Obj().Pkg() == nil || u.Obj().Pkg().Path() != module+"/protocol" || seen[u] {
				return
			}
			seen[u] = true
		}
		st, ok := t.Underlying().(*types.Struct)
		if !ok {
			return
		}
		for i := range st.NumFields() {
			f := st.Field(i)
			if !f.Exported() || f.Embedded() {
				continue
			}
			visit(where+f.Name(), f)
			walk(f.Type(), where+f.Name()+".")
		}
	}
	walk(t, "")
}
