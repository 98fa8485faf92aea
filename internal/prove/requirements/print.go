package requirements

import (
	"fmt"
	"io"
	"strings"
)

// show writes the list by groups, with each requirement's status and proofs in as few
// lines as possible.
func show(out io.Writer, list []requirement) {
	group, width := "", 0
	for i, r := range list {
		if i == 0 || r.group != group {
			group, width = r.group, widest(list, r.group)
			fmt.Fprintf(out, "\n%s\n", group)
		}
		line := func(text string) { fmt.Fprintf(out, "  %10s  %*s  - %s\n", "", -width, "", text) }
		fmt.Fprintf(out, "  %-10s  %*s  %s\n", r.status(), -width, r.id, r.text)
		if len(r.proofs) > 0 {
			line(proofs(r))
		}
		for _, what := range r.owed {
			line("missing: " + what)
		}
		if r.superseded != "" {
			line(r.superseded)
		}
	}
	fmt.Fprintln(out)
}

// widest returns the length of the longest id of a group.
func widest(list []requirement, group string) (n int) {
	for _, r := range list {
		if r.group == group {
			n = max(n, len(r.id))
		}
	}
	return n
}

// proofs returns the tests of a requirement on one line, and how many faults they detect.
func proofs(r requirement) string {
	var parts []string
	faults := map[string]bool{}
	for _, p := range r.proofs {
		parts = append(parts, p.String())
		for _, m := range p.mut {
			faults[m] = true
		}
	}
	noun := "faults"
	if len(faults) == 1 {
		noun = "fault"
	}
	text := fmt.Sprintf("%s (%d %s)", strings.Join(parts, ", "), len(faults), noun)
	for _, m := range r.also {
		text += fmt.Sprintf("; %s %q", m.path, m.text)
	}
	text += "; runs " + strings.Join(r.runs(), ", ")
	return text
}

// summary counts the statuses.
func summary(list []requirement) string {
	n := map[string]int{}
	for _, r := range list {
		n[r.status()]++
	}
	return fmt.Sprintf("requirements: %d proved, %d owed, %d superseded of %d", n[proved], n[owed], n[superseded], len(list))
}
