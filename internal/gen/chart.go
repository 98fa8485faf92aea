package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime/machine"
	"github.com/agentvoice/agentvoice-daemon/csm"
)

// The markers around the statecharts in their page.
const (
	statecharts = "docs/design/statecharts.md"
	chartsBegin = "<!-- statecharts: generated from the machine by `go run ./internal/gen`; a test holds them -->\n"
	chartsEnd   = "<!-- /statecharts -->"
)

// The markers around the table of meaning in its page.
const (
	meaningPage  = "docs/design/meaning.md"
	meaningBegin = "<!-- meaning: generated from csm.Means by `go run ./internal/gen`; a test holds it -->\n"
	meaningEnd   = "<!-- /meaning -->"
)

// statechartsMarkdown returns the page with up-to-date statecharts.
func statechartsMarkdown() ([]byte, error) {
	return between(statecharts, "statecharts", chartsBegin, charts(), chartsEnd)
}

// meaningMarkdown returns the page with an up-to-date table of meaning.
func meaningMarkdown() ([]byte, error) {
	return between(meaningPage, "table of meaning", meaningBegin, "\n"+csm.MeaningTable()+"\n", meaningEnd)
}

// between returns a page with text between two markers.
func between(page, of, begin, text, end string) ([]byte, error) {
	have, err := os.ReadFile(page)
	if err != nil {
		return nil, err
	}
	before, rest, ok := strings.Cut(string(have), begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		return nil, fmt.Errorf("the markers of the %s are missing; restore %q and %q", of, strings.TrimSpace(begin), end)
	}
	return []byte(before + begin + text + end + after), nil
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
