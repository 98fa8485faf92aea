package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/csm"
)

// The marks between which ARCHITECTURE.md has the statecharts.
const (
	architecture = "ARCHITECTURE.md"
	chartsBegin  = "<!-- statecharts: generated from the machine by `go run ./internal/gen`; a test holds them -->\n"
	chartsEnd    = "<!-- /statecharts -->"
)

// architectureMarkdown is ARCHITECTURE.md with the statecharts of today.
func architectureMarkdown() ([]byte, error) {
	have, err := os.ReadFile(architecture)
	if err != nil {
		return nil, err
	}
	before, rest, ok := strings.Cut(string(have), chartsBegin)
	_, after, closed := strings.Cut(rest, chartsEnd)
	if !ok || !closed {
		return nil, fmt.Errorf("the marks of the statecharts are missing; put %q and %q back", strings.TrimSpace(chartsBegin), chartsEnd)
	}
	return []byte(before + chartsBegin + charts() + chartsEnd + after), nil
}

// charts is a table of the regions, and a section on each with its statechart.
func charts() string {
	var out strings.Builder
	out.WriteString("\n| Region | Package | States |\n| --- | --- | --- |\n")
	for _, d := range csm.Diagrams() {
		if len(d.States) > 0 {
			fmt.Fprintf(&out, "| [%s](#region-%s) | `%s` | %s |\n", d.Name, d.Name, d.Package, strings.Join(d.States, ", "))
		}
	}
	for _, d := range csm.Diagrams() {
		title := "Region " + d.Name
		if len(d.States) == 0 {
			title = "All of them"
		}
		fmt.Fprintf(&out, "\n### %s\n\n%s\n\n```mermaid\n%s```\n", title, d.About, d.Mermaid(false))
	}
	out.WriteString("\n")
	return out.String()
}
