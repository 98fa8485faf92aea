package daemon

import (
	"cmp"
	"errors"
	"path/filepath"
	"slices"

	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// ErrNoTrustedFolder reports that a coding agent has no folder to work in.
var ErrNoTrustedFolder = errors.New("no such folder is open")

// untrusted is the name of a folder that is open and not trusted, an ErrNoTrustedFolder.
type untrusted string

func (u untrusted) Error() string { return string(u) + " is open, but not trusted" }

func (untrusted) Is(err error) bool { return err == ErrNoTrustedFolder }

// OpenWorkspace replaces what is open in the client; nil if the client has not said. It
// applies from the next conversation on.
func (d *Daemon) OpenWorkspace(w *protocol.Workspace) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.workspace = w
}

// ChooseFolder chooses the folder in which a coding agent works from the next conversation on: the
// one with this path, or the active one. It fails with ErrNoTrustedFolder if the assistant that is
// set acts in a folder and that one is not trusted, and if the path is not that of an open folder.
func (d *Daemon) ChooseFolder(path string) error {
	d.mu.Lock()
	d.folder = path
	d.mu.Unlock()
	folder, given := d.trustedFolder()
	acts := d.cfg.Acts != nil && d.cfg.Acts(d.settings(), given)
	if path == "" && !acts || folder != "" {
		return nil
	}
	if f, open := d.wantedFolder(); open {
		return untrusted(cmp.Or(f.Name, filepath.Base(f.Path)))
	}
	return ErrNoTrustedFolder
}

// wantedFolder returns the open folder that was chosen, or the active one.
func (d *Daemon) wantedFolder() (f protocol.WorkspaceFolder, open bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.workspace == nil {
		return f, false
	}
	wanted, i := cmp.Or(d.folder, d.workspace.Active), 0
	if wanted != "" {
		i = slices.IndexFunc(d.workspace.Folders, func(f protocol.WorkspaceFolder) bool { return filepath.Clean(f.Path) == filepath.Clean(wanted) })
	}
	if i < 0 || i >= len(d.workspace.Folders) {
		return f, false
	}
	return d.workspace.Folders[i], true
}

// trustedFolder returns the folder in which a coding agent may work, "" if there is none. given
// says whether the client said what is open.
func (d *Daemon) trustedFolder() (path string, given bool) {
	f, open := d.wantedFolder()
	d.mu.Lock()
	given = d.workspace != nil
	d.mu.Unlock()
	if !open || !f.Trusted || !filepath.IsAbs(f.Path) {
		return "", given
	}
	return filepath.Clean(f.Path), given
}
