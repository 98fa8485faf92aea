package mutants

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// mutant is one fault, with its data for the report.
type mutant struct {
	Name    string   `json:"name"`
	Breaks  []string `json:"breaks,omitempty"` // region, invariants and requirements that it violates
	File    string   `json:"file"`
	Func    string   `json:"func,omitempty"` // of an automatic one: function,
	Op      string   `json:"op,omitempty"`   // operation,
	Snippet string   `json:"snippet"`        // and mutated code
	Class   string   `json:"class"`          // seeded, guard, deadline, effect, state or row

	line             int    // line in the list, for errors
	kind             string // expr, stmt or delete
	original, faulty string
}

// seededName matches valid names of handwritten mutants.
var seededName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// parseSeeded parses the list of handwritten mutants. A block is
//
//	mutant NAME
//	breaks REGION, INVARIANT, REQUIREMENT...
//	file   PATH
//	kind   expr | stmt | delete
//	--- original
//	TEXT
//	--- mutated
//	TEXT
//	---
//
// where the original must occur exactly once in the file, ignoring surrounding
// whitespace. An expr is a whole expression; a stmt is one or more whole statements,
// and so is a delete, which has no mutated text. Lines between blocks that start with
// # are comments.
func parseSeeded(path, text string) ([]mutant, error) {
	var out []mutant
	var m *mutant
	var part *string
	for i, line := range strings.Split(text, "\n") {
		fail := func(format string, args ...any) error {
			return fmt.Errorf("%s:%d: %s", path, i+1, fmt.Sprintf(format, args...))
		}
		key, value, _ := strings.Cut(line, " ")
		value = strings.TrimSpace(value)
		switch {
		case m != nil && line == "--- original":
			part = &m.original
		case m != nil && line == "--- mutated":
			part = &m.faulty
		case m != nil && line == "---":
			if err := m.complete(); err != nil {
				return nil, fail("mutant %s: %v", m.Name, err)
			}
			out, m, part = append(out, *m), nil, nil
		case part != nil:
			*part += line + "\n"
		case strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#"):
		case key == "mutant":
			if !seededName.MatchString(value) || strings.HasPrefix(value, "auto-") {
				return nil, fail("invalid mutant name %q; use lower-case letters and hyphens, without the prefix auto-", value)
			}
			if slices.ContainsFunc(out, func(o mutant) bool { return o.Name == value }) {
				return nil, fail("duplicate mutant %s", value)
			}
			m = &mutant{Name: value, Class: "seeded", line: i + 1}
		case m != nil && key == "breaks":
			for _, b := range strings.Split(value, ",") {
				m.Breaks = append(m.Breaks, strings.TrimSpace(b))
			}
		case m != nil && key == "file":
			m.File = value
		case m != nil && key == "kind":
			m.kind = value
		default:
			return nil, fail("unexpected line %q; see the head of the file", line)
		}
	}
	if m != nil {
		return nil, fmt.Errorf("%s:%d: mutant %s has no final line ---", path, m.line, m.Name)
	}
	return out, nil
}

func (m *mutant) complete() error {
	m.original, m.faulty = strings.TrimSpace(m.original), strings.TrimSpace(m.faulty)
	m.Snippet = strings.Join(strings.Fields(m.original), " ")
	switch {
	case m.File == "" || len(m.Breaks) == 0 || m.original == "":
		return fmt.Errorf("file, breaks or original missing")
	case m.kind != "expr" && m.kind != "stmt" && m.kind != "delete":
		return fmt.Errorf("unknown kind %q; use expr, stmt or delete", m.kind)
	case (m.kind == "delete") != (m.faulty == ""):
		return fmt.Errorf("a delete must not have a mutated text, and every other kind must")
	}
	return nil
}

