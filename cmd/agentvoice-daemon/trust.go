package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/copilot/acp"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/internal/assets"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
)

// maxTrusted limits the remembered folders; the oldest are forgotten.
const maxTrusted = 1000

// trust makes sure that the user lets a coding agent work in the current folder, with what is in
// it: by --trust, by an earlier answer, or by an answer on in. Other assistants do not act by
// themselves. file remembers the answers.
func (f *talkFlags) trust(ctx context.Context, file string, in io.Reader, asks bool, out io.Writer) error {
	if !actsIn(f.agent) {
		return nil
	}
	folder, err := os.Getwd()
	if err == nil {
		folder, err = filepath.EvalSymlinks(folder)
	}
	if err != nil {
		return fmt.Errorf("find the current folder: %w", err)
	}
	trusted := readTrusted(file)
	if slices.Contains(trusted, folder) {
		return nil
	}
	if !f.trusted {
		if !asks {
			return misuse{fmt.Errorf("--agent %s: it would work in %s, which you have not trusted yet; add --trust", f.agent, folder)}
		}
		yes, err := askYes(ctx, in, out, fmt.Sprintf("%s would read, change and run what is in %s. Do you trust this folder?", f.agent, folder))
		if err != nil {
			return err
		}
		if !yes {
			return fmt.Errorf("%s does not work in a folder that you do not trust; choose another folder or assistant", f.agent)
		}
	}
	return writeTrusted(file, append(trusted, folder))
}

// readTrusted returns the trusted folders. A file that cannot be read has none.
func readTrusted(file string) (folders []string) {
	text, err := readNamed(file)
	if err != nil || json.Unmarshal(text, &folders) != nil {
		return nil
	}
	return folders
}

// writeTrusted replaces the file, for this user only.
func writeTrusted(file string, folders []string) error {
	text, err := json.Marshal(folders[max(0, len(folders)-maxTrusted):])
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("remember that the folder is trusted: %w", err)
	}
	next, err := os.CreateTemp(filepath.Dir(file), "trusted-*") // with mode 0600
	if err != nil {
		return fmt.Errorf("remember that the folder is trusted: %w", err)
	}
	_, err = next.Write(append(text, '\n'))
	if err = errors.Join(err, next.Close()); err == nil {
		err = os.Rename(next.Name(), file)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("remember that the folder is trusted: %w", err), os.Remove(next.Name()))
	}
	return nil
}

// askTrust is trust with the terminal and the user's file.
func (f *talkFlags) askTrust(ctx context.Context) error {
	file, err := assets.Trusted()
	if err != nil {
		return err
	}
	return f.trust(ctx, file, os.Stdin, term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stdout.Fd())), os.Stdout)
}

// readKeys passes typed lines on: what needs a click in an editor is allowed by a key here.
func readKeys(in io.Reader, answered func(allowed bool)) {
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		switch line := strings.ToLower(strings.TrimSpace(lines.Text())); {
		case isYes(line):
			answered(true)
		case line == "n" || line == "no":
			answered(false)
		}
	}
}

// homeless stands for a coding agent that has no trusted folder, so that a conversation that
// begins by the wake phrase or a typed message gets neither that agent nor another assistant.
type homeless string

// Name implements copilot.Adapter.
func (h homeless) Name() string { return string(h) }

// Title implements copilot.Titled.
func (h homeless) Title() string { return acp.Title(strings.TrimPrefix(string(h), "acp:")) }

// Send implements copilot.Adapter. It fails with noTrustedFolder, which is spoken.
func (homeless) Send(context.Context, copilot.Request, func(string)) error {
	return &copilot.Error{Code: string(csm.CodeNoTrustedFolder), Message: daemon.ErrNoTrustedFolder.Error()}
}
