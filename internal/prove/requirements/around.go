package requirements

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// around is a mutant outside of the core: its original is replaced in its file.
type around struct {
	name, file       string
	original, faulty string // faulty is "" for a deletion
}

// parseAround parses mutants in the format of the core's list. The only relevant kind
// is "delete", which removes the original; all other kinds replace it, because the whole
// function is copied.
func parseAround(path, text string) (map[string]around, error) {
	out := map[string]around{}
	var m *around
	var part *string
	kind := ""
	for i, line := range strings.Split(text, "\n") {
		key, value, _ := strings.Cut(line, " ")
		value = strings.TrimSpace(value)
		switch {
		case m != nil && line == "--- original":
			part = &m.original
		case m != nil && line == "--- mutated":
			part = &m.faulty
		case m != nil && line == "---":
			if m.file == "" || m.original == "" || (kind == "delete") != (m.faulty == "") {
				return nil, fmt.Errorf("%s:%d: mutant %s needs a file, an original and, unless its kind is delete, a mutated text", path, i+1, m.name)
			}
			out[m.name], m, part, kind = *m, nil, nil, ""
		case part != nil:
			*part += line + "\n"
		case strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#"):
		case key == "mutant":
			if _, ok := out[value]; ok || m != nil {
				return nil, fmt.Errorf("%s:%d: duplicate mutant %s, or the one before it has no final line ---", path, i+1, value)
			}
			m = &around{name: value}
		case m != nil && key == "file":
			m.file = value
		case m != nil && key == "kind":
			kind = value
		case m != nil && key == "breaks":
		default:
			return nil, fmt.Errorf("%s:%d: unexpected line %q; see the head of %s", path, i+1, line, seededFile)
		}
	}
	if m != nil {
		return nil, fmt.Errorf("%s: mutant %s has no final line ---", path, m.name)
	}
	return out, nil
}

// mutated returns the text of its file with the fault.
func (m around) mutated(root string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(m.file)))
	if err != nil {
		return "", fmt.Errorf("mutant %s: %w", m.name, err)
	}
	original := strings.TrimSpace(m.original)
	switch n := strings.Count(string(text), original); n {
	case 1:
	case 0:
		return "", fmt.Errorf("mutant %s: its original is no longer in %s; find the changed code there, and correct the list:\n%s", m.name, m.file, m.original)
	default:
		return "", fmt.Errorf("mutant %s: its original occurs %d times in %s; include more context:\n%s", m.name, n, m.file, m.original)
	}
	return strings.Replace(string(text), original, strings.TrimSpace(m.faulty), 1), nil
}

// overlay writes the mutated file and an overlay that uses it, and returns the
// overlay's path.
func (m around) overlay(root, out string) (string, error) {
	text, err := m.mutated(root)
	if err != nil {
		return "", err
	}
	return writeOverlay(root, filepath.Join(out, "around", m.name), map[string]string{m.file: text})
}
