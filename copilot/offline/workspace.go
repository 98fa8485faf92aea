package offline

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const (
	noFolder   = "I do not know which folder you work in: I was started without one."
	cannotRead = "I cannot read this folder."
)

func (a *Adapter) folder(context.Context) string {
	name := ""
	if dir, err := filepath.Abs(a.opts.Dir); err == nil && a.opts.Dir != "" {
		name = filepath.Base(dir)
	}
	if name == "" {
		return noFolder
	}
	return "We are in the folder `" + strings.ReplaceAll(name, "`", "") + "`."
}

// maxNamed is how many entries of the folder are named, about ten seconds of speech.
const maxNamed = 8

func (a *Adapter) contents(context.Context) string {
	if a.opts.Dir == "" {
		return noFolder
	}
	entries, err := os.ReadDir(a.opts.Dir)
	if err != nil {
		return cannotRead
	}
	var names []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") { // hidden
			names = append(names, "`"+strings.ReplaceAll(e.Name(), "`", "")+"`")
		}
	}
	if len(names) == 0 {
		return "This folder is empty, or has only hidden files."
	}
	if more := len(names) - maxNamed; more > 0 {
		names = append(names[:maxNamed], fmt.Sprintf("and %d more", more))
	}
	return "This folder contains " + strings.Join(names, ", ") + "."
}

func (a *Adapter) branch(context.Context) string {
	if a.opts.Dir == "" {
		return noFolder
	}
	head, err := gitHead(a.opts.Dir)
	switch {
	case err != nil:
		return noGit
	case strings.HasPrefix(head, "ref: refs/heads/"):
		return "You are on the branch `" + strings.ReplaceAll(strings.TrimPrefix(head, "ref: refs/heads/"), "`", "") + "`."
	}
	return "You are on no branch: the head is detached."
}

// gitHead reads the HEAD of the repository that contains dir. A .git file names the
// folder, for worktrees and submodules (gitrepository-layout(5)).
func gitHead(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for {
		git := filepath.Join(dir, ".git")
		if info, err := os.Stat(git); err == nil {
			if !info.IsDir() {
				link, err := firstLine(git)
				if err != nil {
					return "", err
				}
				git = strings.TrimPrefix(link, "gitdir: ")
				if !filepath.IsAbs(git) {
					git = filepath.Join(dir, git)
				}
			}
			return firstLine(filepath.Join(git, "HEAD"))
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", fs.ErrNotExist
		}
		dir = parent
	}
}

func firstLine(path string) (string, error) {
	var line string
	err := eachLine(path, func(s string) bool {
		line = strings.TrimSpace(s)
		return false
	})
	return line, err
}

// eachLine calls f for each line of a small file until f returns false.
func eachLine(path string, f func(line string) bool) error {
	const maxBytes = 64 << 10
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	lines := bufio.NewScanner(io.LimitReader(file, maxBytes))
	for lines.Scan() {
		if !f(lines.Text()) {
			return nil
		}
	}
	return lines.Err()
}

func (a *Adapter) goVersion(context.Context) string {
	if a.opts.Dir == "" {
		return noFolder
	}
	version := ""
	err := eachLine(filepath.Join(a.opts.Dir, "go.mod"), func(line string) bool {
		if words := strings.Fields(line); len(words) >= 2 && words[0] == "go" {
			version = words[1]
		}
		return version == ""
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "There is no go.mod in this folder, so it is not the top of a Go module."
	case version == "":
		return "The go.mod of this folder does not say which version of Go it wants."
	}
	return "This module asks for Go " + version + "."
}

// maxFiles bounds the count, so that the user does not wait.
const maxFiles = 50_000

// skipped folders are not counted.
var skipped = map[string]bool{".git": true, "node_modules": true}

func (a *Adapter) files(ctx context.Context) string {
	if a.opts.Dir == "" {
		return noFolder
	}
	n := 0
	err := filepath.WalkDir(a.opts.Dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil || n > maxFiles:
			return fs.SkipAll
		case err != nil && path == a.opts.Dir:
			return err
		case err != nil:
			return nil // skip unreadable folders
		case d.IsDir() && skipped[d.Name()]:
			return fs.SkipDir
		case d.Type().IsRegular():
			n++
		}
		return nil
	})
	switch {
	case err != nil:
		return cannotRead
	case n > maxFiles:
		return "There are more files in this folder than I want to count: over fifty thousand."
	case n == 1:
		return "There is one file in this folder."
	}
	return "There are " + count(n, "file") + " in this folder and below, without those of git and of node modules."
}
