package requirements

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// withSwitches writes an overlay that extends the core's with the mutants outside of
// the core. Each of them is a copy of the function that it changes, and the original
// calls that copy if its mutant is selected, so that one build serves all of them. The
// mutants in alone cannot be such copies: they change more or other code, or a function
// that recovers from a panic, is generic or is an init.
func (b *bench) withSwitches(core string, w *world) (overlay string, alone map[string]around, err error) {
	alone = map[string]around{}
	replaced := struct{ Replace map[string]string }{map[string]string{}}
	if core != "" {
		text, err := os.ReadFile(core)
		if err != nil {
			return "", nil, err
		}
		if err := json.Unmarshal(text, &replaced); err != nil {
			return "", nil, fmt.Errorf("%s: %w", core, err)
		}
	}
	byFile := map[string][]around{}
	for _, name := range slices.Sorted(maps.Keys(w.around)) {
		m := w.around[name]
		byFile[m.file] = append(byFile[m.file], m)
	}
	out := filepath.Join(b.out, "switched")
	put := func(name, text string) error {
		to := filepath.Join(out, filepath.FromSlash(name))
		replaced.Replace[filepath.Join(b.root, filepath.FromSlash(name))] = to
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		return os.WriteFile(to, []byte(text), 0o644)
	}
	for file, mutants := range byFile {
		_, ofCore := replaced.Replace[filepath.Join(b.root, filepath.FromSlash(file))]
		var text, pkg string
		var others []around
		if ofCore {
			others = mutants
		} else if text, pkg, others, err = switched(b.root, file, mutants); err != nil {
			return "", nil, err
		}
		for _, m := range others {
			alone[m.name] = m
		}
		if len(others) == len(mutants) {
			continue
		}
		if err := put(file, text); err != nil {
			return "", nil, err
		}
		const selector = "package %s\n\nimport \"os\"\n\nvar mutantAround = os.Getenv(%q)\n"
		if err := put(path.Join(path.Dir(file), "mutant_around.go"), fmt.Sprintf(selector, pkg, aroundEnv)); err != nil {
			return "", nil, err
		}
	}
	text, err := json.MarshalIndent(replaced, "", "  ")
	if err != nil {
		return "", nil, err
	}
	overlay = filepath.Join(b.out, "switched.json")
	return overlay, alone, os.WriteFile(overlay, text, 0o644)
}

// switched returns a file with its mutants behind switches, the name of its package, and
// the mutants that cannot be copies of one function.
func switched(root, file string, mutants []around) (text, pkg string, others []around, err error) {
	whole, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
	if err != nil {
		return "", "", nil, err
	}
	original, err := parseSource(string(whole))
	if err != nil {
		return "", "", nil, fmt.Errorf("%s: %w", file, err)
	}
	copies := map[string]string{}  // of functions, by key
	cases := map[string][]string{} // the switches of the originals
	for _, m := range mutants {
		text, err := m.mutated(root)
		if err != nil {
			return "", "", nil, err
		}
		changed, err := parseSource(text)
		if err != nil {
			return "", "", nil, fmt.Errorf("mutant %s: %w", m.name, err)
		}
		key, ok := original.onlyDifference(changed)
		if !ok || !original.functions[key].copyable() {
			others = append(others, m)
			continue
		}
		f := changed.functions[key]
		as := f.decl.Name.Name + "Under" + identifier(m.name)
		copies[key] += "\n\n" + f.renamed(as)
		cases[key] = append(cases[key], fmt.Sprintf("case %q:\n%s", m.name, f.call(as)))
	}
	var out strings.Builder
	last := 0
	for _, key := range original.order {
		if f := original.functions[key]; cases[key] != nil {
			as := f.decl.Name.Name + "Unchanged"
			out.WriteString(original.text[last:f.from])
			out.WriteString(f.wrapper("switch mutantAround {\n" + strings.Join(cases[key], "\n") + "\n}\n" + f.call(as)))
			out.WriteString("\n\n" + f.renamed(as) + copies[key])
			last = f.to
		}
	}
	out.WriteString(original.text[last:])
	return out.String(), original.file.Name.Name, others, nil
}

