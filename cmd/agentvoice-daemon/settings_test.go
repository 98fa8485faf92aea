package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// printed runs the command line and returns its output.
func printed(t *testing.T, stdin string, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(strings.NewReader(stdin))
	root.SetOut(&out)
	err := root.ExecuteContext(t.Context())
	return out.String(), err
}

func TestSettingsAreListedAndExplained(t *testing.T) {
	list, err := printed(t, "", "settings", "list")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range protocol.SettingsTable {
		if !strings.Contains(list, s.Name+" ") {
			t.Errorf("%s is not listed", s.Name)
		}
		if text, err := printed(t, "", "settings", "explain", s.Name); err != nil || !strings.Contains(text, strings.ReplaceAll(s.Meaning, "`", "")) {
			t.Errorf("explain %s: %q, %v", s.Name, text, err)
		}
	}
	if text, err := printed(t, "", "settings", "explain", "voice.rate"); err != nil || !strings.HasPrefix(text, "agentvoice.voice.rate\n") {
		t.Errorf("without the prefix: %q, %v", text, err)
	}
	if _, err := printed(t, "", "settings", "explain", "rate"); err == nil || err.Error() != "unknown setting rate; did you mean agentvoice.voice.rate?" {
		t.Errorf("a part of a name: %v", err)
	}
}

func TestSettingsOfAnEditorAreChecked(t *testing.T) {
	for _, c := range []struct{ name, text, out, problem string }{
		{"good", `{
			// comments and trailing commas are allowed
			"editor.fontSize": 12,
			"agentvoice.voice.rate": 1.5,
			"agentvoice": {"cues.enabled": false},
		}`, "2 settings, no problems\n", ""},
		{"one", `{"agentvoice.voice.rate": 1}`, "1 setting, no problems\n", ""},
		{"wrong", `{"agentvoice.voice.rate": 9, "agentvoice.hearing.provider": "ours", "agentvoice.nope": 1}`,
			"agentvoice.hearing.provider is \"ours\"; allowed: \"\", local, openai, live, azure, localai, compatible\n" +
				"agentvoice.nope is an unknown setting; see `agentvoice-daemon settings list`\nagentvoice.voice.rate is 9; allowed: 0.5 to 3\n", "3 invalid settings in standard input; correct what is listed above"},
		{"misspelt", `{"agentvoice.vioce.rate": 1}`, "agentvoice.vioce.rate is an unknown setting; did you mean agentvoice.voice.rate?\n", "1 invalid setting in standard input; correct what is listed above"},
		{"no JSON", `{"agentvoice.voice.rate": }`, "", "standard input, line 1, column 27: invalid character '}' at start of value; correct the JSON"},
		{"no object", `[1]`, "", "standard input is not a JSON object; give the whole file, with its braces"},
	} {
		out, err := printed(t, c.text, "settings", "check", "-")
		if out != c.out || (err == nil) != (c.problem == "") || err != nil && !strings.HasPrefix(err.Error(), c.problem) {
			t.Errorf("%s: %q, %v; want %q, %q", c.name, out, err, c.out, c.problem)
		}
	}
	missing := filepath.Join(t.TempDir(), "settings.json")
	if _, err := printed(t, "", "settings", "check", missing); err == nil || err.Error() != missing+": no such file or directory; check the path" {
		t.Errorf("a missing file: %v", err)
	}
}

// A setting of the command line is named with or without its prefix. An unknown one is refused,
// with those that are meant, before anything else begins: privacy.persist=false was ignored, and the
// journal was written.
func TestSettingsOfTheCommandLine(t *testing.T) {
	for set, want := range map[string]string{
		"agentvoice.privacy.persist=false": "",
		"privacy.persist=false":            "",
		"Privacy.Persist=false":            "",
		"privacy.persit=false":             "unknown setting privacy.persit; did you mean agentvoice.privacy.persist?",
		"persit=false":                     "unknown setting persit; did you mean agentvoice.privacy.persist?",
		"agentvoice.vioce.rate=2":          "unknown setting agentvoice.vioce.rate; did you mean agentvoice.voice.rate?",
		"cues.what=1":                      "unknown setting cues.what; did you mean agentvoice.cues.",
		"persist=false":                    "unknown setting persist; did you mean agentvoice.privacy.persist?",
		"warp=9":                           "unknown setting warp; see",
		"=9":                               "unknown setting ; see",
		"privacy.persist":                  "--set privacy.persist: use name=value",
		"privacy.persist=maybe":            "setting agentvoice.privacy.persist has the wrong type; allowed: true, false",
	} {
		f := sharedFlags{settings: []string{set}}
		s, err := f.parse(protocol.DefaultSettings())
		switch {
		case want == "" && (err != nil || s.Privacy.Persist):
			t.Errorf("--set %s: persists: %v, %v", set, s.Privacy.Persist, err)
		case want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)):
			t.Errorf("--set %s: %v, want %s", set, err, want)
		}
	}
}

// Settings are refused before a device is opened: those here do not exist.
func TestSettingsAreRefusedBeforeDevices(t *testing.T) {
	for _, c := range []struct{ command, set, want string }{
		{"talk", "privacy.persit=false", "unknown setting privacy.persit; did you mean agentvoice.privacy.persist?"},
		{"doctor", "privacy.persit=false", "unknown setting privacy.persit; did you mean agentvoice.privacy.persist?"},
		{"talk", "privacy.persist=maybe", "setting agentvoice.privacy.persist has the wrong type; allowed: true, false"},
		{"talk", "privacy.persist=false", "--journal writes the conversation to disk, which agentvoice.privacy.persist forbids; remove --journal or change the setting"},
	} {
		folder := filepath.Join(t.TempDir(), "new")
		_, err := printed(t, "", c.command, "--set", c.set, "--journal", folder, "--audio-in", "no such microphone", "--audio-out", "no such speaker")
		if err == nil || err.Error() != c.want {
			t.Errorf("%s --set %s: %v, want %s", c.command, c.set, err, c.want)
		}
		if _, err := os.Stat(folder); err == nil {
			t.Errorf("%s --set %s: a journal was begun", c.command, c.set)
		}
	}
}

func TestJournalsAreListed(t *testing.T) {
	folder := t.TempDir()
	header := func(content, started, part string) string {
		return `{"journal":3,"build":"b","core":"c","content":"` + content + `","started":"` + started + `","speed":1` + part + "}\n"
	}
	for name, text := range map[string]string{
		"talk.jsonl":   header("full", "2026-11-24T08:00:00Z", ""),
		"talk.1.jsonl": header("full", "2026-11-24T08:00:00Z", `,"part":1`),
		"old.jsonl":    header("redacted", "2026-11-20T08:00:00Z", ""),
		"other.jsonl":  "something else\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text, err := printed(t, "", "journals", "list", folder)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) != 4 { // including the header
		t.Fatalf("want three journals, seen:\n%s", text)
	}
	for _, want := range []string{"talk.jsonl and 1 more", "old.jsonl", "not a journal file"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for _, line := range lines {
		if strings.Contains(line, "talk.jsonl") != strings.Contains(line, " yes ") {
			t.Errorf("only talk.jsonl holds words: %s", line)
		}
	}
	if text, err := printed(t, "", "journals", "list", filepath.Join(folder, "none")); err == nil {
		t.Errorf("a folder that is not there: %q", text)
	}
	if text, err := printed(t, "", "journals", "list", t.TempDir()); err != nil || !strings.HasPrefix(text, "no journals") {
		t.Errorf("an empty folder: %q, %v", text, err)
	}
}
