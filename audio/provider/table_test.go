package provider

import (
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every row is usable: it has a unique name, each wire at most once, models unless
// deployments name them, and a speed range that includes the normal speed.
func TestRowsAreComplete(t *testing.T) {
	names := map[string]bool{}
	for _, r := range Rows {
		if names[r.Name] || r.Name == "" || !strings.HasPrefix(r.Prefix, "/") || len(r.Hearing)+len(r.Voice) == 0 {
			t.Errorf("%+v", r)
		}
		if r.Session != nil && len(r.Session.Transports) == 0 {
			t.Errorf("nothing carries a session with %s", r.Name)
		}
		names[r.Name] = true
		wires := map[Wire]bool{}
		for _, h := range r.Hearing {
			if wires[h.Wire] || h.Wire == Speech || h.Wire == Realtime && r.Session == nil && r.Name != Compatible {
				t.Errorf("%s hears over %s", r.Name, h.Wire)
			}
			wires[h.Wire] = true
			if found, ok := r.Hears(h.Wire); !ok || found != h {
				t.Errorf("%s over %s: %+v", r.Name, h.Wire, found)
			}
		}
		wires = map[Wire]bool{}
		for _, v := range r.Voice {
			if wires[v.Wire] || v.Wire == Transcriptions || v.Wire == Realtime && r.Session == nil || v.Slowest > 1 || v.Fastest < 1 {
				t.Errorf("%s speaks over %s: %+v", r.Name, v.Wire, v)
			}
			wires[v.Wire] = true
			if found, ok := r.Speaks(v.Wire); !ok || found != v {
				t.Errorf("%s over %s: %+v", r.Name, v.Wire, found)
			}
		}
		if found, ok := Of(r.Name); !ok || found.Name != r.Name {
			t.Errorf("%s is not found", r.Name)
		}
	}
	if _, ok := Of("skynet"); ok {
		t.Error("a provider that does not exist is found")
	}
}

func TestBaseURLs(t *testing.T) {
	for _, c := range []struct{ of, given, base, problem string }{
		{OpenAI, "", "https://api.openai.com/v1", ""},
		{OpenAI, "https://gate.example/v1/", "https://gate.example/v1", ""},
		{OpenAI, "http://127.0.0.1:8080", "http://127.0.0.1:8080/v1", ""},
		{OpenAI, "http://[::1]:8080", "http://[::1]:8080/v1", ""},
		{OpenAI, "http://localhost/base", "http://localhost/base/v1", ""},
		{OpenAI, "http://gate.example", "", "use https"},
		{Azure, "https://x.openai.azure.com", "https://x.openai.azure.com/openai/v1", ""},
		{Azure, "https://x.openai.azure.com/openai", "https://x.openai.azure.com/openai/v1", ""},
		{Azure, "https://x.openai.azure.com/openai/v1", "https://x.openai.azure.com/openai/v1", ""},
		{Azure, "", "", "not usable"},
		{Live, "https://x.openai.azure.com/openai/v1", "https://x.openai.azure.com/openai/v1", ""},
		{LocalAI, "http://nas:8080/v1", "http://nas:8080/v1", ""},
		{LocalAI, "https://u:hunter2@nas", "", "not usable"},
		{LocalAI, "https://nas?key=hunter2", "", "not usable"},
		{LocalAI, "ftp://nas", "", "not usable"},
	} {
		row, _ := Of(c.of)
		base, problem := row.Base(c.given)
		if base != c.base || (problem != "") != (c.problem != "") || !strings.Contains(problem, c.problem) || strings.Contains(problem, "hunter2") {
			t.Errorf("%s at %q: %q, %q", c.of, c.given, base, problem)
		}
	}
}

func TestKeysAreSentAsTheProviderTakesThem(t *testing.T) {
	for _, c := range []struct {
		of    string
		key   string
		token bool
		want  http.Header
	}{
		{OpenAI, "sk-1", false, http.Header{"Authorization": {"Bearer sk-1"}}},
		{Azure, "key", false, http.Header{"Api-Key": {"key"}}},
		{Azure, "entra", true, http.Header{"Authorization": {"Bearer entra"}}},
		{LocalAI, "", false, http.Header{}},
	} {
		row, _ := Of(c.of)
		h := http.Header{}
		row.Authorize(h, c.key, c.token)
		if len(h) != len(c.want) || h.Get("Authorization") != c.want.Get("Authorization") || h.Get("Api-Key") != c.want.Get("Api-Key") {
			t.Errorf("%s: %v, want %v", c.of, h, c.want)
		}
	}
}

// Differences between providers belong in the table: code that accesses them must not
// check names. The embedded server is exempt, because it is not an external provider.
func TestCodeAsksTheTableAndNotTheName(t *testing.T) {
	names := map[string]bool{"OpenAI": true, "Azure": true, "LocalAI": true, "Compatible": true}
	for _, dir := range []string{"../realtime", "../hosted", "../../internal/daemon/live"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			fset := token.NewFileSet()
			tree, err := parser.ParseFile(fset, file, source, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(tree, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.GenDecl:
					return n.Tok != token.CONST // names are declared there
				case *ast.Ident:
					if names[strings.TrimPrefix(n.Name, "Provider")] {
						t.Errorf("%s: it asks for %s; add what differs to provider.Row", fset.Position(n.Pos()), n.Name)
					}
				}
				return true
			})
		}
	}
}
