package requirements

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// lockFiles are a package with mutants of functions and others, and tests that they make fail.
var lockFiles = map[string]string{
	"door/lock.go": `package door

type Lock[K comparable] struct{ keys map[K]bool }

// Fits says which keys do.
func (l *Lock[K]) Fits(_ string, keys ...K) (fit []K, any bool) {
	for _, k := range keys {
		if l.keys[k] {
			fit = append(fit, k)
		}
	}
	return fit, len(fit) > 0
}

func (l *Lock[K]) Add(key K) { l.keys[key] = true }

const bolts = 2

func Try(do func()) (failed bool) {
	defer func() { failed = recover() != nil }()
	do()
	return
}
`,
	"door/lock_test.go": `package door

import "testing"

func lock() *Lock[int] {
	l := &Lock[int]{map[int]bool{}}
	l.Add(1)
	return l
}

func TestFits(t *testing.T) {
	if fit, _ := lock().Fits("", 1, 2); len(fit) != 1 {
		t.Fatal(fit)
	}
}

func TestAny(t *testing.T) {
	if _, any := lock().Fits(""); any {
		t.Fatal("any")
	}
}

func TestAdd(t *testing.T) {
	if !lock().keys[1] {
		t.Fatal("not added")
	}
}

func TestBolts(t *testing.T) {
	if bolts != 2 {
		t.Fatal(bolts)
	}
}

func TestTry(t *testing.T) {
	if !Try(func() { panic("") }) {
		t.Fatal("no panic")
	}
}
`,
	aroundFile: `mutant all-fit
file door/lock.go
--- original
if l.keys[k] {
--- mutated
if true {
---
mutant always-any
file door/lock.go
--- original
len(fit) > 0
--- mutated
true
---
mutant never-added
file door/lock.go
kind delete
--- original
l.keys[key] = true
---
mutant three-bolts
file door/lock.go
--- original
bolts = 2
--- mutated
bolts = 3
---
mutant panics-are-fine
file door/lock.go
--- original
recover() != nil
--- mutated
recover() == nil
---
`,
	listFile: `REQ-001  The door can be locked.
    proved door:TestFits under all-fit
    proved door:TestAny under always-any
    proved door:TestAdd under never-added
    proved door:TestBolts under three-bolts
    proved door:TestTry under panics-are-fine
`,
}

// Mutants of functions share one build; what no copy of a function can be has its own.
// Each is selected by its name, so each makes its own test fail and no other.
func TestMutantsShareABuild(t *testing.T) {
	root := module(t, "")
	for name, text := range lockFiles {
		if err := os.WriteFile(filepath.Join(root, filepath.FromSlash(name)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if problems, said := problemsOf(t, root); len(problems) > 0 || !strings.Contains(said, "5 of 5 tests under 5 mutants fail as required") {
		t.Fatalf("%q, said %q", problems, said)
	}
	var built []string
	files, err := os.ReadDir(filepath.Join(root, "out", "bin"))
	for _, f := range files {
		built = append(built, f.Name())
	}
	if want := []string{"door.test", "panics-are-fine-door.test", "three-bolts-door.test"}; err != nil || !slices.Equal(built, want) {
		t.Errorf("built %q (%v), want %q", built, err, want)
	}
	list, problems := parse(listFile, "REQ-001  The door can be locked.\n    proved door:TestAny under all-fit\n    proved door:TestAdd under always-any\n")
	w, err := look(root, list)
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	if problems, err = prove(root, filepath.Join(root, "out"), 1, list, w, io.Discard); err != nil || len(problems) != 2 {
		t.Errorf("%q (%v); want two mutants that leave another's test green", problems, err)
	}
}
