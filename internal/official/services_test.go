package official

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var (
	shutdown = regexp.MustCompile(`shutdown date: (\d{4}-\d{2}-\d{2})`)
	dated    = regexp.MustCompile(`-\d{4}-\d{2}-\d{2}$`)
)

// announced returns the models that the library names, with the announced day of their end or "". A model has
// several constants, not all of which say it.
func announced(t *testing.T) map[string]string {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/openai/openai-go/v3").Output()
	if err != nil {
		t.Fatal(err)
	}
	ends := map[string]string{}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "*.go"))
	more, err2 := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "*", "*.go"))
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	for _, path := range append(files, more...) {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			group, ok := d.(*ast.GenDecl)
			if !ok || group.Tok != token.CONST {
				continue
			}
			for _, spec := range group.Specs {
				v := spec.(*ast.ValueSpec)
				for _, value := range v.Values {
					lit, ok := value.(*ast.BasicLit)
					if !ok || lit.Kind != token.STRING {
						continue
					}
					name, _ := strconv.Unquote(lit.Value)
					if day := shutdown.FindStringSubmatch(v.Doc.Text()); day != nil {
						ends[name] = day[1]
					} else if ends[name] == "" {
						ends[name] = ""
					}
				}
			}
		}
	}
	return ends
}

// TestShutdownDates: the table of models has the end that the library announces of each of its models.
func TestShutdownDates(t *testing.T) {
	data, err := os.ReadFile("../services/models.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct{ Model, Ends string }
	if err := json.Unmarshal(data, &rows); err != nil {
		t.Fatal(err)
	}
	table := map[string]string{}
	for _, r := range rows {
		table[r.Model] = r.Ends
	}
	for name, ends := range announced(t) {
		row := name
		if _, exact := table[name]; !exact && ends != "" { // as services.Of finds it
			row = dated.ReplaceAllString(name, "")
		}
		if ours, known := table[row]; known && ours != ends {
			t.Errorf("%s ends on %q by the table, %q by the library", name, ours, ends)
		}
	}
}
