package offline

import (
	"context"
	"fmt"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/internal/git"
)

const noGit = "This folder is not in a git repository that I can read."

// repository calls answer with the repository of the folder, and returns its answer.
func (a *Adapter) repository(ctx context.Context, answer func(*git.Repository) (string, error)) string {
	if a.opts.Dir == "" {
		return noFolder
	}
	r, err := git.Find(ctx, a.opts.Dir)
	if err != nil {
		return noGit
	}
	defer r.Close()
	text, err := answer(r)
	if err != nil {
		return noGit
	}
	return text
}

func (a *Adapter) branch(ctx context.Context) string {
	return a.repository(ctx, func(r *git.Repository) (string, error) {
		name := r.Branch()
		if name == "" {
			return "You are on no branch: the head is detached.", nil
		}
		return "You are on the branch " + quoted(name) + ".", nil
	})
}

func (a *Adapter) lastCommit(ctx context.Context) string {
	return a.repository(ctx, func(r *git.Repository) (string, error) {
		c, err := r.LastCommit(ctx)
		return fmt.Sprintf("The last commit is “%s”, by %s, %s.", said(c.Subject), said(c.Author), c.Age), err
	})
}

func (a *Adapter) changes(ctx context.Context) string {
	return a.repository(ctx, func(r *git.Repository) (string, error) {
		names, err := r.Changes(ctx)
		if err != nil || len(names) == 0 {
			return "Everything is committed.", err
		}
		all := len(names)
		for i, name := range names {
			names[i] = quoted(name)
		}
		if more := all - maxNamed; more > 0 {
			names = append(names[:maxNamed], fmt.Sprintf("and %d more", more))
		}
		return fmt.Sprintf("%s not committed: %s.", map[bool]string{true: "One change is", false: count(all, "change") + " are"}[all == 1], strings.Join(names, ", ")), nil
	})
}

// quoted returns a name as code.
func quoted(name string) string { return "`" + strings.ReplaceAll(name, "`", "") + "`" }
