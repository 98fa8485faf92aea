package archtest

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestActionsArePinned: a workflow takes each action at one commit, with its version beside it, since a tag can be
// moved to other code.
func TestActionsArePinned(t *testing.T) {
	root := filepath.Join("..", "..")
	files, err := filepath.Glob(filepath.Join(root, ".github", "workflows", "*.yml"))
	if err != nil || len(files) < 2 {
		t.Fatalf("%v %v", files, err)
	}
	pinned := regexp.MustCompile(`^\S+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)uses: +(.*)$`).FindAllStringSubmatch(string(text), -1) {
			if !pinned.MatchString(m[1]) {
				t.Errorf("%s uses %s; pin it to a commit, with its version as a comment", filepath.Base(file), m[1])
			}
		}
	}
}

// TestDependenciesAreWatched: each folder with Go modules or npm packages of its own is in the list of what is
// updated, but for the project that is a test's data.
func TestDependenciesAreWatched(t *testing.T) {
	root := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, ".github", "dependabot.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var watched []string
	for _, m := range regexp.MustCompile(`directories: \[(.*)\]`).FindAllStringSubmatch(string(text), -1) {
		watched = append(watched, strings.Split(m[1], ", ")...)
	}
	out, err := exec.Command("git", "-C", root, "ls-files", "*go.mod", "*package-lock.json").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range strings.Fields(string(out)) {
		dir, found := path.Join("/", path.Dir(file)), strings.HasPrefix(file, "testdata/")
		for _, w := range watched {
			same, err := path.Match(w, dir)
			if err != nil {
				t.Fatal(err)
			}
			found = found || same
		}
		if !found {
			t.Errorf("nothing watches the dependencies of %s; add its folder to .github/dependabot.yml", file)
		}
	}
}
