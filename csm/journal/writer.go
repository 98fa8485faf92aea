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

// queueSize is how many lines may wait for the disk. Beyond it lines are dropped: a slow
// disk never delays a conversation.
const queueSize = 8192

// Writer records events, outcomes and notes. Encoding and writing happen on a goroutine,
// which Close ends; only Flush and Close wait for the outputs. It is safe for concurrent
// use.
type Writer struct {
	queue   chan *item
	flushes chan chan struct{}
	done    chan struct{}

	writing sync.Mutex // held while writing an item; acquired before mu
	// Guarded by writing.
	outs   []*output
	event  csm.Envelope // the last event
	text   []byte       // its line, nil after its outcome
	digest digester
	err    error

	mu      sync.Mutex
	content Content
	consent uint64 // counts the changes of content
	off     uint64 // value of consent when content was last Off
	begun   bool   // an event was queued whose outcome follows
	closed  bool
}

// item is something to record: an event, the outcome of the last event, or a note.
type item struct {
	env   csm.Envelope // Event is nil for other items
	note  string       // "" for an outcome
	at    time.Duration
	data  any
	state csm.State
	fx    []csm.Effect

	consent uint64 // the writer's consent when it was queued
}

// New records to outs. Without outputs it records nothing.
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
			return nil, errors.Join(fmt.Errorf("start the journal: %w", err), w.end())
		}
	}
	go w.run()
	return w, nil
}

// NewWriter records only to w, which Close does not close.
func NewWriter(w io.Writer, h Header) (*Writer, error) { return New(h, Stream(w)) }

// Event records an event before its step.
func (w *Writer) Event(env csm.Envelope) { w.put(&item{env: env}) }

// Outcome records the result of the last event's step.
func (w *Writer) Outcome(s csm.State, fx []csm.Effect) { w.put(&item{state: s, fx: fx}) }

// Level records both voices' loudness.
func (w *Writer) Level(at time.Duration, l Level) { w.put(&item{note: NoteLevel, at: at, data: l}) }

// Sound records that the output fell silent or resumed.
func (w *Writer) Sound(at time.Duration, s Sound) {
	w.put(&item{note: NoteOutput, at: at, data: s})
}

// Words records the text of an id in a full journal; redacted journals contain no words.
func (w *Writer) Words(at time.Duration, words Words) {
	w.put(&item{note: NoteWords, at: at, data: words})
}

func (w *Writer) put(it *item) {
	w.mu.Lock()
	defer w.mu.Unlock()
	outcome := it.env.Event == nil && it.note == ""
	if outcome && !w.begun {
		return // the event was dropped
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

// Flush waits until everything recorded so far is written to the outputs, or until ctx is
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

// Close writes the queue, ends the record and returns the first error.
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

// take writes an item, and commits if it is the last of a group.
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

// records says whether to record an item: not if it predates the last Off, and words only
// if they were allowed when they were said and ever since.
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
	return nil // the event was not recorded
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
	if w.text != nil || env.Seq != w.event.Seq+1 { // an earlier item was lost
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

// recordSnapshot writes the state after the last event, after a loss or at the start of a
// part.
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

// SetContent changes what is recorded, immediately and including the queue. Redacted and
// Off remove the words in rings, and Off removes everything. After Off the record
// restarts with a snapshot of the state. It waits for at most one group of lines to be
// written.
//
// Outputs on disk keep what was written (Forget deletes it), and receive words only if
// they were opened for them.
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

// Forget ends the record of an output and deletes it: the user no longer wants it on
// disk. It waits for at most one group of lines to be written.
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
