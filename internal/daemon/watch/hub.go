package watch

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
	"github.com/sourcegraph/jsonrpc2"

	"github.com/agentvoice/agentvoice-daemon/protocol"
	"github.com/agentvoice/agentvoice-daemon/protocol/jsonrpc"
)

// maxPublished limits the notifications waiting for the hub, to more than a
// conversation publishes in seconds.
const maxPublished = 4096

// linger is the delay before the hub forwards what a step publishes, so that it works
// between steps and sends a step's messages together.
const linger = 5 * time.Millisecond

// hub forwards notifications to every watcher. Publishing costs the conversation one
// queue entry; the rest happens on the hub's goroutine.
type hub struct {
	log    zerolog.Logger
	locale func() protocol.Locale
	words  atomic.Bool  // the user allows them
	count  atomic.Int32 // watchers, including those that are joining

	mu     sync.Mutex
	queue  []item
	missed int // dropped because the queue was full
	closed bool
	wake   chan struct{}
	done   chan struct{}

	watchers map[*watcher]struct{} // used by the hub's goroutine only
}

// item is a queue entry: a notification, or a change of the set of watchers.
type item struct {
	method string
	params any
	then   func() // in place of a notification
}

func newHub(log zerolog.Logger, locale func() protocol.Locale) *hub {
	h := &hub{
		log: log, locale: locale, watchers: map[*watcher]struct{}{},
		wake: make(chan struct{}, 1), done: make(chan struct{}),
	}
	go h.run()
	return h
}

// publish queues a notification. It does not block.
func (h *hub) publish(method string, params any) {
	if h.count.Load() == 0 {
		return
	}
	h.mu.Lock()
	if len(h.queue) >= maxPublished {
		h.missed++
	} else if !h.closed {
		h.queue = append(h.queue, item{method: method, params: params})
	}
	h.mu.Unlock()
	h.stir()
}

// do runs f on the hub's goroutine, after everything published before. It returns false
// if f will not run.
func (h *hub) do(f func()) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false
	}
	h.queue = append(h.queue, item{then: f})
	h.stir()
	return true
}

func (h *hub) stir() {
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

func (h *hub) run() {
	defer close(h.done)
	var spare []item
	for {
		h.mu.Lock()
		items, missed, closed := h.queue, h.missed, h.closed
		h.queue, h.missed = spare[:0], 0
		h.mu.Unlock()
		if len(items) == 0 {
			if closed {
				return
			}
			spare = items
			<-h.wake
			time.Sleep(linger)
			continue
		}
		for _, it := range items {
			if it.then != nil {
				it.then()
			} else {
				h.fan(it)
			}
		}
		if missed > 0 {
			for w := range h.watchers {
				w.miss(missed)
			}
		}
		clear(items)
		spare = items
	}
}

// fan sends a notification, encoded once, to all watchers that follow it.
func (h *hub) fan(it item) {
	_, level := it.params.(protocol.LevelParams)
	allowed := h.words.Load()
	var plain, full []byte
	for w := range h.watchers {
		message := &plain
		if level && !w.follows.Levels {
			continue
		}
		if w.follows.Words && allowed {
			message = &full
		}
		if *message == nil {
			*message = h.encode(it, message == &full)
		}
		if len(*message) > 0 {
			w.send(*message)
		}
	}
}

// encode returns the wire form of a notification, or nothing if it is useless without
// its words.
func (h *hub) encode(it item, words bool) []byte {
	params := it.params
	if !words {
		if params = redact(h.locale(), params); params == nil {
			return []byte{}
		}
	}
	message, err := notification(it.method, params)
	if err != nil {
		h.log.Error().Err(err).Str("method", it.method).Msg("a notification cannot be encoded for watchers")
		return []byte{}
	}
	return message
}

func notification(method string, params any) ([]byte, error) {
	r := &jsonrpc2.Request{Method: method, Notif: true}
	if err := r.SetParams(params); err != nil {
		return nil, err
	}
	return jsonrpc.Encode(r)
}

// close stops the hub after everything queued is done.
func (h *hub) close() {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.stir()
	<-h.done
}
