//go:build unix

package rpc

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// pollProcess polls whether a process exists. Another user's process exists even if it
// cannot be signalled.
func pollProcess(ctx context.Context, pid int, every time.Duration) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		if err := unix.Kill(pid, 0); errors.Is(err, unix.ESRCH) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}
