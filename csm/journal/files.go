package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Limits bound a journal on disk.
type Limits struct {
	Bytes int64 // of one file, at least 64 KiB; a line may exceed it
	Files int   // how many are kept; the oldest is deleted
}

// DefaultLimits keep some days of conversation.
var DefaultLimits = Limits{Bytes: 32 << 20, Files: 8}

const (
	suffix   = ".jsonl"
	minBytes = 64 << 10
)

// files is an output of files: NAME.jsonl, then NAME.1.jsonl and so on. No file
// is ever renamed, so that a crash leaves each where it was.
type files struct {
	base   string // without suffix
	limits Limits
	digest *digester

	header Header
	first  string // sum of the first header
	file   *os.File
	part   part
	number int
	oldest int
	until  int64 // the size at which the next file begins
}

// Files writes to the file of that name and, when it is full, to files that are
// numbered after it. The folder is made. A journal of that name that is there is
// replaced. Nothing is touched before the recording begins.
//
// A line is handed to the system whole when it is written, so that nothing is
// lost when the process dies. The disk is told to keep a file when it is full
// and at the end of the recording; a machine that loses its power may lose what
// came since, some seconds as a rule.
func Files(path string, l Limits) Output {
	if l.Bytes <= 0 {
		l.Bytes = DefaultLimits.Bytes
	}
	if l.Files <= 0 {
		l.Files = DefaultLimits.Files
	}
	l.Bytes = max(l.Bytes, minBytes)
	return &files{base: strings.TrimSuffix(path, suffix), limits: l, digest: newDigester()}
}

// partPath names a part.
func partPath(base string, number int) string {
	if number == 0 {
		return base + suffix
	}
	return base + "." + strconv.Itoa(number) + suffix
}

// splitPath is the inverse of partPath.
func splitPath(path string) (base string, number int) {
	base = strings.TrimSuffix(path, suffix)
	if dot := strings.LastIndexByte(base, '.'); dot >= 0 {
		n, err := strconv.Atoi(base[dot+1:])
		if err == nil && n > 0 && partPath(base[:dot], n) == path {
			return base[:dot], n
		}
	}
	return base, 0
}

func (f *files) open(h Header) error {
	if err := os.MkdirAll(filepath.Dir(f.base), 0o700); err != nil {
		return fmt.Errorf("make the folder for the journal: %w", err)
	}
	if err := f.removeFrom(1); err != nil {
		return err
	}
	f.header = h
	file, err := create(partPath(f.base, 0))
	if err != nil {
		return err
	}
	f.file, f.part, f.until = file, part{w: file}, f.limits.Bytes
	if err := f.part.begin(h); err != nil {
		return errors.Join(err, file.Close())
	}
	f.first = f.part.last
	return nil
}

func create(path string) (*os.File, error) {
	// Appending, so that after a line was taken back the next is where it was.
	file, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("create the journal: %w", err)
	}
	return file, nil
}

// removeFrom deletes the parts of an older journal of this name from a number on.
func (f *files) removeFrom(number int) error {
	there, err := os.ReadDir(filepath.Dir(f.base))
	if err != nil {
		return fmt.Errorf("look for an older journal: %w", err)
	}
	for _, e := range there {
		path := filepath.Join(filepath.Dir(f.base), e.Name())
		if base, n := splitPath(path); strings.HasSuffix(path, suffix) && base == filepath.Clean(f.base) && n >= number {
			if err := os.Remove(path); err != nil {
				return fmt.Errorf("delete an older journal: %w", err)
			}
		}
	}
	return nil
}

func (f *files) write(body []byte, at moment) error {
	if err := f.part.add(body); err != nil {
		return err
	}
	if at.state == nil || f.part.size < f.until {
		return nil
	}
	if err := f.rotate(at); err != nil {
		f.until += f.limits.Bytes // the file goes on, and another is tried later
		return fmt.Errorf("begin the next file of the journal: %w", err)
	}
	return nil
}

