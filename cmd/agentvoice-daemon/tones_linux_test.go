//go:build cgo && !race

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio/wavio"
	"github.com/agentvoice/agentvoice-daemon/internal/testutil/speechdata"
	"github.com/agentvoice/agentvoice-daemon/internal/testutil/tonemodel"
)

// engineOf returns the id of the daemon's child process that loaded a model, or 0.
func engineOf(daemon int, model string) (pid int) {
	children, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range children {
		stat, err := os.ReadFile(file)
		if err != nil {
			continue // it has exited
		}
		_, rest, _ := strings.Cut(string(stat), ") ")
		args, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
		var state string
		var parent int
		if _, err := fmt.Sscan(rest, &state, &parent); err == nil && parent == daemon && strings.Contains(string(args), model) {
			_, _ = fmt.Sscan(string(stat), &pid)
			return pid
		}
	}
	return 0
}

// TestTalkByTones holds a conversation with tone language models in the real engine
// process. Killing the recogniser in the middle of a sentence loses nothing: a new
// process recognises the whole sentence once.
func TestTalkByTones(t *testing.T) {
	dir := t.TempDir()
	models, recording := filepath.Join(dir, "models"), filepath.Join(dir, "recording.wav")
	human, err := speechdata.Person()
	if err != nil {
		t.Fatal(err)
	}
	pcm := tonemodel.Talk(human, 4, "why does the test fail")
	err = errors.Join(os.Mkdir(models, 0o755), tonemodel.StreamingCTC(filepath.Join(models, "streaming")), tonemodel.TDT(filepath.Join(models, "tdt")),
		wavio.WriteMono(recording, tonemodel.SampleRate, pcm))
	if err != nil {
		t.Fatal(err)
	}
	self, err := exec.LookPath("agentvoice-daemon")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, self, "talk", "--audio-in", "wav:"+recording, "--audio-out", "null")
	cmd.Env = append(os.Environ(), "AGENTVOICE_MODELS="+models)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var said, all []string
	var killed, next int
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		all = append(all, lines.Text())
		if strings.Contains(lines.Text(), "● Listening") && killed == 0 {
			time.Sleep(4500 * time.Millisecond) // the lead-in and two seconds of the sentence
			if killed = engineOf(cmd.Process.Pid, "streaming"); killed == 0 {
				t.Error("the recogniser has no process")
				continue
			}
			p, err := os.FindProcess(killed)
			if err := errors.Join(err, p.Kill()); err != nil {
				t.Error(err)
			}
		}
		if _, words, ok := strings.Cut(lines.Text(), "you: "); ok {
			said = append(said, words)
			next = engineOf(cmd.Process.Pid, "streaming")
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if len(said) != 1 || said[0] != "why does the test fail" || next == 0 || next == killed {
		t.Errorf("understood %q by process %d after %d:\n%s", said, next, killed, strings.Join(all, "\n"))
	}
}
