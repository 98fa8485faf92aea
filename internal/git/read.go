package git

import (
	"context"
	"strconv"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/internal/workspace"
)

// Branch returns the name of the current branch, "" if the head is detached.
func (r *Repository) Branch() string {
	name, ok := strings.CutPrefix(r.head, "ref: refs/heads/")
	if !ok {
		return ""
	}
	return workspace.Shown(name)
}

// Branches returns the names of up to limit branches, the one with the latest commit first.
func (r *Repository) Branches(ctx context.Context, limit int) ([]string, error) {
	out, _, err := r.read(ctx, "for-each-ref", "--sort=-committerdate", "--count="+strconv.Itoa(limit), "--format=%(refname:lstrip=2)", "refs/heads")
	return strings.Fields(string(out)), err
}

// Files returns the files of the folder that git does not ignore, with slashes, relative to the
// folder; not all of them if there are very many. Names that do not show as they are are left out.
func (r *Repository) Files(ctx context.Context) ([]string, error) {
	out, _, err := r.read(ctx, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	if err != nil {
		return nil, err
	}
	return listed(string(out)), nil
}

// listed parses names that each end with a 0. After the last one is nothing, or a part of a name.
func listed(out string) (files []string) {
	names := strings.Split(out, "\x00")
	for _, name := range names[:len(names)-1] {
		if name != "" && workspace.Shows(name) {
			files = append(files, name)
		}
	}
	return files
}

// Changes returns the files that differ from the last commit, with the characters of their
// names that show.
func (r *Repository) Changes(ctx context.Context) ([]string, error) {
	out, _, err := r.read(ctx, "status", "--porcelain=v1", "-z", "--ignore-submodules=all", "--untracked-files=normal")
	if err != nil {
		return nil, err
	}
	return changed(string(out)), nil
}

// changed parses the output of git status --porcelain -z.
func changed(out string) (files []string) {
	entries := strings.Split(out, "\x00")
	for i := 0; i < len(entries)-1; i++ {
		state, name := entries[i][:min(2, len(entries[i]))], entries[i][min(3, len(entries[i])):]
		if strings.ContainsAny(state, "RC") {
			i++ // the next entry is the earlier name
		}
		files = append(files, workspace.Shown(name))
	}
	return files
}

// Commit describes a commit.
type Commit struct{ Subject, Author, Age string }

// LastCommit returns the commit of the head.
func (r *Repository) LastCommit(ctx context.Context) (Commit, error) {
	out, _, err := r.read(ctx, "log", "-1", "--no-color", "--no-show-signature", "--no-ext-diff", "--no-textconv", "--format=%s%x00%an%x00%ar", "HEAD")
	if err != nil {
		return Commit{}, err
	}
	fields := strings.Split(strings.TrimRight(string(out), "\n"), "\x00")
	if len(fields) != 3 {
		return Commit{}, ErrNone
	}
	return Commit{workspace.Shown(fields[0]), workspace.Shown(fields[1]), fields[2]}, nil
}
