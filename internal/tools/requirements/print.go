package main

import (
	"fmt"
	"io"
	"strings"
)

// show writes the list in its groups, a requirement with what is known of it in
// as few lines as that takes.
func show(out io.Writer, list []requirement) {
	group := ""
	for _, r := range list {
		if r.group != group {
			group = r.group
			fmt.Fprintf(out, "\n%s\n", group)
		}
		fmt.Fprintf(out, "  %-11s%-12s %s\n", r.status(), r.id, r.text)
		switch r.status() {
		case proved:
			fmt.Fprintf(out, "%26s%s\n", "", proofs(r))
		case superseded:
			fmt.Fprintf(out, "%26s%s\n", "", r.superseded)
		default:
			for _, what := range r.owed {
				fmt.Fprintf(out, "%26s%s\n", "", what)
			}
		}
	}
	fmt.Fprintln(out)
}

// proofs are the tests of a requirement in a line.
func proofs(r requirement) string {
	var parts []string
	for _, p := range r.proofs {
		parts = append(parts, p.String())
	}
	if n := len(r.also); n > 0 {
		parts = append(parts, fmt.Sprintf("%d more without mutants", n))
	}
	return strings.Join(parts, ", ")
}

// summary counts the statuses.
func summary(list []requirement) string {
	n := map[string]int{}
	for _, r := range list {
		n[r.status()]++
	}
	return fmt.Sprintf("requirements: %d proved, %d owed, %d superseded of %d", n[proved], n[owed], n[superseded], len(list))
}
