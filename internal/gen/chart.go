package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/statechart"
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
	all := csm.Charts()
	for _, c := range all {
		fmt.Fprintf(&out, "| [%s](#region-%s) | `%s` | %s |\n", c.Name, c.Name, c.Package, strings.Join(c.States, ", "))
	}
	section := func(title, about, mermaid string) {
		fmt.Fprintf(&out, "\n### %s\n\n%s\n\n```mermaid\n%s```\n", title, about, mermaid)
	}
	for _, c := range all {
		section("Region "+c.Name, c.About, c.Mermaid(false))
	}
	section("All of them", statechart.AboutAll, statechart.Mermaid(all, false))
	out.WriteString("\n")
	return out.String()
}
