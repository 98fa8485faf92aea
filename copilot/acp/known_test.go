package acp

import (
	"strings"
	"testing"
)

func TestTableOfKnownAgents(t *testing.T) {
	for _, k := range Agents {
		if k.Mode != "" && !asks(k.Mode) {
			t.Errorf("%s is said to ask in its mode %s, which is not set", k.Name, k.Mode)
		}
		if k.Wider != "" && k.Mode == "" {
			t.Errorf("%s does more by %q than in no mode", k.Name, k.Wider)
		}
		if !strings.HasPrefix(k.Page, "https://") {
			t.Errorf("the page of %s is %q", k.Name, k.Page)
		}
		if c, ok := KnownAgent(" " + k.Name + " "); !ok || c.Title != k.Title || Title(k.Name) != k.Title {
			t.Errorf("%s is not found by its name", k.Name)
		}
		if how := k.HowToInstall(); !strings.Contains(how, k.Install) || k.Install == "" && !strings.Contains(how, k.Page) || !strings.Contains(how, k.Needs) {
			t.Errorf("%s: %s", k.Name, how)
		}
	}
}

func TestBrokenTableOfAgents(t *testing.T) {
	const good = `"name": "a", "title": "A", "command": ["a"], "licence": "MIT", "page": "https://a"`
	for row, want := range map[string]string{
		`{` + good + `}`:                   "",
		`{` + good + `}, {` + good + `}`:   "a twice",
		`{` + good + `, "licence": ""}`:    "needs name",
		`{` + good + `, "command": []}`:    "needs name",
		`{` + good + `, "license": "MIT"}`: "unknown field",
		`{` + good + `, "tried": {}}`:      "was tried as version",
		`{` + good + `, "tried": {"version": "1", "day": "2026-11-30", "as": "sign-in"}}`:  "",
		`{` + good + `, "tried": {"version": "1", "day": "30 November", "as": "sign-in"}}`: "30 November",
		`{` + good + `, "tried": {"version": "1", "day": "2026-11-30", "as": "seen"}}`:     "seen",
	} {
		_, err := readAgents([]byte("[" + row + "]"))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", row, err, want)
		}
	}
}

// What the packages of Codex answer to initialize tells them apart, although their programs have
// the same name.
func TestFormerAgentIsRefused(t *testing.T) {
	const info = `{"name":"codex-acp","title":"Codex","version":"0.16.0"}`
	for name, c := range map[string]struct{ command, info, says string }{
		"former":                {"codex-acp", info, "@zed-industries/codex-acp 0.16.0 is no longer maintained"},
		"former by its path":    {"/opt/bin/codex-acp", info, "@zed-industries/codex-acp 0.16.0 is no longer maintained"},
		"former without a name": {"codex-acp", "null", "@zed-industries/codex-acp is no longer maintained"},
		"present":               {"codex-acp", `{"name":"@agentclientprotocol/codex-acp","title":"Codex","version":"2.6.0"}`, ""},
		"other without a name":  {"grok", "null", ""},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				f := newFakeAgent(hello)
				f.info = c.info
				k := newTalker(t, f)
				k.a.opts.Command = c.command
				err := k.ask(t.Context(), "hi")
				if c.says == "" {
					k.want(err, "Hello.")
					return
				}
				k.wantCode(err, codeMissing)
				if !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "npm install -g @agentclientprotocol/codex-acp") {
					t.Error(err)
				}
			})
		})
	}
}
