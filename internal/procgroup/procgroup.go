// Package procgroup starts commands that end with all that they started: an agent's helpers,
// the programs that a test runner runs. On Unix these are a process group, on Windows a job.
package procgroup

import (
	"context"
	"os/exec"
)

// Start starts a command as the first of a group. Close the group once the command has ended.
func Start(cmd *exec.Cmd) (*Group, error) {
	g := newGroup(cmd)
	if err := cmd.Start(); err != nil {
		g.free()
		return nil, err
	}
	g.started()
	return g, nil
}

// Close ends what is left of the group.
func (g *Group) Close() {
	g.Kill()
	g.free()
}

// Run starts a command, waits for it as exec.Cmd.Run does, and ends what is left of its group.
// If ctx ends first, the whole group is killed.
func Run(ctx context.Context, cmd *exec.Cmd) error {
	g, err := Start(cmd)
	if err != nil {
		return err
	}
	defer g.Close()
	defer context.AfterFunc(ctx, g.Kill)()
	return cmd.Wait()
}