// parsedSource is a Go file with its functions by receiver and name.
type parsedSource struct {
	text      string
	file      *ast.File
	functions map[string]function
	order     []string // their keys as they are in the file
}

// function is the text [from, to) of a function, without its comment.
type function struct {
	decl     *ast.FuncDecl
	source   string
	from, to int
}

func parseSource(text string) (*parsedSource, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	s := &parsedSource{text: text, file: file, functions: map[string]function{}}
	for _, d := range file.Decls {
		decl, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		f := function{decl: decl, source: text, from: set.Position(decl.Pos()).Offset, to: set.Position(decl.End()).Offset}
		key := decl.Name.Name
		if decl.Recv != nil {
			key = f.piece(decl.Recv.List[0].Type) + "." + key
		}
		s.functions[key] = f
		s.order = append(s.order, key)
	}
	return s, nil
}

// onlyDifference returns the function that is the only part in which a changed file
// differs, if its parameters and results are the same.
func (s *parsedSource) onlyDifference(changed *parsedSource) (key string, ok bool) {
	if !slices.Equal(s.order, changed.order) {
		return "", false
	}
	at, atChanged := 0, 0
	for _, k := range s.order {
		f, g := s.functions[k], changed.functions[k]
		if s.text[at:f.from] != changed.text[atChanged:g.from] {
			return "", false
		}
		if s.text[f.from:f.to] != changed.text[g.from:g.to] {
			if key != "" || f.piece(f.decl.Type) != g.piece(g.decl.Type) {
				return "", false
			}
			key = k
		}
		at, atChanged = f.to, g.to
	}
	return key, key != "" && s.text[at:] == changed.text[atChanged:]
}

// piece returns the text of a node. Positions are those of a file set with one file, which
// begins at 1.
func (f function) piece(n ast.Node) string { return f.source[n.Pos()-1 : n.End()-1] }

// copyable reports whether another function can call a copy of this one in its place.
func (f function) copyable() bool {
	recovers := false // which only a deferred function itself can do
	ast.Inspect(f.decl, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if ok {
			id, ok := call.Fun.(*ast.Ident)
			recovers = recovers || ok && id.Name == "recover"
		}
		return true
	})
	return !recovers && f.decl.Name.Name != "init" && f.decl.Body != nil && f.decl.Type.TypeParams == nil
}

// renamed returns the text with another name.
func (f function) renamed(name string) string {
	at := int(f.decl.Name.Pos()) - 1
	return f.source[f.from:at] + name + f.source[at+len(f.decl.Name.Name):f.to]
}

// wrapper returns a function of the same name and type with another body, in which the
// receiver is called self and the parameters p0, p1 and so on.
func (f function) wrapper(body string) string {
	var recv, results string
	if f.decl.Recv != nil {
		recv = "(self " + f.piece(f.decl.Recv.List[0].Type) + ") "
	}
	if r := f.decl.Type.Results; r != nil {
		results = " " + f.piece(r)
	}
	var params []string
	f.parameters(func(n int, typ ast.Expr) { params = append(params, fmt.Sprintf("p%d %s", n, f.piece(typ))) })
	return "func " + recv + f.decl.Name.Name + "(" + strings.Join(params, ", ") + ")" + results + " {\n" + body + "\n}"
}

// call returns the statement that calls a copy from a wrapper.
func (f function) call(name string) string {
	var args []string
	f.parameters(func(n int, typ ast.Expr) {
		arg := fmt.Sprintf("p%d", n)
		if _, ok := typ.(*ast.Ellipsis); ok {
			arg += "..."
		}
		args = append(args, arg)
	})
	call := name + "(" + strings.Join(args, ", ") + ")"
	if f.decl.Recv != nil {
		call = "self." + call
	}
	if f.decl.Type.Results != nil {
		return "return " + call
	}
	return call + "\nreturn"
}

// parameters calls do for each parameter.
func (f function) parameters(do func(n int, typ ast.Expr)) {
	n := 0
	for _, field := range f.decl.Type.Params.List {
		for range max(len(field.Names), 1) {
			do(n, field.Type)
			n++
		}
	}
}

// identifier returns the name of a mutant as part of a Go name.
func identifier(mutant string) string {
	var out strings.Builder
	for part := range strings.SplitSeq(mutant, "-") {
		out.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return out.String()
}
