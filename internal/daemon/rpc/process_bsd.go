//go:build unix && !linux

package rpc

import (
	"context"
	"time"
)

// awaitProcess returns nil when the process has ended, or an error when ctx is done.
func awaitProcess(ctx context.Context, pid int) error {
	return pollProcess(ctx, pid, time.Second)
}
