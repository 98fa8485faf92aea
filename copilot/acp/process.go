package acp

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentvoice/agentvoice-daemon/internal/procgroup"
)

// process is a running agent process with its standard input and output.
type process struct {
	io.Reader
	io.WriteCloser
	end func() // terminates it and every process that it started
}

// endGrace is how long an agent may take to exit by itself.
const endGrace = time.Second

// startProcess starts a command in a directory, as the leader of its own process group.
// Its environment lacks the withheld variables. It discards standard error, which may contain
// private text.
func startProcess(command []string, dir string, withheld []string) (*process, error) {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir = dir
	cmd.Env = slices.DeleteFunc(os.Environ(), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.ContainsFunc(withheld, func(w string) bool { return strings.EqualFold(w, name) })
	})
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	group, err := procgroup.Start(cmd)
	if err != nil {
		return nil, err
	}
	p := &process{Reader: out, WriteCloser: in}
	ended, cleaned := make(chan struct{}), make(chan struct{})
	go func() {
		_, _ = cmd.Process.Wait() // not cmd.Wait, which closes the output before it has been read
		close(ended)
		group.Close() // terminates processes that the agent left behind
		close(cleaned)
		time.AfterFunc(endGrace, func() { _ = out.Close() }) // a process outside the group may keep it open
	}()
	p.end = sync.OnceFunc(func() {
		_ = in.Close()
		group.Ask()
		select {
		case <-ended:
		case <-time.After(endGrace):
			group.Kill()
		}
		<-cleaned
		_ = out.Close()
	})
	return p, nil
}
