package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Journal is what was read.
type Journal struct {
	Path   string // of the first file, if that is known
	Header Header // of the first file
	// Lines are those of all files, without the headers. Where one file goes on
	// from another, the snapshot that it begins with is among them.
	Lines []Line
	// Stops says how a record stops that has no end mark; nil where it has one.
	// What was read before it is whole.
	Stops *Stop
	// More is the file that the record goes on in, where that was not read.
	More string

	files int
	seed  uint32 // the sum of the last file's header
	last  int    // the last whole line of the last file
	sum   uint32 // of that line
	tail  string // the end mark of the last file
}

// Stop is a record that stops in the middle, as after a crash or a cut.
type Stop struct {
	File string `json:"file,omitempty"`
	Line int    `json:"line"`           // the last whole one
	Torn int    `json:"torn,omitempty"` // bytes of a line after it that is not whole
}

func (s Stop) String() string {
	if s.Line == 0 {
		return fmt.Sprintf("the journal stops in the header of %s, as after a crash or a full disk; everything before that file is whole", s.File)
	}
	if s.Torn > 0 {
		return fmt.Sprintf("the journal stops in the middle of line %d: %d bytes of it are there and the rest is missing, as after a crash or a full disk; everything through %s is whole",
			s.Line+1, s.Torn, where(s.File, s.Line))
	}
	return fmt.Sprintf("the journal has no end mark after %s: it was cut off there, its process died, or it is still being written; what is there is whole", where(s.File, s.Line))
}

// Damage is a journal that is not as it was written. It names the first line
// where that shows.
type Damage struct {
	File string
	Line int
	What string // is wrong with it
	Do   string // what the reader can do
}

func (d *Damage) Error() string { return fmt.Sprintf("%s %s; %s", where(d.File, d.Line), d.What, d.Do) }

// What to do about damage.
const (
	doFetch = "get the file again from where it was recorded, or keep what is before this line by deleting it and what follows"
	doCheck = "give a file that --journal or diagnostics/journal made"
)

// maxLine bounds a header: far above any, below what a file that is no journal
// could make a reader allocate.
const maxLine = 1 << 20

// Read reads one file of a journal. Errors are *Damage where the file is not as
// it was written, and name the line.
func Read(r io.Reader) (*Journal, error) { return read(r, "") }

func read(r io.Reader, file string) (*Journal, error) {
	j := &Journal{Path: file, files: 1}
	in := bufio.NewReaderSize(io.LimitReader(r, maxLine), 64<<10)
	head, err := in.ReadBytes('\n')
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return nil, fmt.Errorf("read the journal: %w", err)
	case len(head) == 0:
		return nil, &Damage{file, 1, "is missing: the journal is empty", "its process died before it wrote anything, or the file was cut off"}
	}
	whole := bytes.TrimSuffix(head, []byte("\n"))
	if j.Header, j.sum, err = readHeader(whole, file); err != nil {
		if len(whole) == len(head) && len(head) < maxLine && bytes.HasPrefix(head, []byte(`{"journal":`)) {
			return nil, &Damage{file, 1, "is not whole: the journal stops in its header", "there is nothing in it; its process died, or the file was cut off"}
		}
		return nil, err
	}
	rest, err := io.ReadAll(io.MultiReader(in, r))
	if err != nil {
		return nil, fmt.Errorf("read the journal: %w", err)
	}
	return j, j.readLines(rest, file)
}

// readLines reads what follows the header.
func (j *Journal) readLines(rest []byte, file string) error {
	j.seed, j.last = j.sum, 1
	j.Lines = make([]Line, 0, bytes.Count(rest, []byte("\n")))
	for n := 2; len(rest) > 0; n++ {
		b, after, ended := bytes.Cut(rest, []byte("\n"))
		if j.tail != "" {
			return &Damage{file, n, "comes after the end mark", "it was appended by something else; delete it and what follows"}
		}
		l, sum, err := j.readLine(b, n, file)
		if err != nil {
			if !ended {
				j.Stops = &Stop{File: file, Line: n - 1, Torn: len(b)}
				return nil
			}
			return err
		}
		rest, j.last, j.sum = after, n, sum
		if j.tail = l.End; l.End == "" {
			j.Lines = append(j.Lines, l)
		}
	}
	if j.tail == "" && j.Header.Journal > 1 {
		j.Stops = &Stop{File: file, Line: j.last}
	}
	return nil
}

