package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
)

// queueSize is how many lines may wait for the disk. Beyond it lines are lost: a
// slow disk never holds up a conversation.
const queueSize = 8192

// Writer records events, their outcomes and notes. Only Flush and Close wait for
// the outputs; encoding and writing are done on a goroutine, which Close ends. It is
// safe for concurrent use.
type Writer struct {
	queue   chan *item
	flushes chan chan struct{}
	done    chan struct{}

	writing sync.Mutex // held while an item is written; before mu
	// Of who holds writing.
	outs   []*output
	event  csm.Envelope // the last one
	text   []byte       // its line; nil after its outcome
	digest digester
	err    error

	mu      sync.Mutex
	content Content
	consent uint64 // counts the changes of content
	off     uint64 // consent when content was last Off
	begun   bool   // an event is in the queue, and its outcome follows
	closed  bool
}

// item is one thing to record: an event, the outcome of the last event, or a note.
type item struct {
	env   csm.Envelope // Event is nil for the others
	note  string       // "" for an outcome
	at    time.Duration
	data  any
	state csm.State
	fx    []csm.Effect

	consent uint64 // the writer's, when it was recorded
}

// New records to each of outs. Without an output nothing is kept.
func New(h Header, outs ...Output) (*Writer, error) {
	h.Journal, h.Core = Version, Core()
	w := &Writer{
		content: h.Content, queue: make(chan *item, queueSize), flushes: make(chan chan struct{}), done: make(chan struct{}),
	}
	for _, out := range outs {
		o := out.output()
		o.header, o.words = h, h.Content == Full
		w.outs = append(w.outs, o)
		if err := o.begin(nil); err != nil {
			return nil, errors.Join(fmt.Errorf("begin the journal: %w", err), w.end())
		}
	}
	go w.run()
	return w, nil
}

// NewWriter records to w alone, which Close leaves open.
func NewWriter(w io.Writer, h Header) (*Writer, error) { return New(h, Stream(w)) }

// Event records an event before its step.
func (w *Writer) Event(env csm.Envelope) { w.put(&item{env: env}) }

// Outcome records what the step made of the last event.
func (w *Writer) Outcome(s csm.State, fx []csm.Effect) { w.put(&item{state: s, fx: fx}) }

// Level notes both voices' loudness.
func (w *Writer) Level(at time.Duration, l Level) { w.put(&item{note: NoteLevel, at: at, data: l}) }

// Sound notes that the output fell silent, or sounds again.
func (w *Writer) Sound(at time.Duration, s Sound) {
	w.put(&item{note: NoteOutput, at: at, data: s})
}

// Words notes what an id stands for, in a full journal; a redacted one keeps no
// words.
func (w *Writer) Words(at time.Duration, words Words) {
	w.put(&item{note: NoteWords, at: at, data: words})
}

func (w *Writer) put(it *item) {
	w.mu.Lock()
	defer w.mu.Unlock()
	outcome := it.env.Event == nil && it.note == ""
	if outcome && !w.begun {
		return // the event is lost
	}
	recorded := false
	if !w.closed && w.content != Off && (it.note != NoteWords || w.content == Full) {
		it.consent = w.consent
		select {
		case w.queue <- it:
			recorded = true
		default:
		}
	}
	if it.note == "" {
		w.begun = recorded && !outcome
	}
}

// Flush waits until what was recorded before it is with the outputs, or until ctx is
// done.
func (w *Writer) Flush(ctx context.Context) {
	flushed := make(chan struct{})
	select {
	case w.flushes <- flushed:
	case <-w.done:
		return
	case <-ctx.Done():
		return
	}
	select {
	case <-flushed:
	case <-ctx.Done():
	}
}

// Close writes what waits, ends the record, and returns the first error there was.
func (w *Writer) Close() error {
	w.mu.Lock()
	if !w.closed {
		close(w.queue)
	}
	w.closed = true
	w.mu.Unlock()
	<-w.done
	return w.err
}

func (w *Writer) run() {
	defer close(w.done)
	for {
		select {
		case it, more := <-w.queue:
			if !more {
				w.fail(w.end())
				return
			}
			w.take(it, len(w.queue) == 0)
		case flushed := <-w.flushes:
			for n := len(w.queue); n > 0; n-- {
				w.take(<-w.queue, n == 1)
			}
			close(flushed)
		}
	}
}

