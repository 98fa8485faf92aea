package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
)

// maxInput limits a file that the command line names, in bytes: settings, a key, a manifest.
const maxInput = 16 << 20

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
