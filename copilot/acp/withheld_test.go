package acp

import (
	"bufio"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestKeysOfVoiceServicesAreWithheld: an agent gets no key of a voice service, but the one that it
// signs in with itself.
func TestKeysOfVoiceServicesAreWithheld(t *testing.T) {
	withheld := []string{"OPENAI_API_KEY", "AZURE_OPENAI_API_KEY"}
	for _, name := range append(withheld, "OTHER_KEY") {
		t.Setenv(name, "secret")
	}
	for command, want := range map[string]string{"my-agent --acp": "OTHER_KEY", "gemini": "OTHER_KEY", "codex-acp": "OPENAI_API_KEY OTHER_KEY"} {
		o := Options{Command: command, Withheld: withheld}
		p, err := startProcess([]string{os.Args[0], "-test.run=TestPrintNames", "-test.v"}, t.TempDir(), o.withheld())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for lines := bufio.NewScanner(p); lines.Scan(); {
			if name, ok := strings.CutPrefix(lines.Text(), "has "); ok {
				got = append(got, name)
			}
		}
		p.end()
		slices.Sort(got)
		if strings.Join(got, " ") != want {
			t.Errorf("%s has %q, want %q", command, got, want)
		}
	}
}

// TestPrintNames is the agent of the test above: it prints which of the variables it has.
func TestPrintNames(*testing.T) {
	for _, name := range []string{"OPENAI_API_KEY", "AZURE_OPENAI_API_KEY", "OTHER_KEY"} {
		if os.Getenv(name) == "secret" {
			_, _ = os.Stdout.WriteString("has " + name + "\n")
		}
	}
}