// rotate begins the next file, with the state, and then marks the end of this
// one. When the next cannot be begun, this one is as it was.
func (f *files) rotate(at moment) error {
	snapshot, err := snapshotBody(f.digest, at)
	if err != nil {
		return err
	}
	path := partPath(f.base, f.number+1)
	file, err := create(path)
	if err != nil {
		return err
	}
	end := []byte(endBody(EndRotated))
	h := f.header
	h.Part, h.First, h.Follows = f.number+1, f.first, sumOf(frame(end, f.part.n+1, f.part.seed))
	next := part{w: file}
	err = next.begin(h, snapshot)
	if err == nil {
		err = f.part.add(end)
	}
	if err != nil {
		return errors.Join(err, file.Close(), os.Remove(path))
	}
	full := f.file
	f.file, f.part, f.until = file, next, f.limits.Bytes
	f.number++
	err = errors.Join(full.Sync(), full.Close())
	for ; f.number-f.oldest >= f.limits.Files; f.oldest++ {
		err = errors.Join(err, os.Remove(partPath(f.base, f.oldest)))
	}
	return err
}

func (f *files) close() error {
	return errors.Join(f.part.add([]byte(endBody(EndClosed))), f.file.Sync(), f.file.Close())
}

func (f *files) forget() error {
	err := f.file.Close()
	for n := f.oldest; n <= f.number; n++ {
		err = errors.Join(err, os.Remove(partPath(f.base, n)))
	}
	return err
}

// ReadFiles reads journals from files and from folders, in which all *.jsonl are
// taken. Files of one journal that follow on each other are read as one.
func ReadFiles(paths ...string) ([]*Journal, error) {
	list, err := expand(paths)
	if err != nil {
		return nil, err
	}
	var all []*Journal
	for _, path := range list {
		j, err := readFile(path)
		var last *Journal
		if len(all) > 0 {
			last = all[len(all)-1]
		}
		switch {
		case err != nil && last != nil && last.More == path && begun(path):
			// The process died before the next file had its header.
			last.Stops, last.More = &Stop{File: path}, ""
			continue
		case err != nil:
			return nil, err
		case last != nil && j.Header.Part > 0 && j.Header.First == firstOf(last):
			if err := last.join(j, path); err != nil {
				return nil, err
			}
			last.More = j.More
		default:
			all = append(all, j)
		}
	}
	return all, nil
}

// begun says whether a file stops before the end of its first line.
func begun(path string) bool {
	b, err := os.ReadFile(path)
	return err == nil && len(b) < maxLine && !slices.Contains(b, '\n')
}

func readFile(path string) (*Journal, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open the journal: %w", err)
	}
	defer file.Close() //nolint:errcheck // it was only read
	j, err := read(file, path)
	if err == nil {
		base, n := splitPath(path)
		next := partPath(base, n+1)
		if _, missing := os.Stat(next); j.tail == EndRotated || j.Stops != nil && missing == nil {
			j.More = next
		}
	}
	return j, err
}

// expand puts the journals of a folder in its place, each in the order in which
// it was written.
func expand(paths []string) ([]string, error) {
	var list []string
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, fmt.Errorf("open the journal: %w", err)
		}
		if !info.IsDir() {
			list = append(list, path)
			continue
		}
		entries, err := os.ReadDir(path)
		if err != nil {
			return nil, fmt.Errorf("look for journals: %w", err)
		}
		var found []string
		for _, e := range entries {
			if strings.HasSuffix(e.Name(), suffix) && !e.IsDir() {
				found = append(found, filepath.Join(path, e.Name()))
			}
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("look for journals in %s: it has no file that ends in %s: %w", path, suffix, fs.ErrNotExist)
		}
		slices.SortFunc(found, func(a, b string) int {
			x, i := splitPath(a)
			y, k := splitPath(b)
			if x != y {
				return strings.Compare(x, y)
			}
			return i - k
		})
		list = append(list, found...)
	}
	return list, nil
}
