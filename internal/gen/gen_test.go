package main

import (
	"bytes"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/protocol"
)

func inRoot(t *testing.T) { t.Chdir(filepath.Join("..", "..")) }

//test:documents
func TestGeneratedFilesAreFresh(t *testing.T) {
	inRoot(t)
	if err := run(true, io.Discard); err != nil {
		t.Fatal(err)
	}
}

// Changed and missing files are detected, named and rewritten.
func TestStaleFilesAreFound(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := run(false, io.Discard); err == nil {
		t.Error("it ran outside the module")
	}
	if err := os.WriteFile("go.mod", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	old := files
	t.Cleanup(func() { files = old })
	files = []file{{"deep/down.txt", func() ([]byte, error) { return []byte("new"), nil }}}

	if err := run(true, io.Discard); err == nil || !strings.Contains(err.Error(), "deep/down.txt") {
		t.Errorf("check of a missing file: %v", err)
	}
	var out bytes.Buffer
	if err := run(false, &out); err != nil || out.String() != "deep/down.txt\n" {
		t.Errorf("writing: %v, %q", err, out.String())
	}
	if err := run(true, io.Discard); err != nil {
		t.Errorf("check of a fresh file: %v", err)
	}
	if err := os.WriteFile("deep/down.txt", []byte("edited"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(true, io.Discard); err == nil {
		t.Error("an edited file counts as up to date")
	}
}

// The TypeScript has every name of the wire, and no any.
func TestTypeScriptIsComplete(t *testing.T) {
	inRoot(t)
	ts, err := typeScript()
	if err != nil {
		t.Fatal(err)
	}
	text := string(ts)
	want := []string{"PROTOCOL_VERSION = '" + protocol.Version + "'", "copilotRequestId: string | null;", "input: unknown;"}
	for _, m := range protocol.Messages {
		want = append(want, "'"+m.Method+"'")
	}
	for _, e := range protocol.Enums {
		want = append(want, "export type "+e.Type.Name()+" =")
		for _, v := range e.Values {
			want = append(want, "'"+v+"'")
		}
	}
	for _, row := range protocol.SettingsTable {
		want = append(want, "name: '"+row.Name+"'")
	}
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("missing: %s", w)
		}
	}
	if strings.Contains(text, ": any") || strings.Contains(text, "<any") {
		t.Error("it uses any")
	}
}

func TestConstantNames(t *testing.T) {
	for in, want := range map[string]string{
		"State": "STATES", "TurnEvent": "TURN_EVENTS", "Severity": "SEVERITIES", "ToolStatus": "TOOL_STATUSES",
	} {
		if got := constantName(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

// Each message and each type has its own definition, and all references resolve.
func TestSchemaIsComplete(t *testing.T) {
	inRoot(t)
	s, err := buildSchema(false)
	if err != nil {
		t.Fatal(err)
	}
	for name, def := range s.Definitions {
		if def == nil {
			t.Errorf("%s is not defined", name)
		}
	}
	for _, m := range protocol.Messages {
		suffixes := []string{"Request", "Response"}
		if m.Notification {
			suffixes = []string{"Notification"}
		}
		for _, suffix := range suffixes {
			if s.Definitions[pascal(m.Method)+suffix] == nil {
				t.Errorf("%s has no %s; found %q", m.Method, suffix, slices.Sorted(maps.Keys(s.Definitions)))
			}
		}
	}
}