// declares reports whether a text is one statement that declares a name.
func declares(text string) bool {
	f, err := parser.ParseFile(token.NewFileSet(), "", "package p\nfunc _() {\n"+text+"\n}", 0)
	if err != nil {
		return false
	}
	body := f.Decls[0].(*ast.FuncDecl).Body.List
	if len(body) != 1 {
		return false
	}
	assign, ok := body[0].(*ast.AssignStmt)
	return ok && assign.Tok == token.DEFINE
}

// seededEdit converts a mutant of the list to an edit of its file.
func seededEdit(t *tree, m mutant, number int) (*source, edit, error) {
	s, ok := t.file(m.File)
	if !ok {
		return nil, edit{}, fmt.Errorf("mutant %s: %s is not a file with mutants", m.Name, m.File)
	}
	switch n := bytes.Count(s.text, []byte(m.original)); n {
	case 1:
	case 0:
		return nil, edit{}, fmt.Errorf("mutant %s: its original is no longer in %s; find the changed code there, and correct the list:\n%s", m.Name, m.File, m.original)
	default:
		return nil, edit{}, fmt.Errorf("mutant %s: its original occurs %d times in %s; include more context:\n%s", m.Name, n, m.File, m.original)
	}
	e := edit{from: bytes.Index(s.text, []byte(m.original)), by: m.Name}
	e.to = e.from + len(m.original)
	on := "mutant.On(" + strconv.Itoa(number) + ")"
	switch m.kind {
	case "delete":
		e.before, e.after = "if !"+on+" { ", " }"
	case "stmt":
		if declares(m.original) {
			return nil, edit{}, fmt.Errorf("mutant %s: its original declares a name for what follows it; use a statement that uses the name:\n%s", m.Name, m.original)
		}
		e.before, e.after = "if "+on+" { "+oneLine(m.faulty)+" } else { ", " }"
	default:
		typ, ok := s.typeAt(e.from, e.to)
		if !ok {
			return nil, edit{}, fmt.Errorf("mutant %s: its original is not a whole expression; use one, or kind stmt:\n%s", m.Name, m.original)
		}
		if typ == "bool" {
			e.before, e.after = "("+on+" && ("+oneLine(m.faulty)+") || !"+on+" && (", "))"
			break
		}
		if s.names(typ) {
			typ = "[" + typ + "]"
		} else {
			typ = "" // inferred from both expressions
		}
		e.before, e.after = "mutant.Choose"+typ+"("+on+", "+oneLine(m.faulty)+", ", ")"
	}
	return s, e, nil
}

// typeAt returns the type of the expression that covers the range, as text.
func (s *source) typeAt(from, to int) (text string, ok bool) {
	ast.Inspect(s.ast, func(n ast.Node) bool {
		x, is := n.(ast.Expr)
		if is && !ok && s.offset(x.Pos()) == from && s.offset(x.End()) == to {
			if tv, known := s.pkg.info.Types[x]; known && !tv.IsVoid() {
				text, ok = s.pkg.typeText(types.Default(tv.Type)), true
			}
		}
		return !ok
	})
	return text, ok
}

// qualified matches a name of another package.
var qualified = regexp.MustCompile(`\b(\w+)\.\w`)

// names reports whether a type can be written in the source, which must import all
// packages that the type refers to.
func (s *source) names(typ string) bool {
	for _, m := range qualified.FindAllStringSubmatch(typ, -1) {
		if !slices.ContainsFunc(s.ast.Imports, func(i *ast.ImportSpec) bool {
			as, err := strconv.Unquote(i.Path.Value)
			if i.Name != nil {
				as = i.Name.Name
			}
			return err == nil && path.Base(as) == m[1]
		}) {
			return false
		}
	}
	return true
}

// oneLine joins statements on one line, so that later lines keep their numbers.
func oneLine(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimSpace(l)
	}
	joined := strings.Join(lines, "; ")
	return strings.NewReplacer("{; ", "{ ", "(; ", "( ", ",; ", ", ").Replace(joined)
}
