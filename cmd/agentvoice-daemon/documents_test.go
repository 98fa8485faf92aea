package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// documents returns the documentation pages, by path from the module root.
func documents(t *testing.T) map[string]string {
	t.Helper()
	pages := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md", "docs/*/*/*.md", "extension/README.md", "extension/e2e/README.md", "testdata/*/README.md"} {
		names, err := filepath.Glob(filepath.Join("../..", pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			rel, err := filepath.Rel("../..", name)
			if err != nil {
				t.Fatal(err)
			}
			pages[filepath.ToSlash(rel)] = string(data)
		}
	}
	if len(pages) < 40 {
		t.Fatalf("only %d documents were found", len(pages))
	}
	return pages
}

var (
	fence   = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	link    = regexp.MustCompile(`!?\[[^]]*\]\(([^)\s]+)\)`)
	unslug  = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// anchors returns the fragments that GitHub generates for a page's headings.
func anchors(page string) (all []string) {
	for _, h := range heading.FindAllStringSubmatch(fence.ReplaceAllString(page, ""), -1) {
		all = append(all, strings.ReplaceAll(unslug.ReplaceAllString(strings.ToLower(h[1]), ""), " ", "-"))
	}
	return all
}

// brokenLinks returns the links of a page to missing files or headings.
func brokenLinks(name, page string, exists func(path string) bool, pages map[string]string) (broken []string) {
	for _, m := range link.FindAllStringSubmatch(fence.ReplaceAllString(page, ""), -1) {
		to, fragment, _ := strings.Cut(m[1], "#")
		if strings.Contains(to, "://") || strings.HasPrefix(to, "mailto:") {
			continue
		}
		path := name
		if to != "" {
			path = filepath.ToSlash(filepath.Join(filepath.Dir(name), to))
		}
		switch target, isPage := pages[path]; {
		case !exists(path):
			broken = append(broken, m[1]+": there is no such file")
		case fragment != "" && isPage && !slices.Contains(anchors(target), fragment):
			broken = append(broken, m[1]+": there is no such heading")
		}
	}
	return broken
}

// TestLinksOfDocumentsResolve checks links to files and headings of this repository.
//
//test:documents
func TestLinksOfDocumentsResolve(t *testing.T) {
	pages := documents(t)
	for name, page := range pages {
		for _, b := range brokenLinks(name, page, func(path string) bool {
			_, err := os.Stat(filepath.Join("../..", path))
			return err == nil
		}, pages) {
			t.Errorf("%s links to %s", name, b)
		}
	}
}

// TestBrokenLinksAreFound shows that the check above can fail.
func TestBrokenLinksAreFound(t *testing.T) {
	pages := map[string]string{
		"a.md":      "[ok](docs/b.md#two-words) [self](#top)\n# Top\n[gone](c.md) [heading](docs/b.md#three)\n```\n[code](d.md)\n```\n",
		"docs/b.md": "## Two `words`\n[up](../a.md) [web](https://example.com/x)\n",
	}
	exists := func(path string) bool { _, ok := pages[path]; return ok }
	if got, want := brokenLinks("a.md", pages["a.md"], exists, pages), []string{"c.md: there is no such file", "docs/b.md#three: there is no such heading"}; !slices.Equal(got, want) {
		t.Errorf("broken: %q, want %q", got, want)
	}
	if got := brokenLinks("docs/b.md", pages["docs/b.md"], exists, pages); len(got) > 0 {
		t.Errorf("broken: %q", got)
	}
}

var (
	command = regexp.MustCompile(`(?:^|[\s;&|(` + "`" + `])(?:bin/)?agentvoice-daemon((?: +[^\s` + "`" + `;|&#]+)*)`)
	target  = regexp.MustCompile(`(?:^|[\s` + "`" + `])make ([a-z][a-z0-9-]*(?: [a-z][a-z0-9-]*)*)`)
	setting = regexp.MustCompile("`(agentvoice\\.[a-z]+\\.[a-zA-Z]+)(?:=[^`]*)?`")
	code    = regexp.MustCompile("(?s)```.*?```|`[^`\n]+`")
)

// misusedCommand returns why agentvoice-daemon would reject a command line, or nil.
func misusedCommand(words []string) error {
	root := newRoot()
	root.InitDefaultVersionFlag()
	c, rest, err := root.Find(words)
	if err != nil {
		return err
	}
	c.InitDefaultHelpFlag()
	if err := c.ParseFlags(rest); err != nil {
		return c.FlagErrorFunc()(c, err)
	}
	return c.ValidateArgs(c.Flags().Args())
}

// documentedCommand is a command line of agentvoice-daemon in a document.
type documentedCommand struct {
	page, line string
	words      []string // after the program's name, without brackets of what is optional
}

// commandsOf returns the command lines that a page formats as code.
func commandsOf(name, page string) (all []documentedCommand) {
	for _, line := range codeLines(page) {
		for _, m := range command.FindAllStringSubmatch(line, -1) {
			words := strings.Fields(strings.NewReplacer("[", "", "]", "", `"`, "", "'", "").Replace(m[1]))
			if len(words) > 0 && regexp.MustCompile(`^(--)?[a-z]+`).MatchString(words[0]) {
				all = append(all, documentedCommand{name, strings.TrimSpace(line), words})
			}
		}
	}
	return all
}

// codeLines returns the lines that a page formats as code, with continued ones joined.
func codeLines(page string) (all []string) {
	for _, piece := range code.FindAllString(strings.ReplaceAll(page, "\\\n", " "), -1) {
		all = slices.AppendSeq(all, strings.Lines(strings.Trim(piece, "`")))
	}
	return all
}

// TestCommandsOfDocumentsExist checks each command line, flag, make target and setting
// that a document formats as code. The changelog may mention removed ones.
//
//test:documents
func TestCommandsOfDocumentsExist(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := os.ReadFile("../../extension/package.json") // includes the daemon's settings
	if err != nil {
		t.Fatal(err)
	}
	commands, targets, settings := 0, 0, 0
	for name, page := range documents(t) {
		if name == "CHANGELOG.md" || strings.HasPrefix(name, "testdata/") {
			continue
		}
		for _, c := range commandsOf(name, page) {
			commands++
			if err := misusedCommand(c.words); err != nil {
				t.Errorf("%s: %q: %v", name, c.line, err)
			}
		}
		for _, line := range codeLines(page) {
			for _, m := range target.FindAllStringSubmatch(line, -1) {
				for _, goal := range strings.Fields(m[1]) {
					targets++
					if !regexp.MustCompile(`(?m)^` + goal + `:`).Match(makefile) {
						t.Errorf("%s: unknown make target %q", name, goal)
					}
				}
			}
		}
		for _, m := range setting.FindAllStringSubmatch(page, -1) {
			settings++
			if !strings.Contains(string(manifest), `"`+m[1]+`"`) {
				t.Errorf("%s: unknown setting %s", name, m[1])
			}
		}
	}
	if commands < 30 || targets < 20 || settings < 30 {
		t.Errorf("only %d commands, %d targets and %d settings were found", commands, targets, settings)
	}
}

// TestMisusedCommandsAreFound shows that the check above can fail.
func TestMisusedCommandsAreFound(t *testing.T) {
	for line, want := range map[string]string{
		"talk --agent offline":   "",
		"models install NAME":    "",
		"talk --loud":            "unknown flag --loud; see `agentvoice-daemon talk --help`",
		"talk --agent":           "--agent has no value; use --agent=VALUE (assistant: offline, openai for an OpenAI-compatible endpoint, or acp:CMD for a coding agent, such as acp:codex-acp)",
		"explore --states many":  "--states many: use a whole number",
		"timeline":               "JOURNAL is missing; use `agentvoice-daemon timeline JOURNAL -o FILE.html`",
		"models instal NAME":     "unknown command \"instal\"; did you mean `agentvoice-daemon models install`?",
		"speak":                  "unknown command \"speak\"; see `agentvoice-daemon --help`",
		"sessions --path --json": "",
	} {
		got := ""
		if err := misusedCommand(strings.Fields(line)); err != nil {
			got, _, _ = strings.Cut(err.Error(), "\n")
		}
		if got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}
