package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
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
	queue   chan *item
	done    chan struct{}

	// Of the goroutine until done.
	outs   []*outlet
	refuse refusal
	digest *digester
	err    error

	mu      sync.Mutex
	written *sync.Cond // taken rose, or the goroutine ended
	queued  int        // items that ever went into the queue
	taken   int        // and out of it, to every output
	lost    int
	closed  bool
}

// Output is where a journal goes: Stream, Files or a Ring.
type Output interface {
	// open begins the record.
	open(Header) error
	// write adds a line. state is that after the step, for a line of a step and
	// for no other. An error that is errTorn means that nothing can follow.
	write(body []byte, at moment) error
	// close ends the record.
	close() error
	// forget ends the record and deletes it, where it was made by this output.
	forget() error
}

// moment is where a record stands after a line.
type moment struct {
	seq   uint64
	at    int64      // microseconds
	state *csm.State // nil for a line that is not of a step
}

// item is one thing to record: a step, a note or a gap.
type item struct {
	env   csm.Envelope
	state csm.State
	fx    []csm.Effect

	note string
	at   time.Duration
	data any

	gap    int
	forget Output
}

// New records to each of outs. Without an output nothing is kept.
func New(h Header, outs ...Output) (*Writer, error) {
	w := &Writer{content: h.Content, queue: make(chan *item, queueSize), done: make(chan struct{}), digest: newDigester()}
	w.written = sync.NewCond(&w.mu)
	for i, o := range outs {
		if err := o.open(h); err != nil {
			for _, begun := range outs[:i] {
				err = errors.Join(err, begun.close())
			}
			return nil, fmt.Errorf("begin the journal: %w", err)
		}
		w.outs = append(w.outs, &outlet{Output: o})
	}
	go w.run()
	return w, nil
}

// NewWriter records to w alone, which Close leaves open.
func NewWriter(w io.Writer, h Header) (*Writer, error) { return New(h, Stream(w)) }

// Step records an event with what came of it.
func (w *Writer) Step(env csm.Envelope, s csm.State, fx []csm.Effect) {
	w.put(&item{env: env, state: s, fx: fx})
}

// Level notes both voices' loudness.
func (w *Writer) Level(at time.Duration, l Level) { w.put(&item{note: NoteLevel, at: at, data: l}) }

// Words notes what an id stands for, in a full journal; a redacted one keeps no
// words.
func (w *Writer) Words(at time.Duration, words Words) {
	if w.content == Full {
		w.put(&item{note: NoteWords, at: at, data: words})
	}
}

func (w *Writer) put(it *item) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	if w.lost > 0 && w.offer(&item{gap: w.lost}) {
		w.lost = 0
	}
	if w.lost > 0 || !w.offer(it) {
		w.lost++
	}
}

func (w *Writer) offer(it *item) bool {
	select {
	case w.queue <- it:
		w.queued++
		return true
	default:
		return false
	}
}

// Flush waits until what was recorded before it is with the outputs.
func (w *Writer) Flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for goal := w.queued; w.taken < goal; {
		w.written.Wait()
	}
}

// Forget has o, an output of the writer, end its record and delete it: the user
// no longer wants one on disk.
func (w *Writer) Forget(o Output) { w.put(&item{forget: o}) }

// Close writes what waits, ends the record, and returns the first error there
// was.
func (w *Writer) Close() error {
	w.mu.Lock()
	first, lost := !w.closed, w.lost
	w.closed = true
	w.mu.Unlock()
	if first {
		if lost > 0 {
			w.queue <- &item{gap: lost}
		}
		close(w.queue)
	}
	<-w.done
	return w.err
}

// Refused is how many strings of events were refused because they are no word of
// a closed list; call it after Close.
func (w *Writer) Refused() int { return w.refuse.count }

func (w *Writer) run() {
	defer close(w.done)
	for it := range w.queue {
		w.take(it)
		w.mu.Lock()
		w.taken++
		w.mu.Unlock()
		w.written.Broadcast()
	}
	for _, o := range w.outs {
		w.fail(o.end())
	}
}

func (w *Writer) take(it *item) {
	switch {
	case it.gap > 0:
		for _, o := range w.outs {
			o.skip(it.gap)
		}
	case it.forget != nil:
		w.outs = slices.DeleteFunc(w.outs, func(o *outlet) bool {
			if o.Output != it.forget {
				return false
			}
			w.fail(o.forget())
			return true
		})
	default:
		w.fail(w.record(it))
	}
}

func (w *Writer) fail(err error) {
	if err != nil && w.err == nil {
		w.err = fmt.Errorf("write journal: %w", err)
	}
}

// record writes one item to each output.
func (w *Writer) record(it *item) error {
	if it.note != "" {
		return w.writeNote(it.note, it.at, it.data)
	}
	var err error
	before := w.refuse.count
	it.env.Event = w.refuse.event(it.env.Event)
	if n := w.refuse.count - before; n > 0 {
		err = w.writeNote(NoteRefused, it.env.At, Refused{it.env.Event.Kind().String(), n})
	}
	if w.refuse.count > 0 {
		it.state = rewrite(it.state, w.refuse.strings)
		it.fx = slices.Clone(it.fx)
		for i := range it.fx {
			it.fx[i] = rewrite(it.fx[i], w.refuse.strings)
		}
	}
	l, encoded := encodeStep(w.digest, it.env, &it.state, it.fx)
	return errors.Join(err, encoded, w.write(l, &it.state))
}

func (w *Writer) writeNote(kind string, at time.Duration, data any) error {
	b, err := json.Marshal(data)
	return errors.Join(err, w.write(Line{Note: kind, At: at.Microseconds(), Data: b}, nil))
}

func (w *Writer) write(l Line, state *csm.State) error {
	body, err := l.body()
	for _, o := range w.outs {
		err = errors.Join(err, o.put(body, moment{l.Seq, l.At, state}, w.digest))
	}
	return err
}

// outlet is an output with what it missed. After lines were lost, on the way to
// it or by it, it gets a gap mark with their number, and then a snapshot of the
// state in the place of the next step, so that what follows can be replayed.
type outlet struct {
	Output
	lost   int
	behind bool // the next step is to be a snapshot
	torn   bool // nothing can follow what is there
}

// errTorn says that a line is there in part and cannot be taken back.
var errTorn = errors.New("a line was written in part, so that nothing can follow it")

func (o *outlet) skip(lines int) { o.lost, o.behind = o.lost+lines, true }

func (o *outlet) put(body []byte, m moment, d *digester) error {
	if o.torn {
		return nil // it was told
	}
	if err := o.markGap(); err != nil {
		o.skip(1)
		return err
	}
	if o.behind && m.state != nil {
		l, err := encodeSnapshot(d, m.seq, m.at, m.state)
		if err == nil {
			body, err = l.body()
		}
		if err != nil {
			o.skip(1)
			return err
		}
	}
	if err := o.attempt(body, m); err != nil {
		o.skip(1)
		return err
	}
	o.behind = o.behind && m.state == nil
	return nil
}

func (o *outlet) markGap() error {
	if o.lost == 0 {
		return nil
	}
	body, err := Line{Gap: o.lost}.body()
	if err == nil {
		err = o.attempt(body, moment{})
	}
	if err == nil {
		o.lost = 0
	}
	return err
}

func (o *outlet) attempt(body []byte, m moment) error {
	err := o.write(body, m)
	o.torn = o.torn || errors.Is(err, errTorn)
	return err
}

func (o *outlet) end() error {
	if o.torn {
		return o.close()
	}
	return errors.Join(o.markGap(), o.close())
}
