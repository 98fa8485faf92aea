package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Output is the destination of a record: Files, a Ring or a Stream.
type Output interface{ output() *output }

// output keeps a record in parts of bounded size and deletes the oldest. Every part
// starts with a header, and all but the first with a snapshot. If a part cannot be
// written, the record resumes in the next.
type output struct {
	store  store
	bytes  int64 // size at which the next part starts; 0 for never
	keep   int   // number of parts to keep
	ring   *Ring // the output's ring, if it is one
	header Header
	words  bool // the header declares words
	behind bool // the next outcome must be a snapshot

	part   *bufio.Writer // nil after a failure
	file   io.WriteCloser
	size   int64
	next   int // number of the next part
	oldest int
}

// store is where parts are kept.
type store interface {
	create(part int) (io.WriteCloser, error)
	remove(part int) error
}

func (o *output) output() *output { return o }

// begin starts the next part, with a snapshot unless it is the first, and then ends the
// previous one. If it fails, the previous part continues. The previous part is committed
// first, so that a crash in between leaves all events up to the snapshot.
func (o *output) begin(snapshot []byte) error {
	if err := o.commit(); err != nil {
		return err
	}
	h := o.header
	h.Part = o.next
	head, err := json.Marshal(h)
	if err != nil {
		return err
	}
	file, err := o.store.create(o.next)
	if err != nil {
		return err
	}
	part := bufio.NewWriterSize(file, 64<<10)
	lines := append(head, '\n')
	if snapshot != nil {
		lines = append(append(lines, snapshot...), '\n')
	}
	_, err = part.Write(lines)
	if err = errors.Join(err, part.Flush()); err != nil {
		if o.part != nil {
			o.size = 0 // retry after another full part
		}
		return errors.Join(err, file.Close(), o.store.remove(o.next))
	}
	err = o.end(endRotated)
	o.part, o.file, o.size = part, file, int64(len(lines))
	for o.next++; o.next-o.oldest > o.keep; o.oldest++ {
		err = errors.Join(err, o.store.remove(o.oldest))
	}
	return err
}

func (o *output) full() bool { return o.bytes > 0 && o.size >= o.bytes }

func (o *output) line(b []byte) error {
	if o.part == nil {
		return nil // the record resumes with the next snapshot
	}
	o.size += int64(len(b)) + 1
	_, err := o.part.Write(b)
	return o.check(errors.Join(err, o.part.WriteByte('\n')))
}

func (o *output) commit() error {
	if o.part == nil {
		return nil
	}
	return o.check(o.part.Flush())
}

// check abandons the part after an error, since its last line may be incomplete.
func (o *output) check(err error) error {
	if err == nil {
		return nil
	}
	file := o.file
	o.part, o.file, o.behind = nil, nil, true
	return errors.Join(err, file.Close())
}

// end marks the end of the part, if there is one.
func (o *output) end(why string) error {
	if o.part == nil {
		return nil
	}
	if err := errors.Join(o.line([]byte(`{"end":"`+why+`"}`)), o.commit()); err != nil {
		return err
	}
	o.part = nil
	return o.file.Close()
}

func (o *output) forget() (err error) {
	if o.part != nil {
		err = o.file.Close()
	}
	o.part, o.behind = nil, true
	for ; o.oldest < o.next; o.oldest++ {
		err = errors.Join(err, o.store.remove(o.oldest))
	}
	return err
}

// Stream writes to w in one unbounded part, and does not close w.
func Stream(w io.Writer) Output { return &output{store: stream{w}, keep: 1} }

type stream struct{ io.Writer }

func (s stream) create(part int) (io.WriteCloser, error) {
	if part > 0 {
		return nil, errors.New("a stream has one part")
	}
	return s, nil
}
func (stream) remove(int) error { return nil }
func (stream) Close() error     { return nil }

// Limits bound a journal on disk.
type Limits struct {
	Bytes int64 // per file, at least MinBytes, at most MaxBytes; one line may exceed it
	Files int   // number of files to keep
}

// DefaultLimits hold some days of conversation.
var DefaultLimits = Limits{Bytes: 32 << 20, Files: 8}

// The bounds of Limits.Bytes. What is written can be read (Read).
const (
	MinBytes = 64 << 10
	MaxBytes = 64 << 20
)

const suffix = ".jsonl"

// Files writes to the named file and, when it is full, to numbered files. It creates the
// folder and replaces an existing journal of that name, but only once recording starts.
//
// A committed group of lines is written to the operating system, so it survives a crash
// of the process. A file is synced when it is full and at the end of the recording; a
// power failure may lose the lines since.
func Files(path string, l Limits) Output {
	return &output{store: folder{strings.TrimSuffix(path, suffix)}, bytes: max(l.Bytes, MinBytes), keep: max(l.Files, 1)}
}

