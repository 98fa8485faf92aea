package rpc

import (
	"context"
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// awaitProcess returns nil when the process has ended, or an error when ctx is done or
// the process cannot be watched. A pidfd becomes readable when its process ends, and
// cannot refer to a later process with the same id.
func awaitProcess(ctx context.Context, pid int) error {
	fd, err := unix.PidfdOpen(pid, unix.PIDFD_NONBLOCK)
	switch {
	case errors.Is(err, unix.ESRCH):
		return nil
	case err != nil: // an old kernel, or a sandbox without the system call
		return pollProcess(ctx, pid, time.Second)
	}
	file := os.NewFile(uintptr(fd), "pidfd")
	stop := context.AfterFunc(ctx, func() { _ = file.Close() }) // unblocks the wait
	defer func() {
		if stop() {
			_ = file.Close()
		}
	}()
	raw, err := file.SyscallConn()
	if err != nil {
		return err
	}
	err = raw.Read(func(fd uintptr) bool {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		return n > 0 || err != nil && !errors.Is(err, unix.EINTR)
	})
	return errors.Join(err, ctx.Err())
}
