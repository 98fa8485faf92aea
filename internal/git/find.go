package git

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/internal/workspace"
)

// ErrNone means that a folder is in no repository that can be read.
var ErrNone = errors.New("not in a git repository that can be read")

// maxSmall limits the files of one line, in bytes.
const maxSmall = 4 << 10

// Repository is the repository that contains a folder.
type Repository struct {
	dir    string            // the folder that was asked about
	top    string            // of the work tree
	own    *workspace.Folder // the git folder of this work tree
	common *workspace.Folder // what its worktrees share; may be own
	head   string
}

// Find returns the repository that contains a folder.
func Find(ctx context.Context, dir string) (*Repository, error) {
	folder, err := workspace.Open(dir)
	if err != nil {
		return nil, err
	}
	folder.Close()
	for top := folder.Path(); ; top = filepath.Dir(top) {
		r, err := at(ctx, top)
		if err == nil {
			r.dir = folder.Path()
			return r, nil
		}
		if !errors.Is(err, errNext) {
			return nil, err
		}
		if top == filepath.Dir(top) {
			return nil, ErrNone
		}
	}
}

// noHead is in the file HEAD of a repository whose head is elsewhere (reftable).
const noHead = "ref: refs/heads/.invalid"

// errNext means that a folder is not the top of a work tree.
var errNext = errors.New("no .git")

// at returns the repository whose work tree has this top.
func at(ctx context.Context, top string) (*Repository, error) {
	folder, err := workspace.Open(top)
	if err != nil {
		return nil, errNext
	}
	defer folder.Close()
	info, err := folder.Lstat(".git")
	if err != nil {
		return nil, errNext
	}
	r := &Repository{top: top}
	switch {
	case info.IsDir():
		r.own, err = workspace.Open(filepath.Join(top, ".git"))
	case info.Mode().IsRegular():
		r.own, err = linked(ctx, folder)
	default:
		return nil, ErrNone
	}
	if err != nil {
		return nil, ErrNone
	}
	if r.head, err = line(r.own, "HEAD"); r.head == noHead {
		err = ErrNone // the branches are not in files
	}
	if err == nil {
		r.common, err = shared(r.own)
	}
	if err != nil {
		r.own.Close()
		return nil, ErrNone
	}
	return r, nil
}

// Close closes the repository.
func (r *Repository) Close() {
	r.own.Close()
	if r.common != r.own {
		r.common.Close()
	}
}

// linked opens the git folder that the file .git of a work tree names.
func linked(ctx context.Context, top *workspace.Folder) (*workspace.Folder, error) {
	text, err := line(top, ".git")
	if err != nil {
		return nil, err
	}
	to, ok := strings.CutPrefix(text, "gitdir:")
	if !ok {
		return nil, ErrNone
	}
	own, err := workspace.Open(from(top.Path(), strings.TrimSpace(to)))
	if err != nil {
		return nil, err
	}
	if within(top.Path(), own.Path()) || pointsBack(ctx, own, top.Path()) {
		return own, nil
	}
	own.Close()
	return nil, ErrNone
}

// pointsBack reports whether a git folder belongs to a work tree: git writes the path of the
// work tree to the git folder of a worktree and of a submodule.
func pointsBack(ctx context.Context, own *workspace.Folder, top string) bool {
	if file, err := line(own, "gitdir"); err == nil {
		return filepath.Base(file) == ".git" && same(filepath.Dir(from(own.Path(), file)), top)
	}
	values, err := settingsOf(ctx, own)
	if err != nil {
		return false
	}
	tree := values["core.worktree"]
	return tree != "" && same(from(own.Path(), tree), top)
}

// shared opens the folder that the worktrees of a repository share. The git folder of a
// worktree is always in its folder "worktrees".
func shared(own *workspace.Folder) (*workspace.Folder, error) {
	to, err := line(own, "commondir")
	if err != nil {
		return own, nil // not a worktree
	}
	common, err := workspace.Open(from(own.Path(), to))
	if err != nil {
		return nil, err
	}
	if filepath.Dir(own.Path()) != filepath.Join(common.Path(), "worktrees") {
		common.Close()
		return nil, ErrNone
	}
	return common, nil
}

// line returns the first line of a small file.
func line(f *workspace.Folder, name string) (string, error) {
	text, err := f.Read(name, maxSmall)
	if err != nil {
		return "", err
	}
	first, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimSpace(first), nil
}

// from returns a path that may be relative to a folder.
func from(dir, path string) string {
	if path = filepath.FromSlash(path); filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// within reports whether a path is below a folder; both have no links.
func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// same reports whether a path leads to a folder, which has no links.
func same(path, dir string) bool {
	target, err := filepath.EvalSymlinks(path)
	return err == nil && target == dir
}
