package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime/machine"
	"github.com/agentvoice/agentvoice-daemon/csm"
)

// Each region has a row and a section with its statechart, and the handwritten text
// around them is kept.
func TestStatechartsAreWritten(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.MkdirAll(filepath.Dir(statecharts), 0o700); err != nil {
		t.Fatal(err)
	}
	old := "before\n" + chartsBegin + "a chart of yesterday\n" + chartsEnd + "\nafter\n"
	if err := os.WriteFile(statecharts, []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := statechartsMarkdown()
	if err != nil {
		t.Fatal(err)
	}
	text := string(got)
	if !strings.HasPrefix(text, "before\n"+chartsBegin) || !strings.HasSuffix(text, chartsEnd+"\nafter\n") || strings.Contains(text, "yesterday") {
		t.Errorf("around the charts:\n%s", text)
	}
	for _, d := range slices.Concat(csm.Charts(), machine.Charts()) {
		section := "\n## Region " + d.Name + "\n\n" + d.About + "\n\n```mermaid\n" + d.Mermaid(false) + "```\n"
		if strings.Count(text, section) != 1 {
			t.Errorf("%s has no section of its own", d.Name)
		}
	}
	for _, row := range []string{
		"\n| [serverWords](#region-serverwords) | `audio/localrealtime/machine` | hearing, pending, gone |\n",
		"\n| [turn](#region-turn) | `csm/turn` | idle, userSpeaking, endPending |\n",
	} {
		if strings.Count(text, row) != 1 {
			t.Errorf("missing: %s", row)
		}
	}
}

// Without the markers the charts have no place, and run fails.
func TestStatechartsNeedTheirMarks(t *testing.T) {
	t.Chdir(t.TempDir())
	if _, err := statechartsMarkdown(); err == nil {
		t.Error("succeeded without a file")
	}
	if err := os.MkdirAll(filepath.Dir(statecharts), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", chartsBegin, chartsEnd} {
		if err := os.WriteFile(statecharts, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := statechartsMarkdown(); err == nil || !strings.Contains(err.Error(), chartsEnd) {
			t.Errorf("of %q: %v", text, err)
		}
	}
}
