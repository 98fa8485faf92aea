package models

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/agentvoice/agentvoice-daemon/internal/procgroup"
)

// pips are the names of Python's package installer, in order of preference.
var pips = [][]string{{"pip3"}, {"pip"}, {"python3", "-m", "pip"}, {"py", "-m", "pip"}}

// findPip returns the command that runs pip, nil if it is not installed.
func findPip(ctx context.Context) []string {
	for _, command := range pips {
		if path, err := exec.LookPath(command[0]); err == nil {
			// Python can be there without pip.
			if procgroup.Run(ctx, exec.Command(path, append(command[1:], "--version")...)) == nil {
				return append([]string{path}, command[1:]...)
			}
		}
	}
	return nil
}

// pip downloads a package with pip, so that its settings for proxies and mirrors hold. An
// earlier download that is complete is used.
func (s *Store) pip(ctx context.Context, p Package, archive string) error {
	if sum, err := sumOf(archive); err == nil && sum == p.SHA256 {
		return nil
	}
	command := findPip(ctx)
	if command == nil {
		return fmt.Errorf("the speech engine comes by pip, which is not installed; install Python's pip and run the command again, or download the wheel of %s for %s on another computer and run `agentvoice-daemon models import FILE`", p.Pip, p.Platform)
	}
	s.Report(Event{Event: Progress, Name: EngineName, File: p.Pip, Total: p.Size})
	dir := filepath.Join(filepath.Dir(archive), "wheel")
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		return localError{err}
	}
	var said bytes.Buffer
	cmd := exec.Command(command[0], append(command[1:], "download", "--quiet", "--no-input", "--no-deps", "--only-binary=:all:",
		"--disable-pip-version-check", "--platform", p.Platform, "--dest", ".", p.Pip)...)
	cmd.Dir, cmd.Stderr, cmd.WaitDelay = dir, &said, time.Second
	if err := procgroup.Run(ctx, cmd); err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("download of %s is incomplete: %w; run the command again", p.Pip, context.Cause(ctx))
		}
		return fmt.Errorf("pip cannot download %s (%s); check the network, its proxy and pip's settings, then run the command again", p.Pip, lastLine(said.String(), err))
	}
	found, err := filepath.Glob(filepath.Join(dir, "*"+wheel))
	if err != nil || len(found) != 1 {
		return fmt.Errorf("pip has downloaded %d wheels for %s; run the command again", len(found), p.Pip)
	}
	if sum, err := sumOf(found[0]); err != nil || sum != p.SHA256 {
		_ = os.Remove(found[0])
		return fmt.Errorf("the wheel of %s does not match its pinned checksum and was discarded; check pip's index, then run the command again", p.Pip)
	}
	if err := os.Rename(found[0], archive); err != nil {
		return localError{err}
	}
	return nil
}

// lastLine returns the last line of what a command said, or its error.
func lastLine(said string, err error) string {
	lines := strings.Split(strings.TrimSpace(said), "\n")
	if last := strings.TrimSpace(strings.TrimPrefix(lines[len(lines)-1], "ERROR: ")); last != "" {
		return last
	}
	return err.Error()
}
