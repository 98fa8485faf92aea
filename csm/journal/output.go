package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
)

// part is one file that is being written: lines with their numbers and sums.
type part struct {
	w    io.Writer
	n    int
	seed uint32
	last string // sum of the last line
	size int64
}

// begin writes the header, and the bodies of the lines that come with it, in one
// write: a file has all of them or is not begun.
func (p *part) begin(h Header, bodies ...[]byte) error {
	line, sum, err := h.line()
	if err != nil {
		return err
	}
	p.n, p.seed = 1, sum
	all := line
	for _, b := range bodies {
		p.n++
		all = append(all, frame(b, p.n, p.seed)...)
	}
	return p.write(all)
}

// add writes one line in one write, so that a process that dies leaves whole
// lines behind.
func (p *part) add(body []byte) error {
	if err := p.write(frame(body, p.n+1, p.seed)); err != nil {
		return err
	}
	p.n++
	return nil
}

// write writes whole lines. Where only some of it could be written, it is taken
// back, so that a line can follow when there is room again.
func (p *part) write(lines []byte) error {
	n, err := p.w.Write(lines)
	if err == nil && n < len(lines) {
		err = io.ErrShortWrite
	}
	if err == nil {
		p.size += int64(n)
		p.last = sumOf(lines)
		return nil
	}
	if n > 0 {
		f, ok := p.w.(interface{ Truncate(size int64) error })
		if !ok {
			return fmt.Errorf("%w: %w", errTorn, err)
		}
		if cut := f.Truncate(p.size); cut != nil {
			return fmt.Errorf("%w: %w", errTorn, errors.Join(err, cut))
		}
	}
	return err
}

// stream is an output of one part without a bound.
type stream struct{ part }

// Stream writes to w, one line a write, and leaves it open.
func Stream(w io.Writer) Output { return &stream{part{w: w}} }

func (s *stream) open(h Header) error               { return s.begin(h) }
func (s *stream) write(body []byte, _ moment) error { return s.add(body) }
func (s *stream) close() error                      { return s.add([]byte(endBody(EndClosed))) }
func (s *stream) forget() error                     { return s.close() }

// ringParts is into how many parts the bound of a Ring is divided: the oldest
// leaves as a whole.
const ringParts = 8

// Ring keeps the last part of a journal in memory. What is left of it begins
// with a snapshot once something had to leave.
type Ring struct {
	bound  int
	digest *digester

	mu      sync.Mutex
	header  Header
	parts   [][]byte // bodies, each with a line feed
	dropped int      // parts
	size    int
}

// NewRing makes a ring of at most bound bytes, at least 64 KiB. A part that is
// being filled may exceed its share by one line.
func NewRing(bound int) *Ring { return &Ring{bound: max(bound, 64<<10), digest: newDigester()} }

func (r *Ring) open(h Header) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.header, r.parts = h, [][]byte{nil}
	return nil
}

func (r *Ring) write(body []byte, at moment) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keep(body)
	if at.state == nil || len(r.parts[len(r.parts)-1]) < r.bound/ringParts {
		return nil
	}
	snapshot, err := snapshotBody(r.digest, at)
	if err != nil {
		return err
	}
	r.parts = append(r.parts, nil)
	r.keep(snapshot)
	for r.size > r.bound-r.bound/ringParts && len(r.parts) > 1 {
		r.size -= len(r.parts[0])
		r.parts = r.parts[1:]
		r.dropped++
	}
	return nil
}

func (r *Ring) keep(body []byte) {
	i := len(r.parts) - 1
	r.parts[i] = append(append(r.parts[i], body...), '\n')
	r.size += len(body) + 1
}

func (*Ring) close() error  { return nil }
func (*Ring) forget() error { return nil } // it is not on a disk

// Save writes what is kept as one file, with its end marked. The recording goes
// on meanwhile.
func (r *Ring) Save(w io.Writer) error {
	r.mu.Lock()
	h, parts := r.header, append([][]byte(nil), r.parts...)
	dropped := r.dropped
	r.mu.Unlock()
	if dropped > 0 {
		_, first, err := h.line()
		if err != nil {
			return err
		}
		h.Part, h.First = dropped, sumText(first)
	}
	p := part{w: w}
	if err := p.begin(h); err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	for _, bodies := range append(parts, []byte(endBody(EndSaved)+"\n")) {
		for body := range bytes.Lines(bodies) {
			if err := p.add(bytes.TrimSuffix(body, []byte("\n"))); err != nil {
				return fmt.Errorf("write the journal: %w", err)
			}
		}
	}
	return nil
}

// snapshotBody is the body of a snapshot of the state at a moment.
func snapshotBody(d *digester, at moment) ([]byte, error) {
	l, err := encodeSnapshot(d, at.seq, at.at, at.state)
	if err != nil {
		return nil, err
	}
	return l.body()
}
