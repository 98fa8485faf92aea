package explore

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/world"
)

// regionDirs are the folders that declare the types of a state.
var regionDirs = map[string]string{
	"csm": "..", "connection": "../connection", "turn": "../turn", "speech": "../speech", "history": "../history", "copilot": "../../copilot",
}

// Each field of a state has a role and each role a field, so that a new field is never
// silently omitted from the canonical form.
func TestEveryFieldHasARole(t *testing.T) {
	types := map[string]*ast.StructType{}
	sums := map[string]bool{} // cases of closed sums
	for pkg, dir := range regionDirs {
		files, err := filepath.Glob(dir + "/*.go")
		if err != nil || len(files) == 0 {
			t.Fatalf("package %s has no source in %s: %v", pkg, dir, err)
		}
		for _, path := range files {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.TypeSpec:
					if s, ok := n.Type.(*ast.StructType); ok {
						types[pkg+"."+n.Name.Name] = s
					}
				case *ast.FuncDecl:
					if n.Recv != nil && (n.Name.Name == "parts" || n.Name.Name == "conversation") {
						sums[pkg+"."+n.Recv.List[0].Type.(*ast.Ident).Name] = true
					}
				}
				return true
			})
		}
	}
	if len(sums) < 25 {
		t.Fatalf("only %d cases of regions were found", len(sums))
	}
	seen := map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		s, ok := types[name]
		if !ok || seen[name] {
			return
		}
		seen[name] = true
		pkg := name[:strings.IndexByte(name, '.')]
		for _, f := range s.Fields.List {
			of := typeName(pkg, f.Type)
			names := f.Names
			if len(names) == 0 { // embedded
				visit(of)
				continue
			}
			for _, id := range names {
				field := name + "." + id.Name
				if r, known := roles[field]; known {
					seen[field] = true
					if r.kind == special && of != "csm.Config" && of != "csm.Faults" { // these are compared as a whole
						visit(of)
					}
					continue
				}
				if _, composite := types[of]; !composite && !strings.HasSuffix(of, ".State") && of != "csm.Conversation" {
					t.Errorf("%s (%s) has no role in roles.go; add one", field, of)
				}
				visit(of)
			}
		}
	}
	visit("csm.State")
	for name := range sums {
		visit(name)
	}
	for field := range roles {
		if !seen[field] {
			t.Errorf("roles.go has a role for %s, which is not a field of a state", field)
		}
	}
}

// typeName returns the name of an expression's type, with its package.
func typeName(pkg string, e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return pkg + "." + e.Name
	case *ast.SelectorExpr:
		return e.X.(*ast.Ident).Name + "." + e.Sel.Name
	case *ast.ArrayType:
		return typeName(pkg, e.Elt)
	case *ast.StarExpr:
		return typeName(pkg, e.X)
	default:
		return "unknown"
	}
}

// The past does not distinguish two states; the possible future does.
func TestCanonicalForm(t *testing.T) {
	w := World{Limits: world.Limits{Queue: 2, Segments: 1, Attempts: 1, Groups: world.Text}.Configured()}
	s := newSearch(&w, Options{})
	n, _ := s.root()
	do := func(n *node, events ...csm.Event) {
		t.Helper()
		for _, e := range events {
			n.Env.Now += time.Second
			found := false
			for _, m := range n.Moves(nil) {
				if m.Event == nil || csm.KindOf(m.Event) != csm.KindOf(e) {
					continue
				}
				found = true
				to := node{Env: n.Env, Limits: n.Limits}
				to.Env.Apply(m)
				var fx []csm.Effect
				to.State, fx, _ = s.step(n.State, envelope(&to, m.Event))
				if err := to.Env.Take(&to.State, fx); err != nil {
					t.Fatal(err)
				}
				*n = to
				break
			}
			if !found {
				t.Fatalf("%v cannot happen in %v", csm.KindOf(e), n.State.Phase())
			}
		}
	}
	key := func(n node) key { return s.workers[0].coder.key(&n.State, &n.Env) }
	talk := []csm.Event{csm.UserStart{}, csm.SessionReady{}, csm.AudioPrimed{}, csm.AudioReady{}, csm.ConnReady{}}
	do(&n, talk...)
	first := n
	do(&n, csm.UserText{}, csm.UserStop{}, csm.TimerFired{})
	for n.State.Phase() != csm.PhaseIdle {
		do(&n, csm.TimerFired{})
	}
	do(&n, talk...)
	if n.State.Instance == first.State.Instance {
		t.Fatal("still the first conversation")
	}
	if key(n) != key(first) {
		t.Error("a second conversation differs from the first")
	}
	for name, change := range map[string]func(*node){
		"the queue":         func(n *node) { n.State.Queue = []uint64{7} },
		"what is owed":      func(n *node) { n.Env.Owed.Add(world.Item{Rule: 1, ID: 1}) },
		"a posted event":    func(n *node) { n.Env.Posts.Add(csm.KindReset) },
		"a deadline":        func(n *node) { n.State.Timers[csm.TimerFinal].Armed = true },
		"the phase":         func(n *node) { n.State.Conv = csm.Analysing{} },
		"data of the phase": func(n *node) { n.State.Conv = csm.Faulted{Fatal: true} },
		"the configuration": func(n *node) { c := *n.State.Config; c.QueueMax++; n.State.Config = &c },
	} {
		other := first
		change(&other)
		if key(other) == key(first) {
			t.Errorf("%s is not in the canonical form", name)
		}
	}
}

func BenchmarkKey(b *testing.B) {
	w := World{Limits: world.Limits{Queue: 2, Segments: 1, Attempts: 1, Groups: world.Text}.Configured()}
	s := newSearch(&w, Options{})
	n, _ := s.root()
	c := s.workers[0].coder
	b.ReportAllocs()
	for b.Loop() {
		c.key(&n.State, &n.Env)
	}
}

// BenchmarkWorld explores a small world and reports the metrics used by CI.
func BenchmarkWorld(b *testing.B) {
	begin := time.Now()
	edges, stale := 0, 0
	for b.Loop() {
		r := Run(Options{MaxStates: enough, Worlds: small(world.Text | world.User), Workers: 2})
		edges += r.Edges
		stale += r.Stale
	}
	took := time.Since(begin).Seconds()
	b.ReportMetric(float64(edges)/took, "edges/s")
	b.ReportMetric(float64(stale)/took, "stale/s")
}
