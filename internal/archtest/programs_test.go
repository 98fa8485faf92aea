package archtest

import (
	"go/ast"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// programs maps the programs that Go code of this repository runs to their Debian
// packages. Those of "" are in each Debian, or the README asks for them.
var programs = map[string]string{
	"sh": "", "tar": "", "git": "", "go": "", "make": "", "nice": "",
	"gcc": "gcc", "kill": "procps", "ps": "procps", "espeak-ng": "espeak-ng",
}

// TestProgramsAreInstalled: on a fresh machine, scripts/setup.sh installs each program
// that Go code runs, so that no test needs what only some machines have.
func TestProgramsAreInstalled(t *testing.T) {
	setup, err := os.ReadFile(filepath.Join(moduleRoot(t), "scripts", "setup.sh"))
	if err != nil {
		t.Fatal(err)
	}
	installed := strings.FieldsFunc(string(setup), func(r rune) bool { return strings.ContainsRune(" \n()", r) })
	run := map[string]bool{}
	for _, f := range tree(t) {
		ast.Inspect(f.ast, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			for _, name := range programOf(call) {
				run[name] = true
				if pkg, known := programs[name]; !known || pkg != "" && !slices.Contains(installed, pkg) {
					t.Errorf("%s: %s is a program that scripts/setup.sh does not install; add its package there, and here", f.at(call.Pos()), name)
				}
			}
			return true
		})
	}
	for name := range programs {
		if !run[name] {
			t.Errorf("nothing runs %s; remove it from the list", name)
		}
	}
}

// programOf returns the program that a call of package exec names by a literal, if any.
// Programs whose names begin with agentvoice are the repository's own.
func programOf(call *ast.CallExpr) []string {
	of, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	if pkg, ok := of.X.(*ast.Ident); !ok || pkg.Name != "exec" {
		return nil
	}
	at := map[string]int{"Command": 0, "LookPath": 0, "CommandContext": 1}
	i, ok := at[of.Sel.Name]
	if !ok || i >= len(call.Args) {
		return nil
	}
	if name, ok := call.Args[i].(*ast.BasicLit); ok {
		if s, err := strconv.Unquote(name.Value); err == nil && !strings.HasPrefix(s, "agentvoice") {
			return []string{s}
		}
	}
	return nil
}