// end ends the record of each output.
func (w *Writer) end() (err error) {
	for _, o := range w.outs {
		err = errors.Join(err, o.end(endClosed))
	}
	return err
}

// take writes an item, and commits what was written if it is the last of a group.
func (w *Writer) take(it *item, last bool) {
	w.writing.Lock()
	defer w.writing.Unlock()
	if w.records(it) {
		w.fail(w.record(it))
	}
	if last {
		for _, o := range w.outs {
			w.fail(o.commit())
		}
	}
}

// records says whether an item is to be recorded: one from before the last Off is
// not. Words are, if they were allowed when they were said and ever since.
func (w *Writer) records(it *item) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if it.note == NoteWords {
		return w.content == Full && it.consent == w.consent
	}
	return w.content != Off && it.consent >= w.off
}

func (w *Writer) fail(err error) {
	if err != nil && w.err == nil {
		w.err = fmt.Errorf("write journal: %w", err)
	}
}

func (w *Writer) record(it *item) error {
	switch {
	case it.note != "":
		return w.recordNote(it)
	case it.env.Event != nil:
		return w.recordEvent(it.env)
	case w.text != nil:
		return w.recordOutcome(&it.state, it.fx)
	}
	return nil // nothing was recorded when the event was
}

func (w *Writer) recordNote(it *item) error {
	data, err := json.Marshal(it.data)
	if err != nil {
		return err
	}
	b, err := json.Marshal(Line{Note: it.note, At: it.at.Microseconds(), Data: data})
	for _, o := range w.outs {
		if it.note != NoteWords || o.words {
			err = errors.Join(err, o.line(b))
		}
	}
	return err
}

func (w *Writer) recordEvent(env csm.Envelope) (err error) {
	if w.text != nil || env.Seq != w.event.Seq+1 { // something before it is lost
		for _, o := range w.outs {
			o.behind = true
		}
	}
	w.event = env
	if w.text, err = encodeEvent(env); err != nil {
		return err
	}
	for _, o := range w.outs {
		err = errors.Join(err, o.line(w.text))
	}
	return err
}

func (w *Writer) recordOutcome(s *csm.State, fx []csm.Effect) error {
	b, err := encodeOutcome(s, fx)
	if err != nil {
		return err
	}
	b = append(b, digestField+w.digest.next(w.text, b, s, fx)+`"}`...)
	w.text = nil
	for _, o := range w.outs {
		if !o.behind {
			err = errors.Join(err, o.line(b))
		}
		if o.behind || o.full() {
			err = errors.Join(err, w.recordSnapshot(o, s))
		}
	}
	return err
}

// recordSnapshot writes the state after the last event: after a loss, or at the
// beginning of a part.
func (w *Writer) recordSnapshot(o *output, s *csm.State) error {
	state, err := json.Marshal(*s)
	if err != nil {
		return err
	}
	b, err := json.Marshal(Line{
		Seq: w.event.Seq, At: w.event.At.Microseconds(), Phase: s.Phase().String(), Snapshot: state, Digest: w.digest.last,
	})
	if err != nil {
		return err
	}
	if o.part != nil && !o.full() {
		err = o.line(b)
	} else {
		err = o.begin(b)
	}
	o.behind = err != nil
	return err
}

// SetContent changes what is recorded, at once: what waits to be written is subject
// to it too. With Redacted and with Off the rings drop the words that they hold, and
// with Off everything. After Off the record begins again, with a snapshot of the
// state. It waits for at most one group of lines to be written.
//
// An output on a disk keeps what was written to it (Forget deletes it), and gets
// words only if it was opened for them.
func (w *Writer) SetContent(c Content) {
	w.writing.Lock()
	defer w.writing.Unlock()
	w.mu.Lock()
	w.content = c
	w.consent++
	if c == Off {
		w.off = w.consent
	}
	w.mu.Unlock()
	for _, o := range w.outs {
		switch {
		case o.ring == nil:
		case c == Off:
			w.fail(o.forget())
		default:
			w.fail(o.commit())
			o.ring.setContent(c)
			o.words = c == Full
		}
	}
}

// Forget has o, an output of the writer, end its record and delete it: the user no
// longer wants one on disk. It waits for at most one group of lines to be written.
func (w *Writer) Forget(out Output) {
	w.writing.Lock()
	defer w.writing.Unlock()
	w.outs = slices.DeleteFunc(w.outs, func(o *output) bool {
		if o != out.output() {
			return false
		}
		w.fail(o.forget())
		return true
	})
}
