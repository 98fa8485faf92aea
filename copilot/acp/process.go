package acp

import (
	"errors"
	"io"
	"os/exec"
	"sync"
	"time"
)

// process is the agent's process with its standard input and output.
type process struct {
	io.Reader
	io.WriteCloser
	end func() // ends it with every process that it started
}

// endGrace is how long an agent may take to end by itself.
const endGrace = time.Second

// startProcess starts a command in a folder, as the first of a group of processes of
// its own. What it writes to standard error is dropped: it may hold anything.
func startProcess(command []string, dir string) (*process, error) {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir = dir
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	group := newGroup(cmd)
	if err := cmd.Start(); err != nil {
		group.close()
		return nil, err
	}
	group.started()
	p := &process{Reader: out, WriteCloser: in}
	ended, cleaned := make(chan struct{}), make(chan struct{})
	go func() {
		_, _ = cmd.Process.Wait() // and not cmd.Wait, which closes the output before it is read
		close(ended)
		group.kill() // what the agent left behind
		group.close()
		close(cleaned)
		time.AfterFunc(endGrace, func() { _ = out.Close() }) // a process outside of the group may hold it
	}()
	p.end = sync.OnceFunc(func() {
		_ = in.Close()
		group.ask()
		select {
		case <-ended:
		case <-time.After(endGrace):
			group.kill()
		}
		<-cleaned
		_ = out.Close()
	})
	return p, nil
}
