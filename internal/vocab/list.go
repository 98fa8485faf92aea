package vocab

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/internal/workspace"
)

// ListFile is the name of the user's list in the home folder, and of a workspace's list.
const ListFile = "voice-words.md"

// ReadOwn reads the user's own lists, which need not exist.
func ReadOwn(files []string) (terms []Term, replacements []Replacement) {
	for _, name := range files {
		if text, err := workspace.HeadFile(name, maxListFile); err == nil {
			t, r := ParseFile(string(text))
			terms, replacements = append(terms, t...), append(replacements, r...)
		}
	}
	return terms, replacements
}

// ReadWorkspace reads the lists of folders, which need not exist. It leaves out those that are
// the user's own.
func ReadWorkspace(own, folders []string) (terms []Term, ignored int) {
	for _, dir := range folders {
		if slices.Contains(own, filepath.Join(dir, ListFile)) {
			continue
		}
		folder, err := workspace.Open(dir)
		if err != nil {
			continue
		}
		text, err := folder.Head(ListFile, maxListFile)
		folder.Close()
		if err == nil {
			t, n := ParseWorkspace(string(text))
			terms, ignored = append(terms, t...), ignored+n
		}
	}
	return terms, ignored
}

// Limits of a list.
const (
	maxList     = 1_000 // entries
	maxListFile = 64 << 10
)

// bullet matches an entry of a Markdown list; everything else is prose.
var bullet = regexp.MustCompile(`^\s*[-*+]\s+(.*)$`)

// ParseList parses entries separated by commas or newlines. An entry is a word, or "heard
// = written".
func ParseList(text string) (terms []Term, replacements []Replacement) {
	for entry := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == '\n' || r == ';' }) {
		terms, replacements = parseEntry(entry, terms, replacements)
	}
	return terms, replacements
}

// ParseFile parses the list items of a Markdown file as entries. It reads a long text up
// to maxListFile.
func ParseFile(text string) (terms []Term, replacements []Replacement) {
	text = text[:min(len(text), maxListFile)]
	for line := range strings.Lines(text) {
		if m := bullet.FindStringSubmatch(strings.TrimRight(line, "\r\n")); m != nil {
			terms, replacements = parseEntry(m[1], terms, replacements)
		}
	}
	return terms, replacements
}

// ParseWorkspace parses the list of a workspace, which gives names only: a replacement would put
// its author's words into the user's mouth. ignored counts the replacements.
func ParseWorkspace(text string) (names []Term, ignored int) {
	all, replacements := ParseFile(text)
	for _, t := range all {
		if Speakable(t.Text) {
			names = append(names, Term{Text: t.Text, Kind: List})
		}
	}
	return names, len(replacements)
}

func parseEntry(entry string, terms []Term, replacements []Replacement) ([]Term, []Replacement) {
	heard, written, replaced := strings.Cut(strings.NewReplacer("→", "=", "->", "=", "`", "").Replace(entry), "=")
	heard, written = strings.TrimSpace(heard), strings.TrimSpace(written)
	switch {
	case heard == "" || len(terms)+len(replacements) >= maxList || len(entry) > 200:
	case replaced && written != "":
		replacements = append(replacements, Replacement{Heard: heard, Written: written})
	case !replaced:
		terms = append(terms, Term{Text: heard, Kind: Own})
	}
	return terms, replacements
}
