package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Journal is a journal that was read.
type Journal struct {
	Path   string // path of the first file, if known
	Header Header // header of the first file
	// Lines are the lines of all files, without headers and ends. Events include their
	// outcome.
	Lines []Line
	// Stops says where a record without an end mark stops; nil if it has one.
	Stops *Stop
	// More is the next file of the record, if it was not read.
	More string

	last Header // header of the last file
}

// Stop is where a record stops without an end, as after a crash.
type Stop struct {
	File string `json:"file,omitempty"`
	Line int    `json:"line"`           // last complete line
	Torn int    `json:"torn,omitempty"` // bytes of an incomplete line after it
}

func (s Stop) String() string {
	if s.Line == 0 {
		return fmt.Sprintf("the journal stops in the header of %s, as after a crash or a full disk; everything before that file is readable", s.File)
	}
	if s.Torn > 0 {
		return fmt.Sprintf("the journal stops in the middle of line %d: %d bytes of it were written, as after a crash or a full disk; everything through %s is readable",
			s.Line+1, s.Torn, where(s.File, s.Line))
	}
	return fmt.Sprintf("the journal has no end mark after %s: it was truncated, its process crashed, or it is still being written; everything before is readable", where(s.File, s.Line))
}

// Damage is a file that is not a valid journal. It names the first invalid line, the
// problem and its remedy.
type Damage struct {
	File  string
	Line  int
	What  string
	Do    string
	begun bool // the header is truncated
}

func (d *Damage) Error() string { return fmt.Sprintf("%s %s; %s", where(d.File, d.Line), d.What, d.Do) }

const (
	maxHeader = 64 << 10
	// maxFile is the length of a file at most: that of Limits, and its last line.
	maxFile = MaxBytes + 16<<20
	doCheck = "use a file written by --journal or diagnostics/journal"
)

// Read reads one file of a journal. The error for a damaged file is a *Damage.
func Read(r io.Reader) (*Journal, error) { return read(r, "") }

func read(r io.Reader, file string) (*Journal, error) {
	in := bufio.NewReaderSize(r, maxHeader)
	head, err := in.ReadSlice('\n')
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
		return nil, fmt.Errorf("read the journal: %w", err)
	}
	h, err := readHeader(head, file)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(in, maxFile+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the journal: %w", err)
	case len(text) > maxFile:
		return nil, &Damage{File: file, Line: 2 + bytes.Count(text, []byte("\n")), What: fmt.Sprintf("is beyond %d MB, the longest file of a journal", maxFile>>20), Do: doCheck}
	}
	j := &Journal{Path: file, Header: h, last: h}
	return j, j.readLines(text, file)
}

func readHeader(line []byte, file string) (h Header, err error) {
	damage := &Damage{File: file, Line: 1, Do: doCheck}
	ended := bytes.HasSuffix(line, []byte("\n"))
	switch err := json.Unmarshal(line, &h); {
	case len(line) == 0:
		damage.What, damage.Do, damage.begun = "is missing: the journal is empty", "its process crashed before it wrote anything, or the file was truncated", true
	case !ended && bytes.HasPrefix(line, []byte(`{"journal":`)) && (err != nil || h.Journal == Version):
		damage.What, damage.Do, damage.begun = "is truncated: the journal stops in its header", "it contains no events; its process crashed, or the file was truncated", true
	case h.Journal <= 0:
		damage.What = "has no header: not a journal file"
	case h.Journal != Version:
		damage.What = fmt.Sprintf("says that the journal has format %d, but this build reads format %d", h.Journal, Version)
		damage.Do = fmt.Sprintf("replay it with the build that wrote it (%.100q), or record the conversation again", h.Build)
	case err != nil:
		damage.What, damage.Do = fmt.Sprintf("is not a valid header of format %d: it was changed (%v)", Version, err), "copy the file again from its source"
	default:
		return h, nil
	}
	return h, damage
}

// readLines reads the lines after the header and adds outcomes to their events.
func (j *Journal) readLines(text []byte, file string) error {
	j.Lines = make([]Line, 0, bytes.Count(text, []byte("\n"))/2)
	j.Stops = &Stop{File: file, Line: 1}
	event, events := -1, 0 // the last event, until its outcome
	for n := 2; len(text) > 0; n++ {
		b, rest, ended := bytes.Cut(text, []byte("\n"))
		l, err := parse(b)
		switch {
		case err != nil && !ended:
			j.Stops.Torn = len(b)
			return nil
		case err == nil && l.Effects != nil && event < 0:
			err = errors.New("an outcome without an event")
		}
		if err != nil {
			return &Damage{
				File: file, Line: n, What: fmt.Sprintf("is not a journal line (%v): it was truncated or changed", err),
				Do: fmt.Sprintf("copy the file again from its source; to read the %d events before it, delete the line and everything after it", events),
			}
		}
		text, j.Stops.Line = rest, n
		l.Number, l.File = n, file
		switch {
		case l.End != "":
			j.Stops = nil
			if base, part := splitPath(file); l.End == endRotated && file != "" {
				j.More = partPath(base, part+1)
			}
			return nil
		case l.Effects != nil:
			e := &j.Lines[event]
			e.Phase, e.Effects, e.Digest, e.outcome = l.Phase, l.Effects, l.Digest, l.text
			event = -1
			continue
		case l.Event != "":
			event = len(j.Lines)
			events++
		case l.Snapshot != nil:
			event = -1
		}
		j.Lines = append(j.Lines, l)
	}
	return nil
}

// ReadFiles reads journals from files and from folders, of which it reads all *.jsonl.
// Consecutive files of one journal are read as one.
func ReadFiles(paths ...string) ([]*Journal, error) {
	list, err := expand(paths)
	if err != nil {
		return nil, err
	}
	var all []*Journal
	for _, path := range list {
		j, err := readFile(path)
		last := &Journal{}
		if len(all) > 0 {
			last = all[len(all)-1]
		}
		var d *Damage
		switch {
		case errors.As(err, &d) && d.begun && last.More == path:
			// The process crashed before the next file had its header.
			last.Stops, last.More = &Stop{File: path}, ""
		case err != nil:
			return nil, err
		case last.More == path && j.Header.Part == last.last.Part+1 && j.Header.Started.Equal(last.Header.Started):
			last.Lines = append(last.Lines, j.Lines...)
			last.Stops, last.More, last.last = j.Stops, j.More, j.last
		default:
			all = append(all, j)
		}
	}
	return all, nil
}

func readFile(path string) (*Journal, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open the journal: %w", err)
	}
	defer file.Close() //nolint:errcheck // opened for reading only
	j, err := read(file, path)
	if err == nil && j.Stops != nil { // a write failed, or the process crashed before the end mark
		base, part := splitPath(path)
		if next := partPath(base, part+1); exists(next) {
			j.More = next
		}
	}
	return j, err
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// expand replaces a folder by its journals, each in the order of writing.
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
		found, err := fs.Glob(os.DirFS(path), "*"+suffix)
		if err != nil || len(found) == 0 {
			return nil, fmt.Errorf("no journals in %s: it has no %s files: %w", path, suffix, errors.Join(err, fs.ErrNotExist))
		}
		for i := range found {
			found[i] = filepath.Join(path, found[i])
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
