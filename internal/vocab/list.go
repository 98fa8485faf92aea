package vocab

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// ListFile is the name of a user's list, in a workspace or in the home folder.
const ListFile = "voice-words.md"

// Lists are the files of the user's lists: those of folders come behind others.
func Lists(files, folders []string) []string {
	out := slices.Clone(files)
	for _, dir := range folders {
		out = append(out, filepath.Join(dir, ListFile))
	}
	return out
}

// Bounds of a user's list.
const (
	maxList     = 1_000 // entries
	maxListFile = 64 << 10
)

// bullet begins an entry of a list in Markdown; everything else is prose.
var bullet = regexp.MustCompile(`^\s*[-*+]\s+(.*)$`)

// ParseList reads entries that are separated by commas or lines: a word, or what is
// heard, "=" and what to write.
func ParseList(text string) (terms []Term, replacements []Replacement) {
	for entry := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == '\n' || r == ';' }) {
		terms, replacements = parseEntry(entry, terms, replacements)
	}
	return terms, replacements
}

// ParseFile reads the list items of a Markdown file as entries. A file that is too
// long is read up to its bound.
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
