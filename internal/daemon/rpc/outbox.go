package rpc

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"time"
)

// How far a client may fall behind, in unread messages and bytes.
const (
	// Above this, levels and partial transcripts are dropped.
	softMessages, softBytes = 1024, 1 << 20
	// Above this, all notifications are dropped.
	hardMessages, hardBytes = 8192, 8 << 20
	// Above this, the client is disconnected, because it lets answers pile up.
	mostMessages, mostBytes = 65536, 64 << 20
)

var errNotRead = errors.New("the editor does not read what it is sent")

// outbox is the only output queue, with the goroutine that writes it. Each Write is one
// message. Write never blocks.
type outbox struct {
	out io.WriteCloser
	// caughtUp is called on the writer's goroutine when everything is written and
	// something was dropped.
	caughtUp func()

	mu      sync.Mutex
	queue   [][]byte
	bytes   int
	missed  bool // something was dropped
	lost    bool // an essential message was dropped, so everything is dropped until the snapshot
	closing bool
	broken  error
	wake    chan struct{}
	done    chan struct{}
}

func newOutbox(out io.WriteCloser, caughtUp func()) *outbox {
	o := &outbox{out: out, caughtUp: caughtUp, wake: make(chan struct{}, 1), done: make(chan struct{})}
	go o.run()
	return o
}

// admit reports whether a notification is to be sent. Light ones are dropped first.
func (o *outbox) admit(light bool) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.lost:
		return false
	case len(o.queue) >= hardMessages || o.bytes >= hardBytes:
		o.missed, o.lost = true, true
		return false
	case light && (len(o.queue) >= softMessages || o.bytes >= softBytes):
		o.missed = true
		return false
	default:
		return true
	}
}

// resume admits everything again, starting with a snapshot.
func (o *outbox) resume() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.missed, o.lost = false, false
}

// Write queues one message.
func (o *outbox) Write(message []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.broken != nil:
		return 0, o.broken
	case o.closing:
		return 0, io.ErrClosedPipe
	case len(o.queue) >= mostMessages || o.bytes >= mostBytes:
		o.broken = errNotRead
		return 0, o.broken
	}
	o.queue = append(o.queue, bytes.Clone(message))
	o.bytes += len(message)
	o.stir()
	return len(message), nil
}

func (o *outbox) stir() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// Close accepts no more messages. Queued messages are still written; drain waits for
// that.
func (o *outbox) Close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closing = true
	o.stir()
	return nil
}

// drain closes the outbox, waits up to limit until it is empty, and closes the output.
func (o *outbox) drain(limit time.Duration) error {
	_ = o.Close()
	late := time.NewTimer(limit)
	defer late.Stop()
	select {
	case <-o.done:
		return o.out.Close()
	case <-late.C:
		err := o.out.Close() // unblocks a pending Write
		return errors.Join(errNotRead, err)
	}
}

func (o *outbox) run() {
	defer close(o.done)
	for {
		message, missed, ok := o.next()
		switch {
		case message != nil:
			if _, err := o.out.Write(message); err != nil {
				o.fail(err)
				return
			}
		case !ok:
			return
		case missed:
			o.caughtUp()
		default:
			<-o.wake
		}
	}
}

// next takes the oldest message; ok is false after the last one.
func (o *outbox) next() (message []byte, missed, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.queue) == 0 {
		return nil, o.missed && !o.closing, !o.closing
	}
	message = o.queue[0]
	o.queue[0] = nil
	o.queue = o.queue[1:]
	o.bytes -= len(message)
	return message, false, true
}

func (o *outbox) fail(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.broken == nil {
		o.broken = err
	}
	o.queue = nil
}
