package journal

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
)

// queueSize is how many lines may wait for the disk. Beyond it lines are lost,
// and counted in the file: a slow disk never holds up a conversation.
const queueSize = 8192

// Writer records steps and notes. Its methods never block; encoding and writing
// are done on a goroutine of its own, which Close ends. It is safe for
// concurrent use.
type Writer struct {
	content Content
	lines   chan func() (Line, error)
	done    chan struct{}
	err     error // of the goroutine, read after done

	mu     sync.Mutex
	lost   int
	closed bool
}

// NewWriter writes h and then what it is given to w, and flushes whenever it has
// caught up, so that a crash loses the last moments at most.
func NewWriter(w io.Writer, h Header) (*Writer, error) {
	h.Journal = Version
	b, err := json.Marshal(h)
	if err != nil {
		return nil, fmt.Errorf("journal header: %w", err)
	}
	if _, err := w.Write(append(b, '\n')); err != nil {
		return nil, fmt.Errorf("write journal header: %w", err)
	}
	jw := &Writer{content: h.Content, lines: make(chan func() (Line, error), queueSize), done: make(chan struct{})}
	go jw.run(bufio.NewWriter(w))
	return jw, nil
}

// Step records an event with what came of it.
func (w *Writer) Step(env csm.Envelope, s csm.State, fx []csm.Effect) {
	w.put(func() (Line, error) { return encodeStep(env, s, fx) })
}

// Level notes both voices' loudness.
func (w *Writer) Level(at time.Duration, l Level) { w.note(at, NoteLevel, l) }

// Words notes what an id stands for, in a full journal; a redacted one keeps no
// words.
func (w *Writer) Words(at time.Duration, words Words) {
	if w.content == Full {
		w.note(at, NoteWords, words)
	}
}

func (w *Writer) note(at time.Duration, kind string, data any) {
	w.put(func() (Line, error) {
		b, err := json.Marshal(data)
		return Line{Note: kind, At: at.Microseconds(), Data: b}, err
	})
}

func (w *Writer) put(line func() (Line, error)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	if w.lost > 0 {
		lost := w.lost
		select {
		case w.lines <- func() (Line, error) { return Line{Gap: lost}, nil }:
			w.lost = 0
		default:
		}
	}
	if w.lost == 0 {
		select {
		case w.lines <- line:
			return
		default:
		}
	}
	w.lost++
}

func (w *Writer) run(out *bufio.Writer) {
	defer close(w.done)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	fail := func(err error) {
		if w.err == nil {
			w.err = fmt.Errorf("write journal: %w", err)
		}
	}
	for line := range w.lines {
		l, err := line()
		if err == nil {
			err = enc.Encode(l)
		}
		if err == nil && len(w.lines) == 0 {
			err = out.Flush()
		}
		if err != nil {
			fail(err)
		}
	}
	if err := out.Flush(); err != nil {
		fail(err)
	}
}

// Close writes what waits, and returns the first error there was.
func (w *Writer) Close() error {
	w.mu.Lock()
	if !w.closed {
		w.closed = true
		if w.lost > 0 {
			lost := w.lost
			w.lines <- func() (Line, error) { return Line{Gap: lost}, nil }
		}
		close(w.lines)
	}
	w.mu.Unlock()
	<-w.done
	return w.err
}
