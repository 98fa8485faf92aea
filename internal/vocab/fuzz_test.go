package vocab

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzList reads the list of a workspace, and corrects words with it.
func FuzzList(f *testing.F) {
	for _, s := range []string{"- a = b\n- parseConfig\n", "* x -> y", "- \xff\xfe_name", "- name_\u202e", "no list"} {
		f.Add(s, "the function parse config")
	}
	f.Fuzz(func(t *testing.T, text, said string) {
		if len(said) > 500 || len(text) > 5000 {
			return
		}
		names, _ := ParseWorkspace(text)
		if len(names) > maxList {
			t.Fatalf("%d names", len(names))
		}
		for _, n := range names {
			if !Speakable(n.Text) || !utf8.ValidString(n.Text) || n.Kind != List || strings.ContainsAny(n.Text, "=\n\x00|;`") {
				t.Fatalf("%q is a name", n.Text)
			}
		}
		written, changes := New(names, nil).Correct(said)
		if len(changes) == 0 && written != said {
			t.Fatalf("%q became %q without a change", said, written)
		}
	})
}

// FuzzFiles reads source files and lists of dependencies.
func FuzzFiles(f *testing.F) {
	f.Add("package.json", []byte("{\n  \"a-b\": \"1\"\n}"))
	f.Add("go.mod", []byte("require example.org/a/v2 v2.0.0"))
	f.Add("Cargo.toml", []byte("[dependencies]\nserde_json = 1"))
	f.Add("requirements.txt", []byte("a_b==1"))
	f.Add("a.go", []byte("func loadTree() {}"))
	f.Fuzz(func(t *testing.T, name string, text []byte) {
		if len(text) > maxFile {
			return
		}
		c := collection{count: map[string]int{}, kind: map[string]Kind{}}
		if read := dependencies[name]; read != nil {
			for _, n := range read(text) {
				c.add(Dependency, n, 1)
			}
		}
		c.symbols(text)
		for _, n := range c.terms() {
			if !Speakable(n.Text) {
				t.Fatalf("%q is a name", n.Text)
			}
		}
	})
}
