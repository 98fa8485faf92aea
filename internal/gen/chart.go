package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/csm"
)

// The marks between which ARCHITECTURE.md has the statechart.
const (
	architecture = "ARCHITECTURE.md"
	chartBegin   = "<!-- statechart: generated from csm.Table by `go run ./internal/gen`; a test holds it -->\n"
	chartEnd     = "<!-- /statechart -->"
)

// architectureMarkdown is ARCHITECTURE.md with the statechart of today.
func architectureMarkdown() ([]byte, error) {
	have, err := os.ReadFile(architecture)
	if err != nil {
		return nil, err
	}
	before, rest, ok := strings.Cut(string(have), chartBegin)
	_, after, closed := strings.Cut(rest, chartEnd)
	if !ok || !closed {
		return nil, fmt.Errorf("the marks of the statechart are missing; put %q and %q back", strings.TrimSpace(chartBegin), chartEnd)
	}
	return []byte(before + chartBegin + "```mermaid\n" + csm.Mermaid() + "```\n" + chartEnd + after), nil
}
