package daemon

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// TestAgentNeedsATrustedFolder: an assistant that acts works in a folder that was given and is
// trusted, or not at all.
func TestAgentNeedsATrustedFolder(t *testing.T) {
	root := t.TempDir()
	a, b := filepath.Join(root, "a"), filepath.Join(root, "b")
	yes := func(path string) protocol.WorkspaceFolder { return protocol.WorkspaceFolder{Path: path, Trusted: true} }
	no := func(path string) protocol.WorkspaceFolder { return protocol.WorkspaceFolder{Path: path} }
	for name, c := range map[string]struct {
		open   *protocol.Workspace
		wanted string
		folder string // in which it works; "" if it may not
	}{
		"nothing was said":            {nil, "", ""},
		"nothing is open":             {&protocol.Workspace{}, "", ""},
		"one, trusted":                {&protocol.Workspace{Folders: []protocol.WorkspaceFolder{yes(a)}}, "", a},
		"one, not trusted":            {&protocol.Workspace{Folders: []protocol.WorkspaceFolder{no(a)}}, "", ""},
		"the first of two":            {&protocol.Workspace{Folders: []protocol.WorkspaceFolder{yes(a), yes(b)}}, "", a},
		"the active one":              {&protocol.Workspace{Folders: []protocol.WorkspaceFolder{yes(a), yes(b)}, Active: b}, "", b},
		"an active one that is not":   {&protocol.Workspace{Folders: []protocol.WorkspaceFolder{yes(a)}, Active: b}, "", ""},
		"the active is not trusted":   {&protocol.Workspace{Folders: []protocol.WorkspaceFolder{yes(a), no(b)}, Active: b}, "", ""},
		"the one of the request":      {&protocol.Workspace{Folders: []protocol.WorkspaceFolder{yes(a), yes(b)}, Active: b}, a, a},
		"of the request, not open":    {&protocol.Workspace{Folders: []protocol.WorkspaceFolder{yes(a)}}, b, ""},
		"of the request, above it":    {&protocol.Workspace{Folders: []protocol.WorkspaceFolder{yes(a)}}, root, ""},
		"of the request, no trust":    {&protocol.Workspace{Folders: []protocol.WorkspaceFolder{yes(a), no(b)}}, b, ""},
		"of the request, not clean":   {&protocol.Workspace{Folders: []protocol.WorkspaceFolder{yes(a)}}, filepath.Join(a, "x") + "/..", a},
		"a path that is not absolute": {&protocol.Workspace{Folders: []protocol.WorkspaceFolder{yes("a")}}, "", ""},
	} {
		d := New(Config{
			Clock: &dispatch.Virtual{}, Settings: protocol.DefaultSettings(), World: func(Port) World { return idle{} },
			Acts: func(protocol.Settings, bool) bool { return true },
		})
		d.OpenWorkspace(c.open)
		err := d.ChooseFolder(c.wanted)
		if got, _ := d.trustedFolder(); got != c.folder || errors.Is(err, ErrNoTrustedFolder) != (c.folder == "") {
			t.Errorf("%s: it works in %q (%v), want %q", name, got, err, c.folder)
		}
	}
}

// TestOthersNeedNoFolder: an assistant that does not act answers without a folder, but not in one
// that is not open.
func TestOthersNeedNoFolder(t *testing.T) {
	d := newIdle(t, nil)
	if err := d.ChooseFolder(""); err != nil {
		t.Error(err)
	}
	if err := d.ChooseFolder(t.TempDir()); !errors.Is(err, ErrNoTrustedFolder) {
		t.Errorf("a folder that is not open: %v", err)
	}
}
