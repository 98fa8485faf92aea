package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime/machine"
	"github.com/agentvoice/agentvoice-daemon/csm"
)

// The markers around the statecharts in the page.
const (
	statecharts = "docs/design/statecharts.md"
	chartsBegin = "<!-- statecharts: generated from the machine by `go run ./internal/gen`; a test holds them -->\n"
	chartsEnd   = "<!-- /statecharts -->"
)

// statechartsMarkdown returns the page with up-to-date statecharts.
func statechartsMarkdown() ([]byte, error) {
	have, err := os.ReadFile(statecharts)
	if err != nil {
		return nil, err
	}
	before, rest, ok := strings.Cut(string(have), chartsBegin)
	_, after, closed := strings.Cut(rest, chartsEnd)
	if !ok || !closed {
		return nil, fmt.Errorf("the markers of the statecharts are missing; restore %q and %q", strings.TrimSpace(chartsBegin), chartsEnd)
	}
	return []byte(before + chartsBegin + charts() + chartsEnd + after), nil
}

// charts returns a table of the regions of the core and of a call to the embedded server,
// and a section with the statechart of each.
func charts() string {
	var out strings.Builder
	all := slices.Concat(csm.Charts(), machine.Charts())
	out.WriteString("\n| Region | Package | States |\n| --- | --- | --- |\n")
	for _, c := range all {
		fmt.Fprintf(&out, "| [%s](#region-%s) | `%s` | %s |\n", c.Name, strings.ToLower(c.Name), c.Package, strings.Join(c.States, ", "))
	}
	for _, c := range all {
		fmt.Fprintf(&out, "\n## Region %s\n\n%s\n\n```mermaid\n%s```\n", c.Name, c.About, c.Mermaid(false))
	}
	out.WriteString("\n")
	return out.String()
}
