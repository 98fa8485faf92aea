package offline

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

const noGit = "This folder is not in a git repository that I can read."

// git runs a git command that only reads, without programs that the repository's
// configuration names.
func (a *Adapter) git(ctx context.Context, args ...string) (lines []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	safe := []string{"--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull, "-c", "log.showSignature=false"}
	cmd := exec.CommandContext(ctx, "git", append(safe, args...)...)
	cmd.Dir = a.opts.Dir
	cmd.Env = append(os.Environ(), "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C")
	out, err := cmd.Output()
	if text := strings.TrimRight(string(out), "\n"); text != "" {
		lines = strings.Split(text, "\n")
	}
	return lines, err
}

func (a *Adapter) lastCommit(ctx context.Context) string {
	if a.opts.Dir == "" {
		return noFolder
	}
	lines, err := a.git(ctx, "log", "-1", "--format=%s%n%an%n%ar")
	if err != nil {
		return noGit
	}
	return fmt.Sprintf("The last commit is “%s”, by %s, %s.", said(lines[0]), said(lines[1]), lines[2])
}

func (a *Adapter) changes(ctx context.Context) string {
	if a.opts.Dir == "" {
		return noFolder
	}
	lines, err := a.git(ctx, "status", "--porcelain")
	if err != nil {
		return noGit
	}
	var names []string
	for _, line := range lines {
		_, path, renamed := strings.Cut(line, " -> ")
		if !renamed {
			_, path, _ = strings.Cut(strings.TrimSpace(line), " ") // behind the status
		}
		names = append(names, "`"+strings.TrimSpace(strings.ReplaceAll(path, "`", ""))+"`")
	}
	if len(names) == 0 {
		return "Everything is committed."
	}
	if more := len(names) - maxNamed; more > 0 {
		names = append(names[:maxNamed], fmt.Sprintf("and %d more", more))
	}
	return fmt.Sprintf("%s not committed: %s.", map[bool]string{true: "One change is", false: count(len(lines), "change") + " are"}[len(lines) == 1], strings.Join(names, ", "))
}
