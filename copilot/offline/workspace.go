package offline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/internal/workspace"
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
	return "We are in the folder " + quoted(workspace.Shown(name)) + "."
}

// maxNamed is how many entries of the folder are named, about ten seconds of speech.
const maxNamed = 8

// maxEntries limits the entries of a folder that are looked at, and maxDepth the folders below
// each other.
const (
	maxEntries = 50_000
	maxDepth   = 64
)

func (a *Adapter) contents(context.Context) string {
	if a.opts.Dir == "" {
		return noFolder
	}
	folder, err := workspace.Open(a.opts.Dir)
	if err != nil {
		return cannotRead
	}
	defer folder.Close()
	entries, more, err := folder.Entries(".", maxEntries)
	if err != nil {
		return cannotRead
	}
	var names []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") { // hidden
			names = append(names, quoted(workspace.Shown(e.Name())))
		}
	}
	if len(names) == 0 {
		return "This folder is empty, or has only hidden files."
	}
	switch rest := len(names) - maxNamed; {
	case more:
		names = append(names[:min(len(names), maxNamed)], "and very many more")
	case rest > 0:
		names = append(names[:maxNamed], fmt.Sprintf("and %d more", rest))
	}
	return "This folder contains " + strings.Join(names, ", ") + "."
}

// maxModule limits what is read of a go.mod, in bytes.
const maxModule = 64 << 10

func (a *Adapter) goVersion(context.Context) string {
	if a.opts.Dir == "" {
		return noFolder
	}
	version := ""
	folder, err := workspace.Open(a.opts.Dir)
	var text []byte
	if err == nil {
		defer folder.Close()
		text, err = folder.Head("go.mod", maxModule)
	}
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) >= 2 && words[0] == "go" {
			version = words[1]
			break
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "There is no go.mod in this folder, so it is not the top of a Go module."
	case version == "":
		return "The go.mod of this folder does not say which version of Go it wants."
	}
	return "This module asks for Go " + version + "."
}

// skipped folders are not counted.
var skipped = map[string]bool{".git": true, "node_modules": true}

func (a *Adapter) files(ctx context.Context) string {
	if a.opts.Dir == "" {
		return noFolder
	}
	folder, err := workspace.Open(a.opts.Dir)
	if err != nil {
		return cannotRead
	}
	defer folder.Close()
	n := 0
	err = folder.Walk(ctx, ".", workspace.Limits{Entries: maxEntries, Depth: maxDepth}, func(_ string, d fs.DirEntry) error {
		switch {
		case d.IsDir() && skipped[d.Name()]:
			return fs.SkipDir
		case !d.IsDir():
			n++
		}
		return nil
	})
	switch {
	case errors.Is(err, workspace.ErrTooMany):
		return "There are more files in this folder than I want to count: over fifty thousand files and folders."
	case err != nil:
		return cannotRead
	case n == 1:
		return "There is one file in this folder."
	}
	return "There are " + count(n, "file") + " in this folder and below, without those of git and of node modules."
}
