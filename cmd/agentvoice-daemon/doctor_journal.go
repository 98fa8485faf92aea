package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// examineJournal checks that talk could write where --journal says, and who else could. There is no
// finding without the flag.
func examineJournal(set protocol.Settings, f *sharedFlags) []finding {
	if f.journal == "" {
		return nil
	}
	if err := f.checkJournal(set); err != nil {
		return []finding{found("journal", true, "", nil, err)}
	}
	path := f.journalPath(time.Now())
	return []finding{check("journal", false, func() (string, error) { return protected(filepath.Dir(path)) })}
}

// writable checks that a file can be written, and leaves nothing behind. The folders above it may be
// missing.
func writable(path string) error {
	switch info, err := os.Stat(path); {
	case err == nil && !info.Mode().IsRegular():
		return fault{fmt.Sprintf("cannot write the journal to %s: it is not a regular file", path), "give --journal another path"}
	case err == nil:
		file, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return fault{fmt.Sprintf("cannot write the journal %s (%v)", path, errors.Unwrap(err)), "use a file of your own, or a new one"}
		}
		return file.Close()
	}
	dir := filepath.Dir(path)
	for {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			break
		}
		dir = filepath.Dir(dir)
	}
	file, err := os.CreateTemp(dir, ".agentvoice-*")
	if err != nil {
		return fault{fmt.Sprintf("cannot write the journal in %s (%v)", dir, errors.Unwrap(err)), "give --journal a folder of your own"}
	}
	return errors.Join(file.Close(), os.Remove(file.Name()))
}

// protected says who can read and replace the files of a journal in a folder.
func protected(dir string) (string, error) {
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return dir + " will be created for you only", nil
	case runtime.GOOS == "windows": // permissions are inherited from the folder
		return dir + ", readable by those who may read that folder", nil
	case info.Mode().Perm()&0o022 != 0 && info.Mode()&fs.ModeSticky == 0:
		return "", fault{dir + ": others can delete or replace a journal there", "run chmod go-w on it, or give --journal a folder of your own"}
	}
	return dir + "; only you can read a journal there", nil
}
