package watch

import (
	"io"
	"net"
	"sync"
	"time"

	"github.com/agentvoice/agentvoice-daemon/protocol"
)

const (
	// maxQueued limits the notifications queued for a watcher that does not read, to
	// about half a minute of conversation.
	maxQueued = 512
	// maxAnswers limits the queue including answers. A watcher that sends requests but
	// does not read is disconnected.
	maxAnswers = maxQueued + 64
)

// watcher is one connection with its output queue.
type watcher struct {
	conn    net.Conn
	follows protocol.WatchParams // set before it joins
	behind  func(*watcher)       // called when everything is sent and something was dropped

	mu        sync.Mutex
	more      sync.Cond // signals changes under mu
	queue     [][]byte
	spared    int  // notifications dropped since the queue was full
	resyncing bool // behind was called
	joined    bool // it was admitted
	closing   bool // once the queue is empty
	closed    bool
	done      chan struct{} // closed when the writer has ended
}

func newWatcher(conn net.Conn, behind func(*watcher)) *watcher {
	w := &watcher{conn: conn, behind: behind, done: make(chan struct{})}
	w.more.L = &w.mu
	go w.write()
	return w
}

// join admits the watcher; first is the first message it gets.
func (w *watcher) join(first []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.joined = true
	w.add(first)
}

// send queues a notification, or counts it as dropped if the watcher has fallen behind.
func (w *watcher) send(message []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.spared > 0 || len(w.queue) >= maxQueued {
		w.spared++
	} else {
		w.add(message)
	}
}

// miss counts notifications that were dropped earlier.
func (w *watcher) miss(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.spared += n
	w.more.Signal()
}

// resume sends the new snapshot to a watcher that fell behind.
func (w *watcher) resume(message func(spared int) []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	spared := w.spared
	w.spared, w.resyncing = 0, false
	w.add(message(spared))
}

func (w *watcher) add(message []byte) {
	if !w.closing && !w.closed {
		w.queue = append(w.queue, message)
		w.more.Signal()
	}
}

// Write queues an answer. It is the output of the connection's stream.
func (w *watcher) Write(message []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || w.closing || len(w.queue) >= maxAnswers {
		return 0, io.ErrClosedPipe
	}
	w.add(message)
	return len(message), nil
}

// write sends the queue, batching pending messages.
func (w *watcher) write() {
	defer close(w.done)
	defer w.Close() //nolint:errcheck // there is nobody to tell
	for {
		batch, behind := w.next()
		switch {
		case behind:
			w.behind(w)
		case batch == nil:
			return
		default:
			if _, err := batch.WriteTo(w.conn); err != nil {
				return
			}
		}
	}
}

// next waits for something to send. behind says that the queue is empty and
// notifications were dropped; a nil batch means the end.
func (w *watcher) next() (batch net.Buffers, behind bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		switch {
		case w.closed:
			return nil, false
		case len(w.queue) > 0:
			batch, w.queue = w.queue, nil
			return batch, false
		case w.closing:
			return nil, false
		case w.spared > 0 && !w.resyncing:
			w.resyncing = true
			return nil, true
		}
		w.more.Wait()
	}
}

// finish hangs up when the queue has been sent, or at limit. last, if any, is the last
// message for an admitted watcher.
func (w *watcher) finish(limit time.Time, last []byte) {
	_ = w.conn.SetWriteDeadline(limit)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.joined && last != nil {
		w.add(last)
	}
	w.closing = true
	w.more.Signal()
}

// Close hangs up.
func (w *watcher) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil
	}
	w.closed = true
	w.more.Signal()
	return w.conn.Close()
}
