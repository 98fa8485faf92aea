package rpc

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sys/windows"
)

// awaitProcess returns nil when the process has ended, or an error when ctx is done or
// the process cannot be watched.
func awaitProcess(ctx context.Context, pid int) error {
	process, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid))
	if errors.Is(err, windows.ERROR_INVALID_PARAMETER) {
		return nil // no process has this id
	}
	if err != nil {
		return fmt.Errorf("open the process: %w", err)
	}
	defer windows.CloseHandle(process) //nolint:errcheck // it was only waited for
	cancelled, err := windows.CreateEvent(nil, 1, 0, nil)
	if err != nil {
		return fmt.Errorf("make an event: %w", err)
	}
	defer windows.CloseHandle(cancelled) //nolint:errcheck // it was only waited for
	told := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		_ = windows.SetEvent(cancelled)
		close(told)
	})
	which, err := windows.WaitForMultipleObjects([]windows.Handle{process, cancelled}, false, windows.INFINITE)
	if !stop() {
		<-told // before the event is closed
	}
	switch {
	case err != nil:
		return fmt.Errorf("wait for the process: %w", err)
	case which == windows.WAIT_OBJECT_0:
		return nil
	default:
		return ctx.Err()
	}
}
