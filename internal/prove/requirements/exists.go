package requirements

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/csm/csmtest"
)

// world is everything that the list may name.
type world struct {
	root      string
	tests     map[string]map[string]bool // test names by package
	scenarios map[string]csmtest.Scenario
	seeded    map[string]bool   // mutants of the core
	around    map[string]around // mutants outside of the core
}

// look finds everything that the list may name. It returns an error only for I/O;
// check reports what does not exist.
func look(root string, list []requirement) (*world, error) {
	w := &world{root: root, tests: map[string]map[string]bool{}, scenarios: map[string]csmtest.Scenario{}, seeded: map[string]bool{}}
	all, err := csmtest.Scenarios(os.DirFS(filepath.Join(root, filepath.FromSlash(scenarioDir))))
	if err != nil {
		return nil, err
	}
	for _, s := range all {
		w.scenarios[s.Name] = s
	}
	if w.seeded, err = seededNames(root); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(aroundFile)))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	if w.around, err = parseAround(aroundFile, string(text)); err != nil {
		return nil, err
	}
	packages := map[string]bool{}
	for _, r := range list {
		for _, p := range r.proofs {
			packages[p.pkg] = true
		}
	}
	w.tests, err = testsOf(root, slices.Sorted(maps.Keys(packages)))
	return w, err
}

var mutantLine = regexp.MustCompile(`(?m)^mutant (\S+)$`)

func seededNames(root string) (map[string]bool, error) {
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(seededFile)))
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	for _, m := range mutantLine.FindAllSubmatch(text, -1) {
		out[string(m[1])] = true
	}
	return out, nil
}

// testsOf lists the tests of packages with `go test -list`. A package that does not
// exist has none.
func testsOf(root string, packages []string) (map[string]map[string]bool, error) {
	out := map[string]map[string]bool{}
	for _, p := range packages {
		if tests, _ := filepath.Glob(filepath.Join(root, filepath.FromSlash(p), "*_test.go")); len(tests) == 0 {
			continue
		}
		names := map[string]bool{}
		text, err := goTool(root, "test", "-vet=off", "-tags", buildTags, "-list", ".", "./"+p)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); strings.HasPrefix(line, "Test") {
				names[line] = true
			}
		}
		out[p] = names
	}
	return out, nil
}

// check reports what the list names but does not exist.
func (w *world) check(list []requirement) (problems []string) {
	for _, name := range slices.Sorted(maps.Keys(w.around)) {
		if _, err := w.around[name].mutated(w.root); err != nil {
			problems = append(problems, err.Error())
		}
	}
	ids := map[string]bool{}
	for _, r := range list {
		ids[r.id] = true
		fail := func(line int, format string, args ...any) {
			problems = append(problems, fmt.Sprintf("%s:%d: %s: %s", listFile, line, r.id, fmt.Sprintf(format, args...)))
		}
		for _, p := range r.proofs {
			if err := w.checkProof(p); err != nil {
				fail(p.line, "%v", err)
			}
			for _, name := range p.mut {
				if _, ok := w.around[name]; !ok && !w.seeded[name] {
					fail(p.line, "no mutant %s in %s or %s", name, seededFile, aroundFile)
				}
			}
		}
		for _, m := range r.also {
			text, err := os.ReadFile(filepath.Join(w.root, filepath.FromSlash(m.path)))
			if err != nil {
				fail(m.line, "%v", err)
			} else if !bytes.Contains(text, []byte(m.text)) {
				fail(m.line, "%s no longer contains %q", m.path, m.text)
			}
		}
	}
	return append(problems, w.unlisted(ids)...)
}

func (w *world) checkProof(p proof) error {
	if p.file != "" {
		if _, ok := w.scenarios[p.name]; !ok {
			return fmt.Errorf("no scenario %s in %s", p.name, scenarioDir)
		}
		return nil
	}
	top, _, _ := strings.Cut(p.test, "/")
	if !w.tests[p.pkg][top] {
		return fmt.Errorf("no test %s in %s", top, p.pkg)
	}
	return nil
}

var specID = regexp.MustCompile(`^([A-Z]{2,3}-\d{3}|000\.4\.\d+)$`)

// unlisted reports ids that scenarios prove but that the list lacks.
func (w *world) unlisted(ids map[string]bool) (problems []string) {
	for _, name := range slices.Sorted(maps.Keys(w.scenarios)) {
		s := w.scenarios[name]
		for _, id := range s.Proves {
			if specID.MatchString(id) && !ids[id] {
				problems = append(problems, fmt.Sprintf("%s/%s:%d: scenario %s proves %s, which is not in %s", scenarioDir, s.File, s.Line, s.Name, id, listFile))
			}
		}
	}
	return problems
}

// goTool runs the go command in dir. It ignores GOFLAGS.
func goTool(dir string, args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("go %s: %w\n%s%s", strings.Join(args, " "), err, errs.Bytes(), out.Bytes())
	}
	return out.String(), nil
}
