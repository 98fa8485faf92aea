package mutants

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// buildTags are the tags of every build here; an overlay also needs the tag mutants.
const (
	buildTags   = "nolibopusfile"
	mutantsTags = buildTags + ",mutants"
)

// overlay is a build overlay with every mutant in it.
type overlay struct {
	Path    string // path of the file for go build -overlay
	Mutants []mutant
}

// generate writes the mutated files and their overlay below out.
func generate(t *tree, seeded []mutant, out string, handlers bool) (*overlay, error) {
	out, err := filepath.Abs(out)
	if err != nil {
		return nil, err
	}
	o := &overlay{Path: filepath.Join(out, "overlay.json"), Mutants: []mutant{{}}} // number 0 means no mutant
	edits := map[*source][]edit{}
	for _, m := range seeded {
		s, e, err := seededEdit(t, m, len(o.Mutants))
		if err != nil {
			return nil, err
		}
		edits[s] = append(edits[s], e)
		o.Mutants = append(o.Mutants, m)
	}
	replace := map[string]string{}
	put := func(name, text string) error {
		to := filepath.Join(out, "src", filepath.FromSlash(name))
		replace[filepath.Join(t.root, filepath.FromSlash(name))] = to
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		return os.WriteFile(to, []byte(text), 0o644)
	}
	for _, p := range t.packages {
		for _, s := range p.files {
			m := automatic(s, len(o.Mutants), handlers)
			o.Mutants = append(o.Mutants, m.mutants...)
			all := append(edits[s], m.edits...)
			if len(all) == 0 {
				continue
			}
			text, err := apply(s.text, all)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s.path, err)
			}
			whole, err := imported(s, string(text), t.module, m.rebuild, all)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s.path, err)
			}
			if err := put(s.path, whole); err != nil {
				return nil, err
			}
			if m.rows {
				if err := put(p.dir+"/mutant_rows.go", rowHelpers(p, t.module+"/internal/mutant")); err != nil {
					return nil, err
				}
			}
		}
	}
	if err := put("internal/mutant/names.go", namesFile(o.Mutants)); err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(map[string]any{"Replace": replace}, "", "  ")
	if err != nil {
		return nil, err
	}
	return o, os.WriteFile(o.Path, text, 0o644)
}

// imported adds the import on the line of the package clause, so that line numbers
// stay the same, and appends the code that reinitializes variables for another
// mutant.
func imported(s *source, text, module string, rebuild []variable, edits []edit) (string, error) {
	at := s.offset(s.ast.Name.End())
	text = text[:at] + "; import " + strconv.Quote(module+"/internal/mutant") + text[at:]
	for _, v := range rebuild {
		var inside []edit
		for _, e := range edits {
			if v.from <= e.from && e.to <= v.to {
				e.from, e.to = e.from-v.from, e.to-v.from
				inside = append(inside, e)
			}
		}
		value, err := apply(s.text[v.from:v.to], inside)
		if err != nil {
			return "", err
		}
		text += fmt.Sprintf("\nfunc init() { mutant.Rebuild(func() { %s = %s }) }\n", v.name, value)
	}
	return text + "\nvar _ = mutant.On\n", nil
}

// namesFile returns the file of package mutant with the names by number.
func namesFile(all []mutant) string {
	var out strings.Builder
	out.WriteString("package mutant\n\nvar names = []string{\n")
	for _, m := range all {
		fmt.Fprintf(&out, "\t%q,\n", m.Name)
	}
	out.WriteString("}\n")
	return out.String()
}
