package filelock

import (
	"errors"
	"os"
	"runtime"
)

// Acquire opens and locks the file at a path, and creates it if it is missing. ok is false if
// another process, or another handle of this one, has the lock; the file is open then too, so
// that the holder's note can be read.
func Acquire(path string) (f *os.File, ok bool, err error) {
	const attempts = 1000
	for range attempts {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, false, err
		}
		ok, err := Try(f)
		if err != nil {
			return nil, false, errors.Join(err, f.Close())
		}
		if current(f, path) {
			return f, ok, nil
		}
		// Its holder removed it after it was opened here.
		if err := f.Close(); err != nil {
			return nil, false, err
		}
	}
	return nil, false, errors.New("the lock file is replaced all the time; stop the other programs that use it")
}

// current reports whether a path still leads to an open file.
func current(f *os.File, path string) bool {
	here, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(path)
	return err == nil && os.SameFile(here, there)
}

// Remove removes a file that Acquire locked, and unlocks it. Who opened it meanwhile tries again
// with a new one.
func Remove(f *os.File) error {
	if runtime.GOOS == "windows" {
		// An open file cannot be removed, so this fails while another program has it open.
		err := f.Close()
		_ = os.Remove(f.Name())
		return err
	}
	err := os.Remove(f.Name())
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, f.Close())
}
