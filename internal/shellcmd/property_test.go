package shellcmd

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// anyCall generates a call of a program of the table with options that it has.
func anyCall(t *rapid.T) (r *row, words []string) {
	own := func(r *row) bool {
		return !r.is["find"] && !r.is["eval"] && !r.is["closed"] && !r.is["shell"]
	}
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(programs())), func(name string) bool { return !own(programs()[name]) })
	r = programs()[rapid.SampledFrom(names).Draw(t, "program")]
	words = strings.Fields(r.name)
	options := slices.Sorted(maps.Keys(r.options))
	for range rapid.IntRange(0, 3).Draw(t, "options") {
		if len(options) == 0 {
			break
		}
		name := rapid.SampledFrom(options).Draw(t, "option")
		words = append(words, name)
		if o := r.options[name]; o.kind != 0 && !o.joined {
			words = append(words, rapid.SampledFrom([]string{"x", "src/x.go", "3"}).Draw(t, "value"))
		}
	}
	for range rapid.IntRange(0, 2).Draw(t, "operands") {
		words = append(words, rapid.SampledFrom([]string{"src", "main", "a.txt", "./...", "'a b'", `"main"`}).Draw(t, "operand"))
	}
	return r, words
}

// insertions are changes of a command that may do something which is not said.
var insertions = map[string]struct {
	change func(r *row, words []string) string
	silent func(r Reading) bool // what the insertion does is not said
}{
	"an assignment": {
		func(_ *row, words []string) string { return "EVIL=./evil " + strings.Join(words, " ") },
		func(r Reading) bool { return !r.Opaque },
	},
	"a setting": {
		func(_ *row, words []string) string { return "CI=1 " + strings.Join(words, " ") },
		func(r Reading) bool { return !r.Opaque && !strings.HasPrefix(r.Spoken, "CI=1 ") },
	},
	"an invisible character": {
		func(_ *row, words []string) string { return strings.Join(words, " ") + "\u200b" },
		func(r Reading) bool { return !r.Opaque },
	},
	"a letter of another script": {
		func(_ *row, words []string) string { return "\u0435" + strings.Join(words, " ") },
		func(r Reading) bool { return !r.Opaque },
	},
	"a folder": {
		func(_ *row, words []string) string { return "./" + strings.Join(words, " ") },
		func(r Reading) bool { return !r.Opaque && !strings.HasPrefix(r.Spoken, "./") },
	},
	"an option": {
		func(r *row, words []string) string {
			n := len(strings.Fields(r.name))
			return strings.Join(slices.Insert(slices.Clone(words), n, "--zz-evil=./evil"), " ")
		},
		func(r Reading) bool { return !r.Opaque && !strings.Contains(r.Spoken, "--zz-evil=./evil") },
	},
	"a redirection": {
		func(_ *row, words []string) string { return strings.Join(words, " ") + " >> ~/evil" },
		func(r Reading) bool { return !r.Protected || !slices.Contains(r.Writes, "~/evil") },
	},
	"a program": {
		func(_ *row, words []string) string { return strings.Join(words, " ") + " && evil" },
		func(r Reading) bool { return !r.Opaque && !strings.HasSuffix(r.Spoken, "&& evil") },
	},
	"a substitution": {
		func(_ *row, words []string) string { return strings.Join(words, " ") + " $(evil)" },
		func(r Reading) bool { return !r.Opaque },
	},
	"a quoted assignment": {
		func(_ *row, words []string) string { return `export "PATH=."; ` + strings.Join(words, " ") },
		func(r Reading) bool { return !r.Opaque },
	},
	"an assignment by a redirection": {
		func(_ *row, words []string) string { return strings.Join(words, " ") + " {PATH}>/dev/null" },
		func(r Reading) bool { return !r.Opaque },
	},
	"an assignment by printf": {
		func(_ *row, words []string) string { return "printf x%n PATH; " + strings.Join(words, " ") },
		func(r Reading) bool { return !r.Opaque },
	},
	"a test": {
		func(_ *row, words []string) string { return "[[ x || ./evil ]]; " + strings.Join(words, " ") },
		func(r Reading) bool { return !r.Opaque },
	},
	"a comment": {
		func(_ *row, words []string) string { return strings.Join(words, " ") + " #; ./evil" },
		func(r Reading) bool { return !r.Opaque },
	},
	"a quote that ends elsewhere": {
		func(_ *row, words []string) string { return strings.Join(words, " ") + ` '\' ; ./evil #'` },
		func(r Reading) bool { return !r.Opaque },
	},
	"a pattern": {
		func(r *row, words []string) string {
			n := len(strings.Fields(r.name))
			return strings.Join(slices.Insert(slices.Clone(words), n, "*"), " ")
		},
		func(r Reading) bool { return !r.Opaque },
	},
	"all files but one": {
		func(_ *row, words []string) string { return strings.Join(words, " ") + " ':!a'" },
		func(r Reading) bool {
			return strings.HasPrefix(strings.Join(r.Programs, "|"), "git ") && !r.Opaque && !strings.HasSuffix(r.Spoken, "':!a'")
		},
	},
	"a folder of the workspace": {
		func(_ *row, words []string) string { return "cd evil && " + strings.Join(words, " ") },
		func(r Reading) bool { return !r.Opaque && !strings.HasPrefix(r.Spoken, "cd evil && ") },
	},
	"another folder": {
		func(_ *row, words []string) string { return "cd /tmp/other && " + strings.Join(words, " ") },
		func(r Reading) bool { return !r.Opaque && !strings.HasPrefix(r.Spoken, "cd /tmp/other") },
	},
}

// TestNothingInsertedIsSilent: what is added to a command of a program that is understood
// is named or spoken, or the command needs a click.
func TestNothingInsertedIsSilent(t *testing.T) {
	for name, c := range insertions {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				r, words := anyCall(t)
				if (name == "an option" || name == "a pattern") && r.is["reads"] {
					return // no option of it does anything
				}
				if name == "a folder of the workspace" && (r.is["reads"] || r.is["anywhere"]) {
					return // it does the same there
				}
				text := c.change(r, words)
				if reading := Read(text, Place{}); c.silent(reading) {
					t.Fatalf("%q is silent: %+v", text, reading)
				}
			})
		})
	}
}

// TestWrittenFilesAreNamed: each option of the table whose value is a file that is
// written has it named, and outside of the workspace it needs a click.
func TestWrittenFilesAreNamed(t *testing.T) {
	for _, r := range programs() {
		for name, o := range r.options {
			if r.name == "time" { // a word of the shell
				continue
			}
			if o.kind != 'w' && o.kind != 'a' || o.joined {
				continue
			}
			joined := name + "=/home/u/evil"
			if len(name) == 2 && !r.is["golong"] {
				joined = name + "/home/u/evil"
			}
			for _, option := range []string{name + " /home/u/evil", joined} {
				text := r.name + " " + option
				if reading := Read(text, Place{}); !reading.Protected || !slices.Contains(slices.Concat(reading.Overwrites, reading.Writes), "/home/u/evil") {
					t.Errorf("%q: %+v", text, reading)
				}
			}
		}
	}
}

// TestTheTableIsComplete: each subcommand has a program that takes subcommands.
func TestTheTableIsComplete(t *testing.T) {
	for name, r := range programs() {
		if i := strings.LastIndex(name, " "); i > 0 && (programs()[name[:i]] == nil || !programs()[name[:i]].is["subs"]) {
			t.Errorf("%s: %s takes no subcommands", name, name[:i])
		}
		if r.is["subs"] && len(r.first) > 0 {
			t.Errorf("%s has operands before its subcommand", name)
		}
	}
}
