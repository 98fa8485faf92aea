package headless

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
)

const scripts = "../../../testdata/script"

func TestParse(t *testing.T) {
	s, err := Parse("# a comment\n\n  auto speech 100ms off # so\r\nauto flush off\nafter 1.5s\nawait answer copilot/send\nawait state speaking\nstt.final \"a # \\\"b\\\"\"#\nsession.failed authentication")
	if err != nil {
		t.Fatal(err)
	}
	want := []statement{
		{line: 3, verb: "auto", name: "speech", delay: 100 * time.Millisecond, noEnd: true},
		{line: 4, verb: "auto", name: "flush", off: true},
		{line: 5, verb: "after", delay: 1500 * time.Millisecond},
		{line: 6, verb: "await", name: "copilot/send", of: answered},
		{line: 7, verb: "await", name: "speaking", of: entered},
		{line: 8, verb: "stt.final", text: `a # "b"`},
		{line: 9, verb: "session.failed", code: csm.CodeAuthentication},
	}
	if len(s.statements) != len(want) {
		t.Fatalf("%d statements, want %d", len(s.statements), len(want))
	}
	for i, st := range s.statements {
		if st != want[i] {
			t.Errorf("statement %d is %+v, want %+v", i, st, want[i])
		}
	}
}

func TestParseSaysWhereAndWhatIsAllowed(t *testing.T) {
	for source, want := range map[string]string{
		"vad.begin":              `line 1, column 1: "vad.begin" is no statement; allowed: audio.closed, audio.failed`,
		"\n  after 5":            `line 2, column 9: "5" is no time; write it like 120ms`,
		"after":                  `column 6: "" is no time`,
		"after -1s":              `"-1s" is no time`,
		"after 25h":              "up to 24h",
		"auto mouth 1s":          `column 6: "mouth" is nothing that is done by itself; allowed: session, audio`,
		"auto flush soon":        `column 12: "soon" is neither a time, like 120ms, nor off`,
		"auto flush 1s 2s":       `column 15: "2s" is too much`,
		"await conversation/no":  `column 7: "conversation/no" is no message to wait for; allowed: state STATE, answer METHOD, initialize`,
		"await agentvoice.state": "is no message to wait for",
		"await state bored":      `column 13: "bored" is no state; allowed: idle, preparing`,
		"await answer exit":      `"exit" is no request to the client; allowed: copilot/send`,
		"stt.final words":        `column 11: stt.final needs a text in double quotes`,
		"stt.final 'words'":      "needs a text in double quotes",
		`stt.final "ä" x`:        `column 15: "x" is too much`,
		`stt.final "\q"`:         "double quotes",
		"vad.start now":          `column 11: "now" is too much`,
		"device.lost keyboard":   `column 13: "keyboard" is no device; write microphone, speaker`,
		"session.failed badly":   `"badly" is no code of a failure; allowed: copilotTimeout`,
	} {
		_, err := Parse(source)
		var bad *SyntaxError
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q gives %v, want %s", source, err, want)
		}
	}
	if _, err := Parse("x\ny\nvad.start"); strings.Count(err.Error(), "line") != 2 {
		t.Errorf("of two errors it says %v", err)
	}
}

// Every statement is documented, and the example and all scripts parse.
func TestScriptsAndTheirDocumentation(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join(scripts, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range verbs {
		if !strings.Contains(string(doc), "`"+verb) {
			t.Errorf("%s is not documented", verb)
		}
	}
	for _, name := range autos {
		if !strings.Contains(string(doc), "`auto "+name+" ") {
			t.Errorf("auto %s is not documented", name)
		}
	}
	parts := strings.SplitN(string(doc), "```", 3)
	if _, err := Parse(parts[1]); err != nil {
		t.Errorf("the example: %v", err)
	}
	files, err := filepath.Glob(filepath.Join(scripts, "*.txt"))
	if err != nil || len(files) < 8 {
		t.Fatalf("%d scripts, %v", len(files), err)
	}
	for _, name := range files {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Parse(string(source)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("auto speech 1s off\nawait state idle\nstt.final \"a\"")
	f.Fuzz(func(t *testing.T, source string) {
		s, err := Parse(source)
		if err == nil && len(s.statements) > strings.Count(source, "\n")+1 {
			t.Errorf("%d statements of %d lines", len(s.statements), strings.Count(source, "\n")+1)
		}
	})
}
