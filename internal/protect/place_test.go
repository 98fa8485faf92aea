package protect

import (
	"os"
	"path/filepath"
	"testing"
)

func TestFind(t *testing.T) {
	root := t.TempDir()
	folder, outside := filepath.Join(root, "project"), filepath.Join(root, "outside")
	t.Setenv("HOME", outside)
	t.Setenv("USERPROFILE", outside)
	for _, dir := range []string{filepath.Join(folder, "src"), outside} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{filepath.Join(folder, ".env"), filepath.Join(folder, "src", "a.go"), filepath.Join(outside, "key")} {
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{
		"notes.txt": ".env", "docs": outside, "new.txt": filepath.Join(outside, "not there"), "loop": "loop", "up": "..", "self": ".",
	} {
		if err := os.Symlink(to, filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]struct {
		inside, linked bool
		within         string
	}{
		"src/a.go":                        {true, false, "src/a.go"},
		filepath.Join(folder, "src/a.go"): {true, false, "src/a.go"},
		"src/../.env":                     {true, false, ".env"},
		"file://" + filepath.Join(folder, ".env"):          {true, false, ".env"},
		"file://" + filepath.Join(folder, "%2Eenv"):        {true, false, ".env"},
		"FILE://localhost" + filepath.Join(folder, ".env"): {true, false, ".env"},
		"file:" + filepath.Join(folder, "src%2F..%2F.env"): {true, false, ".env"},
		"file:src/a.go": {true, false, "src/a.go"},
		"file://" + filepath.Join(folder, "%2E%2E/outside/key"): {false, false, ""},
		"file://server/share/a.go":                              {false, false, ""},
		"file://" + filepath.Join(folder, "a.go?x"):             {false, false, ""},
		"file://" + filepath.Join(folder, "a%zz"):               {false, false, ""},
		"https://example.org/a.go":                              {false, false, ""},
		"src/new/file.go":                                       {true, false, "src/new/file.go"},
		"notes.txt":                                             {true, true, ".env"},
		"self/src/a.go":                                         {true, true, "src/a.go"},
		"docs/key":                                              {false, true, ""},
		"docs/new":                                              {false, true, ""},
		"new.txt":                                               {false, true, ""},
		"loop":                                                  {false, false, ""},
		"up/outside/key":                                        {false, true, ""},
		"../outside/key":                                        {false, false, ""},
		"~/key":                                                 {false, false, ""},
		"~":                                                     {false, false, ""},
		"~root/.bashrc":                                         {false, false, ""},
		".":                                                     {true, false, "."},
	} {
		if got := Find(folder, path); got.Inside != want.inside || got.Within != want.within || got.Linked != want.linked {
			t.Errorf("%s leads to %+v, want %+v", path, got, want)
		}
	}
}
