package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// pure packages are functions of their arguments: the same journal gives the
// same states on any machine.
var pure = []string{"csm", "csm/connection", "csm/turn", "csm/speech", "csm/history", "csm/hold", "csm/statechart", "session", "copilot", "copilot/spoken", "audio/localrealtime/machine", "audio/turns"}

// bannedImports lists packages that a pure package must not import, with the reason.
var bannedImports = map[string]string{
	"os":           "the result would depend on the machine",
	"os/exec":      "the result would depend on the machine",
	"io/fs":        "the result would depend on the machine",
	"syscall":      "the result would depend on the machine",
	"runtime":      "the result would depend on the machine",
	"net":          "I/O is a side effect; return an effect instead",
	"net/http":     "I/O is a side effect; return an effect instead",
	"log":          "I/O is a side effect; return an effect instead",
	"log/slog":     "I/O is a side effect; return an effect instead",
	"sync":         "one goroutine owns the state; a lock hides a second owner",
	"sync/atomic":  "one goroutine owns the state; an atomic hides a second owner",
	"math/rand":    "a replay would diverge; randomness comes in with the event",
	"math/rand/v2": "a replay would diverge; randomness comes in with the event",
	"crypto/rand":  "a replay would diverge; randomness comes in with the event",
	"unsafe":       "states are immutable, and unsafe can write to them",
	"reflect":      "states are closed sums; the linter checks a switch over them, but not reflection",
}

// bannedCalls lists banned functions of packages that are allowed otherwise.
var bannedCalls = map[string][]string{
	"time": {"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"},
	"fmt":  {"Print", "Printf", "Println", "Scan", "Scanf", "Scanln"},
}

func TestPurePackagesArePure(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range tree(t) {
		if f.isTest || !slices.Contains(pure, f.pkg()) {
			continue
		}
		seen[f.pkg()] = true
		for _, b := range breaches(f) {
			t.Error(b)
		}
	}
	for _, p := range pure {
		if !seen[p] {
			t.Errorf("package %s does not exist; correct the list", p)
		}
	}
}

// breaches lists the breaches in a file of a pure package.
func breaches(f source) []string {
	var out []string
	for _, p := range f.imports() {
		if why, banned := bannedImports[p]; banned {
			out = append(out, f.path+" imports "+p+": "+why)
		}
	}
	names := importNames(f)
	ast.Inspect(f.ast, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			out = append(out, f.at(n.Pos())+" starts a goroutine: the result would depend on the scheduler")
		case *ast.SelectStmt, *ast.SendStmt, *ast.ChanType:
			out = append(out, f.at(n.Pos())+" uses a channel: the result would depend on the scheduler")
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				out = append(out, f.at(n.Pos())+" receives from a channel: the result would depend on the scheduler")
			}
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && slices.Contains(bannedCalls[names[x.Name]], n.Sel.Name) {
				out = append(out, f.at(n.Pos())+" uses "+names[x.Name]+"."+n.Sel.Name+": time and text enter and leave as events and effects")
			}
		}
		return true
	})
	return out
}

// importNames maps a file's package names to their paths.
func importNames(f source) map[string]string {
	out := map[string]string{}
	for i, p := range f.imports() {
		name := p[strings.LastIndex(p, "/")+1:]
		if n := f.ast.Imports[i].Name; n != nil {
			name = n.Name
		}
		out[name] = p
	}
	return out
}

// The law must find known breaches.
func TestBreachesAreFound(t *testing.T) {
	const text = `package csm

import (
	"fmt"
	clock "time"
	"sync"
)

func bad(c chan int) {
	go fmt.Println(clock.Now())
	c <- 1
	<-c
	select {}
}

var d = clock.Second
var m sync.Mutex
`
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "bad.go", text, 0)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(breaches(source{path: "bad.go", ast: file, fset: fset}), "\n")
	for _, want := range []string{
		"bad.go imports sync", "bad.go:9 uses a channel", "bad.go:10 starts a goroutine", "bad.go:10 uses fmt.Println", "bad.go:10 uses time.Now",
		"bad.go:11 uses a channel", "bad.go:12 receives", "bad.go:13 uses a channel",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("not found: %s; found:\n%s", want, got)
		}
	}
	if strings.Contains(got, "Second") {
		t.Errorf("a duration counts as a clock:\n%s", got)
	}
}