// folder is a store of files; base is their name without number and suffix.
type folder struct{ base string }

func (f folder) create(part int) (io.WriteCloser, error) {
	if part == 0 {
		if err := f.clear(); err != nil {
			return nil, err
		}
	}
	file, err := os.OpenFile(partPath(f.base, part), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("create the journal: %w", err)
	}
	return synced{file}, nil
}

func (f folder) remove(part int) error { return os.Remove(partPath(f.base, part)) }

// clear creates the folder, and deletes the files of an older journal of this name.
func (f folder) clear() error {
	dir := filepath.Dir(f.base)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("create the folder for the journal: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("find an older journal: %w", err)
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if base, part := splitPath(path); part > 0 && base == filepath.Clean(f.base) {
			if err := os.Remove(path); err != nil {
				return fmt.Errorf("delete an older journal: %w", err)
			}
		}
	}
	return nil
}

// partPath returns the path of a part.
func partPath(base string, part int) string {
	if part == 0 {
		return base + suffix
	}
	return base + "." + strconv.Itoa(part) + suffix
}

// splitPath is the inverse of partPath.
func splitPath(path string) (base string, part int) {
	base = strings.TrimSuffix(path, suffix)
	if dot := strings.LastIndexByte(base, '.'); dot >= 0 {
		n, err := strconv.Atoi(base[dot+1:])
		if err == nil && n > 0 && partPath(base[:dot], n) == path {
			return base[:dot], n
		}
	}
	return base, 0
}

// synced is a file that is synced when closed.
type synced struct{ *os.File }

func (s synced) Close() error { return errors.Join(s.Sync(), s.File.Close()) }

// ringParts is the number of parts of a Ring, which drops the oldest as a whole.
const ringParts = 8

// Ring keeps the end of a journal in memory.
type Ring struct {
	out *output

	mu      sync.Mutex
	content Content
	pages   []*page // oldest first
	created int     // number of pages ever created
}

// page is one part in memory.
type page struct {
	ring *Ring
	part int
	text []byte
}

// NewRing returns a ring of at most bound bytes, at least 64 KiB. The current part may
// exceed its share by one line.
func NewRing(bound int) *Ring {
	r := &Ring{}
	r.out = &output{store: r, bytes: max(int64(bound), MinBytes) / ringParts, keep: ringParts - 1, ring: r}
	return r
}

func (r *Ring) output() *output { return r.out }

func (r *Ring) create(part int) (io.WriteCloser, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.content == Off {
		r.content = r.out.header.Content
	}
	p := &page{ring: r, part: part}
	r.pages = append(r.pages, p)
	r.created = part + 1
	return p, nil
}

func (r *Ring) remove(part int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pages = slices.DeleteFunc(r.pages, func(p *page) bool { return p.part == part })
	return nil
}

func (p *page) Write(b []byte) (int, error) {
	p.ring.mu.Lock()
	defer p.ring.mu.Unlock()
	p.text = append(p.text, b...)
	return len(b), nil
}

func (*page) Close() error { return nil }

// setContent changes the content declared in the header. Redacted removes notes with
// words.
func (r *Ring) setContent(c Content) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.content = c
	if c == Full {
		return
	}
	words := []byte(`"note":"` + NoteWords + `"`)
	for _, p := range r.pages {
		var kept []byte
		for line := range bytes.Lines(p.text) {
			// No other line contains the mark, since quotes in strings are escaped.
			if !bytes.Contains(line, words) {
				kept = append(kept, line...)
			}
		}
		p.text = kept
	}
}

// Save writes everything committed so far as one file. The recording continues.
func (r *Ring) Save(w io.Writer) error {
	r.mu.Lock()
	h := r.out.header
	h.Content, h.Part = r.content, r.created
	var parts [][]byte
	for _, p := range r.pages {
		h.Part = min(h.Part, p.part)
		_, lines, _ := bytes.Cut(p.text, []byte("\n"))
		parts = append(parts, lines)
	}
	r.mu.Unlock()
	head, err := json.Marshal(h)
	if err != nil {
		return err
	}
	to := bufio.NewWriter(w)
	to.Write(append(head, '\n')) //nolint:errcheck // Flush returns the error
	for _, part := range parts {
		for line := range bytes.Lines(part) {
			if !bytes.HasPrefix(line, []byte(`{"end"`)) {
				to.Write(line) //nolint:errcheck // Flush returns the error
			}
		}
	}
	to.WriteString(`{"end":"` + endSaved + `"}` + "\n") //nolint:errcheck // Flush returns the error
	if err := to.Flush(); err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	return nil
}
