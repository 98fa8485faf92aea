package mutants

import (
	"fmt"
	"strings"
)

// excuse is an entry of the list of equivalent mutants: a person has checked that
// they have no observable effect.
type excuse struct {
	file, fn, op, snippet string
	reason                string
	line                  int
	used                  bool
}

// parseEquivalent parses the list of equivalent mutants. An entry is
//
//	FILE | FUNCTION | OPERATION | SNIPPET
//	    REASON, in one or more indented lines
//
// as in the report of a survivor. It identifies code instead of a line, so that it
// stays valid when other code moves, and becomes invalid when its code changes.
func parseEquivalent(path, text string) ([]excuse, error) {
	var out []excuse
	for i, line := range strings.Split(text, "\n") {
		switch {
		case strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t"):
			if len(out) == 0 {
				return nil, fmt.Errorf("%s:%d: a reason without a mutant", path, i+1)
			}
			e := &out[len(out)-1]
			e.reason = strings.TrimSpace(e.reason + " " + strings.TrimSpace(line))
		default:
			part := strings.SplitN(line, " | ", 4)
			if len(part) != 4 {
				return nil, fmt.Errorf("%s:%d: %q is not FILE | FUNCTION | OPERATION | SNIPPET", path, i+1, line)
			}
			out = append(out, excuse{file: part[0], fn: part[1], op: part[2], snippet: part[3], line: i + 1})
		}
	}
	for _, e := range out {
		if e.reason == "" {
			return nil, fmt.Errorf("%s:%d: no reason why the mutant is equivalent; add it in an indented line", path, e.line)
		}
	}
	return out, nil
}

// matches reports whether the entry is about m.
func (e excuse) matches(m mutant) bool {
	return e.file == m.File && e.fn == m.Func && e.op == m.Op && e.snippet == m.Snippet
}

// excuses returns the reason for each equivalent mutant, by name. An entry without a
// mutant is an error, because its code has changed.
func excuses(path string, list []excuse, all []mutant) (map[string]string, error) {
	out := map[string]string{}
	for i := range list {
		for _, m := range all {
			if list[i].matches(m) {
				out[m.Name], list[i].used = list[i].reason, true
			}
		}
		if !list[i].used {
			return nil, fmt.Errorf("%s:%d: no such mutant; its code has changed, so remove the entry: %s | %s | %s | %s",
				path, list[i].line, list[i].file, list[i].fn, list[i].op, list[i].snippet)
		}
	}
	return out, nil
}

// entry formats m as in the list of equivalent mutants.
func (m mutant) entry() string {
	return strings.Join([]string{m.File, m.Func, m.Op, m.Snippet}, " | ")
}
