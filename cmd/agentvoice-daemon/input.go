package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// maxInput limits a file that the command line names, in bytes: settings, a key, a manifest.
const maxInput = 16 << 20

// errStopped is why a command that was stopped does not finish.
var errStopped = errors.New("stopped; nothing was changed")

// stoppable returns what f returns, or errStopped once ctx is done: f may wait for a terminal, the
// other end of a pipe or a device, and nothing can end that.
func stoppable[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := f()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, errStopped
	}
}

// askYes prints a question, and reports whether the answer on in is a yes. The end of in is a no.
func askYes(ctx context.Context, in io.Reader, out io.Writer, question string) (bool, error) {
	_, _ = fmt.Fprint(out, question+" [y/N] ")
	answer, err := stoppable(ctx, func() (string, error) { return bufio.NewReader(in).ReadString('\n') })
	if errors.Is(err, errStopped) {
		_, _ = fmt.Fprintln(out)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	return isYes(answer), nil
}

// isYes reports whether a typed line is a yes.
func isYes(line string) bool {
	return slices.Contains([]string{"y", "yes", "allow"}, strings.ToLower(strings.TrimSpace(line)))
}

// awaitNamed is readNamed, until ctx is done.
func awaitNamed(ctx context.Context, path string) ([]byte, error) {
	return stoppable(ctx, func() ([]byte, error) { return readNamed(path) })
}

// readNamed reads a file that the command line names. It may be a pipe of the shell.
func readNamed(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return readLimited(file)
}

// readLimited reads up to maxInput bytes, and fails if there are more.
func readLimited(in io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(in, maxInput+1))
	if err == nil && len(text) > maxInput {
		return nil, &fs.PathError{Op: "read", Err: fmt.Errorf("larger than %d MB", maxInput>>20)}
	}
	return text, err
}
