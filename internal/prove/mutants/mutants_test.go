package mutants

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// sample creates a small module with a machine of two packages, and the lists of its
// mutants.
func sample(t *testing.T, seeded, equivalent string) project {
	t.Helper()
	root := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		to := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.CopyFS(filepath.Join(root, "templates"), os.DirFS("testdata/sample")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"go.mod", "csm/csm.go", "csm/csm_test.go", "csm/select_test.go", "door/door.go", "door/door_test.go"} {
		put(name, read(t, filepath.Join(root, "templates", name+".txt")))
	}
	for _, name := range []string{"doc.go", "off.go", "on.go", "names.go"} {
		put("internal/mutant/"+name, read(t, filepath.Join("..", "..", "mutant", name)))
	}
	put("seeded.txt", seeded)
	put("equivalent.txt", equivalent)
	return project{
		name: "sample", root: root, packages: []string{"csm", "door"},
		detectors: []detector{{Name: "region", pkg: own}, {Name: "core", pkg: "csm", skip: "^TestAny"}},
		copied:    []string{"csm", "door", "go.mod"}, limit: time.Second, factor: 20, seeded: "seeded.txt", equivalent: "equivalent.txt",
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// block returns a mutant of the list.
func block(name, file, kind, original, mutated string) string {
	out := fmt.Sprintf("mutant %s\nbreaks lamp, 1\nfile %s\nkind %s\n--- original\n%s\n", name, file, kind, original)
	if mutated != "" {
		out += "--- mutated\n" + mutated + "\n"
	}
	return out + "---\n"
}

var lamp = block("lamp-never-lit", "csm/csm.go", "expr", "and(pressed, awake)", `and(pressed, Guard{"never", func(*run) bool { return false }})`) +
	block("door-ignores-the-guard", "door/door.go", "delete", "if allowed[d]&(1<<in) == 0 {\n\t\treturn d, false\n\t}", "") +
	block("door-waits-for-ever", "door/door.go", "expr", "!bool(d) && n < 3", "!bool(d)") +
	block("lamp-burns-longer", "csm/csm.go", "stmt", "return time.Second", "return time.Minute")

// mutants runs the tool on a project, and returns its output and its report.
func mutants(t *testing.T, p project, args ...string) (string, []result, error) {
	t.Helper()
	out := filepath.Join(p.root, "out")
	var printed strings.Builder
	err := command([]project{p}, append([]string{args[0], "-out", out}, args[1:]...), &printed)
	var results []result
	if text, readErr := os.ReadFile(filepath.Join(out, "report.json")); readErr == nil {
		if err := json.Unmarshal(text, &results); err != nil {
			t.Fatal(err)
		}
	}
	return printed.String(), results, err
}

// Mutants of the list: each is caught by the test about it, including one that causes
// an endless loop.
func TestMutantsOfTheListAreCaught(t *testing.T) {
	p := sample(t, lamp, "")
	printed, results, err := mutants(t, p, "run")
	if err != nil {
		t.Fatalf("%v\n%s", err, printed)
	}
	if !strings.Contains(printed, "mutants of the list: 4/4 caught (region 2, core 2)") {
		t.Errorf("the summary is\n%s", printed)
	}
	for _, r := range results {
		want := "TestNext"
		if r.File == "csm/csm.go" {
			want = "TestLampGoesOnAndOff"
		}
		if !r.Caught || r.Test != want {
			t.Errorf("%s: caught %v by %q, want %s", r.Name, r.Caught, r.Test, want)
		}
	}
	if _, err := os.Stat(filepath.Join(p.root, "csm", "mutant_rows.go")); err == nil {
		t.Error("the tool changed the sources")
	}
}

// Every fault and every excuse of the tree's lists still names code that is there.
func TestListsMatchTheSources(t *testing.T) {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	root, err := moduleRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []project{core(root), handlers(root)} {
		if _, err := prepare(p, options{out: t.TempDir()}); err != nil {
			t.Errorf("%s: %v", p.name, err)
		}
	}
}

// A mutant may be selected after the table was built, as the daemon's command does.
func TestSelectionAtRunTime(t *testing.T) {
	p := sample(t, lamp, "")
	p.detectors = []detector{{Name: "core", pkg: "csm", run: "^TestAny"}}
	printed, results, err := mutants(t, p, "run", "-only", "lamp-burns-longer")
	if !errors.Is(err, errSurvivors) { // the baseline must pass; the test replaces the mutant itself
		t.Fatalf("%v\n%s", err, printed)
	}
	if len(results) != 1 || results[0].Caught || !strings.Contains(printed, "SURVIVED lamp-burns-longer | lamp, 1\n") {
		t.Errorf("%+v\n%s", results, printed)
	}
}

// Automatic mutants: all that change something are caught; those that the tests do
// not check survive, and may be excused with a reason.
func TestAutomaticMutants(t *testing.T) {
	p := sample(t, "", "")
	printed, results, err := mutants(t, p, "run", "-all", "-seed", "3")
	if !errors.Is(err, errSurvivors) {
		t.Fatalf("%v\n%s", err, printed)
	}
	fate := map[string]bool{}
	excused := ""
	for _, r := range results {
		fate[r.Func+" | "+r.Op+" | "+r.Snippet] = r.Caught
		if !r.Caught {
			excused += r.entry() + "\n    the tests of this sample do not check it\n"
		}
	}
	for key, caught := range map[string]bool{
		"rows | row gone | {Lit, Guard{}, Dark, nil}":          true,
		"rows | part always holds | pressed":                   true,
		"rows | part always holds | awake":                     false, // always true
		"awake | other way | return true":                      true,
		"hold | never holds | presses > 1":                     false, // never pressed twice
		"hold | no time | return time.Second":                  true,
		"allowed | bit gone | 1<<Close of true":                true,
		"allowed | bit gone | 1<<Open of true":                 false, // an open door is never opened
		"Next | nothing changes | return false, true":          true,
		"Wait | part gone | n < 3":                             true, // endless loop
		"Wait | left out | n++":                                true,
		"Wait | loop not entered | !bool(d) && n < 3":          true,
		"Step | always holds | row.do != nil":                  true, // a crash
		"rows | left out | r.for_ = hold(r.pressed)":           true,
		"Step | part gone | row.Guard.Holds != nil":            true,
		"Next | always holds | allowed[d]&(1<<in) == 0":        true,
		"and | always false | return a.Holds(r) && b.Holds(r)": true,
		"and | part gone | a.Holds(r)":                         true,
		"pressed | always true | return r.pressed > 0":         true,
		"rows | row gone | {Dark, and(pressed, awake), Lit, func(r *run) { r.for_ = hold(r.pressed) }}": true,
	} {
		if got, ok := fate[key]; !ok || got != caught {
			t.Errorf("%s: there %v, caught %v, want %v", key, ok, got, caught)
		}
	}
	if err := os.WriteFile(filepath.Join(p.root, p.equivalent), []byte(excused), 0o644); err != nil {
		t.Fatal(err)
	}
	printed, again, err := mutants(t, p, "run", "-all", "-seed", "3")
	if err != nil || len(again) != len(results) || !strings.Contains(printed, " equivalent\n") {
		t.Errorf("with all survivors excused: %v, %d results\n%s", err, len(again), printed)
	}
	caught := results[slices.IndexFunc(results, func(r result) bool { return r.Caught })]
	if err := os.WriteFile(filepath.Join(p.root, p.equivalent), []byte(excused+caught.entry()+"\n    wrong\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if printed, _, err = mutants(t, p, "run", "-all", "-seed", "3"); !errors.Is(err, errSurvivors) || !strings.Contains(printed, "CAUGHT, so it is not equivalent") {
		t.Errorf("an excuse for a caught mutant: %v\n%s", err, printed)
	}
}

// Handlers have kinds of mutants that the core does not have: growing delays, limits,
// errors and sends.
func TestMutantsOfHandlers(t *testing.T) {
	p := sample(t, "", "")
	p.handlers, p.packages = true, []string{"csm", "door"}
	text := `package door

import (
	"errors"
	"time"
)

const (
	pause     = 250 * time.Millisecond
	maxKnocks = 4
)

func wait(attempt int) time.Duration { return max(0, pause<<(attempt-1)) }

func knock(n int, told chan<- int) error {
	var heard [maxKnocks]bool
	if n > maxKnocks || n >= len(heard)+1 {
		return errors.New("too often")
	}
	told <- n
	return nil
}
`
	if err := os.WriteFile(filepath.Join(p.root, "door", "knock.go"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	printed, _, err := mutants(t, p, "list", "-all", "-in", "door")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"deadline  door/knock.go | wait | does not grow | pause<<(attempt-1)",
		"deadline  door/knock.go | wait | none | pause", "deadline  door/knock.go | wait | ten times | pause",
		"bound  door/knock.go | knock | none | maxKnocks", "bound  door/knock.go | knock | ten times | maxKnocks",
		`error  door/knock.go | knock | no error | return errors.New("too often")`,
		"effect  door/knock.go | knock | left out | told <- n",
	} {
		if strings.Count(printed, want+"\n") != 1 {
			t.Errorf("no %q in\n%s", want, printed)
		}
	}
	if strings.Contains(printed, "csm/") {
		t.Errorf("mutants of other packages are listed\n%s", printed)
	}
	if _, err := goTool(p.root, "vet", "-tags", mutantsTags, "-overlay", filepath.Join(p.root, "out", "overlay.json"), "./door"); err != nil {
		t.Error(err)
	}
	if _, _, err := mutants(t, p, "list", "-in", "cellar"); err == nil || !strings.Contains(err.Error(), `"cellar" has no mutants`) {
		t.Errorf("an unknown package: %v", err)
	}
}

// The sample depends only on the seed, and a mutant that goes leaves the others in it.
func TestSampleFollowsTheSeed(t *testing.T) {
	p, err := prepare(sample(t, lamp, ""), options{out: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	names := func(seed uint64) []string {
		list, err := p.chosen(options{auto: true, count: 5, seed: seed})
		if err != nil || len(list) != 4+5 {
			t.Fatalf("%d mutants: %v", len(list), err)
		}
		var out []string
		for _, m := range list[4:] {
			out = append(out, m.Name)
		}
		return out
	}
	once := names(1)
	if !slices.Equal(once, names(1)) || slices.Equal(once, names(2)) {
		t.Errorf("seed 1: %s\nagain:  %s\nseed 2: %s", once, names(1), names(2))
	}
	p.overlay.Mutants = slices.DeleteFunc(p.overlay.Mutants, func(m mutant) bool { return m.Name == once[2] })
	if got := names(1); !slices.Equal(got[:4], slices.Delete(once, 2, 3)) {
		t.Errorf("without the third of the sample: %s", got)
	}
}

// Errors in a list name the mutant.
func TestInvalidLists(t *testing.T) {
	for _, c := range []struct{ name, seeded, equivalent, want string }{
		{"not there", block("gone", "door/door.go", "expr", "d == 7", "d == 8"), "", "mutant gone: its original is no longer in door/door.go"},
		{"two places", block("two", "csm/csm.go", "expr", "r.pressed", "0"), "", "mutant two: its original occurs 2 times in csm/csm.go"},
		{"no file", block("lost", "csm/none.go", "expr", "x", "y"), "", "mutant lost: csm/none.go is not a file with mutants"},
		{"half an expression", block("half", "door/door.go", "expr", "bool(d) && n", "n"), "", "mutant half: its original is not a whole expression"},
		{"a declaration", block("named", "door/door.go", "stmt", "n := 0", "n := 1"), "", "mutant named: its original declares a name"},
		{"cut", lamp + block("cut", "csm/csm.go", "stmt", "presses > 1 {\n\t\treturn time.Minute\n\t}\n\treturn", "x"), "", "mutant lamp-burns-longer starts inside mutant cut"},
		{"no text", block("empty", "csm/csm.go", "expr", "presses > 1", ""), "", "seeded.txt:7: mutant empty: a delete must not have a mutated text"},
		{"no kind", block("odd", "csm/csm.go", "line", "presses > 1", "true"), "", "mutant odd: unknown kind \"line\""},
		{"same name", lamp + lamp, "", "duplicate mutant lamp-never-lit"},
		{"reserved name", block("auto-1", "csm/csm.go", "expr", "presses > 1", "true"), "", "invalid mutant name"},
		{"open end", strings.TrimSuffix(lamp, "---\n"), "", "lamp-burns-longer has no final line"},
		{"excuse for nothing", "", "csm/csm.go | hold | never holds | presses > 7\n    reason\n", "equivalent.txt:1: no such mutant"},
		{"no reason", "", "csm/csm.go | hold | never holds | presses > 1\n", "equivalent.txt:1: no reason"},
		{"no entry", "", "hold\n    reason\n", "equivalent.txt:1: \"hold\" is not FILE"},
	} {
		_, _, err := mutants(t, sample(t, c.seeded, c.equivalent), "generate")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// Detectors that fail without a mutant prove nothing.
func TestBaselineMustPass(t *testing.T) {
	p := sample(t, lamp, "")
	test := filepath.Join(p.root, "door", "door_test.go")
	if err := os.WriteFile(test, []byte(strings.Replace(read(t, test), "!= 3", "!= 4", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := mutants(t, p, "run"); err == nil || !strings.Contains(err.Error(), "the tests of door fail without a mutant: TestNext") {
		t.Errorf("the error is %v", err)
	}
}

// Edits nest, with the longer one outside.
func TestEditsNest(t *testing.T) {
	got, err := apply([]byte("a && b"), []edit{{0, 1, "(", ")", "x"}, {0, 6, "[", "]", "y"}, {5, 6, "<", ">", "z"}, {5, 6, "{", "}", "w"}})
	if want := "[(a) && <{b}>]"; err != nil || string(got) != want {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
	if _, err := apply([]byte("a && b"), []edit{{0, 4, "", "", "x"}, {2, 6, "", "", "y"}}); err == nil || !strings.Contains(err.Error(), "mutant y starts inside mutant x") {
		t.Errorf("overlapping edits: %v", err)
	}
}