func (j *Journal) readLine(b []byte, n int, file string) (l Line, sum uint32, err error) {
	damaged := func(format string, a ...any) (Line, uint32, error) {
		return Line{}, 0, &Damage{file, n, fmt.Sprintf(format, a...), doFetch}
	}
	sealed := j.Header.Journal > 1
	if sealed {
		sum, err = unseal(b, j.seed)
	}
	bad := err
	if l, err = parse(b); err != nil {
		return damaged("is not whole (%v): it was cut off or changed", err)
	}
	if bad != nil {
		return damaged("was changed after it was written, or is of another journal: %v", bad)
	}
	switch {
	case !sealed:
	case l.N < n:
		return damaged("is numbered %d: it is there twice, or lines were moved", l.N)
	case l.N == n+1:
		return damaged("is numbered %d: the line before it is missing or was moved", l.N)
	case l.N > n:
		return damaged("is numbered %d: the %d lines before it are missing or were moved", l.N, l.N-n)
	}
	l.Number, l.File = n, file
	return l, sum, nil
}

func readHeader(line []byte, file string) (h Header, sum uint32, err error) {
	none := func(what, do string) (Header, uint32, error) { return Header{}, 0, &Damage{file, 1, what, do} }
	var first struct {
		Journal int    `json:"journal"`
		Build   string `json:"build"`
	}
	if err := json.Unmarshal(line, &first); err != nil || first.Journal <= 0 {
		return none("is no header: this is not a journal", doCheck)
	}
	if first.Journal > Version {
		return none(fmt.Sprintf("says that the journal has format %d, and this build reads formats 1 to %d", first.Journal, Version),
			fmt.Sprintf("replay it with the build that wrote it (%s) or a later one", printable(first.Build)))
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&h); err != nil || d.More() {
		return none(fmt.Sprintf("is no header of format %d: it was changed", first.Journal), doFetch)
	}
	if h.Journal > 1 {
		if sum, err = unseal(line, 0); err != nil {
			return none("was changed after it was written: "+err.Error(), doFetch)
		}
	} else if h.Sum != "" {
		return none("is no header of format 1: it has a sum", doFetch)
	}
	return h, sum, nil
}

// printable is a build's name as a message may hold it.
func printable(build string) string {
	if build == "" || len(build) > 100 {
		return "it does not say which"
	}
	return fmt.Sprintf("%q", build)
}

// join appends next, the file that follows j.
func (j *Journal) join(next *Journal, file string) error {
	h := next.Header
	switch {
	case j.Header.Journal != Version || h.Journal != Version || h.First != firstOf(j) || h.Part != j.Header.Part+j.files:
		return &Damage{file, 1, "does not go on from the file before it", "replay it on its own, or give all files of one journal in their order"}
	case j.Stops != nil && h.Follows != j.endSum():
		return &Damage{j.Stops.File, j.Stops.Line + 1, "is missing, and another file follows", "the file was cut off; get it again, or replay the files one by one"}
	case j.Stops == nil && h.Follows != sumText(j.sum):
		return &Damage{file, 1, "goes on from another end of the file before it", "one of the two was changed; get both again, or replay them one by one"}
	}
	j.Lines = append(j.Lines, next.Lines...)
	j.files++
	j.Stops, j.seed, j.last, j.sum, j.tail = next.Stops, next.seed, next.last, next.sum, next.tail
	return nil
}

// endSum is the sum of the end mark that a file that goes on has. The next file
// is begun before the mark is written, and a crash in between loses nothing else.
func (j *Journal) endSum() string {
	return sumOf(frame([]byte(endBody(EndRotated)), j.last+1, j.seed))
}

// firstOf identifies the journal that j is of: the sum of its first header.
func firstOf(j *Journal) string {
	if j.Header.First != "" {
		return j.Header.First
	}
	return j.Header.Sum
}

func sumText(sum uint32) string { return fmt.Sprintf("%08x", sum) }
