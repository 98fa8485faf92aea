package vocab

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// ListFile is the name of a user's list in a workspace or in the home folder.
const ListFile = "voice-words.md"

// Lists returns the paths of the user's lists: files first, then the list in each folder.
func Lists(files, folders []string) []string {
	out := slices.Clone(files)
	for _, dir := range folders {
		out = append(out, filepath.Join(dir, ListFile))
	}
	return out
}

// Limits of a user's list.
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

// ParseFile parses the list items of a Markdown file as entries. It reads a long file up
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
