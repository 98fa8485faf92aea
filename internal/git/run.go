package git

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/agentvoice/agentvoice-daemon/internal/procgroup"
)

// Limits of a command.
const (
	timeLimit   = 5 * time.Second
	outputLimit = 8 << 20
	allocLimit  = "256m" // of one piece of memory, so of one object
)

// command is a git command.
type command struct {
	args []string
	in   string
	dir  string
	env  []string
}

// run runs a git command, and returns its output. more reports whether it has more output than
// the limit.
func run(ctx context.Context, c command) (out []byte, more bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeLimit)
	defer cancel()
	cmd := exec.Command("git", append([]string{"--no-pager", "--literal-pathspecs"}, c.args...)...)
	cmd.Dir, cmd.Env, cmd.Stdin = c.dir, append(clean(os.Environ()), c.env...), strings.NewReader(c.in)
	w := &limited{full: cancel}
	cmd.Stdout = w
	cmd.WaitDelay = time.Second
	err = procgroup.Run(ctx, cmd)
	if w.more {
		return w.text.Bytes(), true, nil
	}
	return w.text.Bytes(), false, err
}

// limited keeps output up to its limit, and then ends the command.
type limited struct {
	text bytes.Buffer
	more bool
	full func()
}

func (w *limited) Write(p []byte) (int, error) {
	n := len(p)
	if left := outputLimit - w.text.Len(); n > left {
		p, w.more = p[:left], true
		w.full()
	}
	_, _ = w.text.Write(p)
	return n, nil
}

// clean removes the variables that direct git or name programs for it, and sets those that
// keep it from asking, fetching, locking and translating.
func clean(env []string) []string {
	out := make([]string, 0, len(env)+16)
	for _, entry := range env {
		name, _, _ := strings.Cut(entry, "=")
		switch name = strings.ToUpper(name); {
		case strings.HasPrefix(name, "GIT_"), name == "PAGER", name == "EDITOR", name == "VISUAL", name == "SSH_ASKPASS", name == "LC_ALL":
		default:
			out = append(out, entry)
		}
	}
	return append(out, "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=", "GIT_NO_LAZY_FETCH=1", "GIT_NO_REPLACE_OBJECTS=1",
		"GIT_ALLOW_PROTOCOL=none", "GIT_ATTR_NOSYSTEM=1", "GIT_PAGER=cat", "GIT_EDITOR=:", "GIT_ALLOC_LIMIT="+allocLimit, "LC_ALL=C")
}

// read runs a git command on the repository.
func (r *Repository) read(ctx context.Context, args ...string) (out []byte, more bool, err error) {
	dir, err := r.separate(ctx)
	if err != nil {
		return nil, false, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	guards := []string{"-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + filepath.Join(dir, "hooks"), "-c", "safe.bareRepository=explicit",
		"-c", "submodule.recurse=false", "-c", "diff.ignoreSubmodules=all", "-c", "log.showSignature=false", "-c", "credential.helper=", "-c", "color.ui=false"}
	return run(ctx, command{args: append(guards, args...), dir: r.dir, env: []string{
		"GIT_DIR=" + dir, "GIT_WORK_TREE=" + r.top, "GIT_INDEX_FILE=" + filepath.Join(r.own.Path(), "index"),
		"GIT_OBJECT_DIRECTORY=" + filepath.Join(r.common.Path(), "objects"),
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + filepath.Join(dir, "none"),
	}})
}
