package daemon

import (
	"context"
	"errors"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/copilot/spoken"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
)

// retryBackoff is the pause before the second attempt; each further one is twice
// as long (PER-004).
const retryBackoff = 250 * time.Millisecond

// assistant carries requests to the adapter, with retries, and turns what comes
// back into segments. Each request ends with exactly one csm.CopilotDone.
type assistant struct {
	adapter copilot.Adapter
	clock   dispatch.Clock
	content *content
	post    func(csm.Event)
	locale  func() string
	retries func() int

	mu      sync.Mutex
	live    map[uint64]*asking
	stirred chan struct{} // holds one: what settled says may have changed
	wg      sync.WaitGroup
}

// asking is a request under way. Its fields belong to assistant.mu.
type asking struct {
	id        string
	cancel    context.CancelFunc
	cancelled bool
	sleeps    bool // until the clock wakes it
}

func (a *assistant) send(e csm.SendCopilot) {
	ctx, cancel := context.WithCancel(context.Background())
	ask := &asking{id: requestID(e.Request), cancel: cancel}
	a.mu.Lock()
	a.live[e.Request] = ask
	a.mu.Unlock()
	req := copilot.Request{ID: ask.id, TurnID: turnID(e.Turn), Messages: a.messages(e)}
	a.wg.Go(func() {
		a.post(a.run(ctx, ask, e, req))
		cancel()
		a.mu.Lock()
		delete(a.live, e.Request)
		a.mu.Unlock()
		a.stir()
	})
}

func (a *assistant) cancel(request uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if ask := a.live[request]; ask != nil {
		ask.cancelled = true
		ask.cancel()
	}
}

func (a *assistant) stir() {
	select {
	case a.stirred <- struct{}{}:
	default:
	}
}

// settled says whether every request waits for somebody outside of this process,
// or for the clock.
func (a *assistant) settled(outside Waiter) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, ask := range a.live {
		if ask.cancelled || !ask.sleeps && !outside.Waits(ask.id) {
			return false
		}
	}
	return true
}

// close cancels what is live and waits for it.
func (a *assistant) close() {
	a.mu.Lock()
	for _, ask := range a.live {
		ask.cancel()
	}
	a.mu.Unlock()
	a.wg.Wait()
}

// messages is the conversation so far, as far as the user heard it, and the new
// utterance.
func (a *assistant) messages(e csm.SendCopilot) []copilot.Message {
	var out []copilot.Message
	add := func(role copilot.Role, text string) {
		if text != "" {
			out = append(out, copilot.Message{Role: role, Content: text})
		}
	}
	for _, it := range e.History {
		if it.Request != 0 {
			add(copilot.RoleAssistant, a.content.answer(it.Request, it.Heard))
		} else {
			add(copilot.RoleUser, a.content.utterance(it.Utterance))
		}
	}
	add(copilot.RoleUser, a.content.utterance(e.Utterance))
	return out
}

// run makes attempts until one ends well, none is left, or the time for the
// first sign of life would be over before the next.
func (a *assistant) run(ctx context.Context, ask *asking, e csm.SendCopilot, req copilot.Request) csm.CopilotDone {
	start := a.clock.Now()
	for attempt := 1; ; attempt++ {
		a.post(csm.CopilotSent{Request: e.Request, Attempt: attempt})
		req.Attempt = attempt
		spoke, err := a.attempt(ctx, e.Request, req)
		switch {
		case ctx.Err() != nil:
			return csm.CopilotDone{Request: e.Request, Cancelled: true}
		case err == nil:
			return csm.CopilotDone{Request: e.Request}
		}
		code, wait, again := failure(err, attempt)
		left := e.Deadline - (a.clock.Now() - start)
		if spoke || !again || attempt > a.retries() || wait >= left {
			return csm.CopilotDone{Request: e.Request, Code: code}
		}
		if !a.sleep(ctx, ask, wait) {
			return csm.CopilotDone{Request: e.Request, Cancelled: true}
		}
	}
}

// attempt makes one attempt and reports whether any words came.
func (a *assistant) attempt(ctx context.Context, request uint64, req copilot.Request) (spoke bool, err error) {
	a.content.beginAnswer(request)
	c := segmenter{content: a.content, request: request, post: a.post, chunker: spoken.New(spoken.Options{Locale: a.locale()})}
	err = a.adapter.Send(ctx, req, func(text string) {
		if ctx.Err() != nil {
			return
		}
		spoke = spoke || text != ""
		a.post(csm.CopilotDelta{Request: request, Chars: a.content.extend(request, text)})
		c.add(c.chunker.Push(text))
	})
	if err == nil && ctx.Err() == nil {
		c.add(c.chunker.Flush())
	}
	return spoke, err
}

// failure says what an error of an adapter means, and how long to wait before
// another attempt.
func failure(err error, attempt int) (code csm.Code, wait time.Duration, again bool) {
	var e *copilot.Error
	if !errors.As(err, &e) {
		return csm.CodeCopilotFailed, 0, false
	}
	return knownCode(e.Code, csm.CodeCopilotFailed), max(e.After, retryBackoff<<(attempt-1)), e.Retryable
}

// sleep waits on the conversation's clock; false when ctx is done first.
func (a *assistant) sleep(ctx context.Context, ask *asking, d time.Duration) bool {
	sleeps := func(now bool) {
		a.mu.Lock()
		ask.sleeps = now
		a.mu.Unlock()
		a.stir()
	}
	woken := make(chan struct{})
	stop := a.clock.AfterFunc(d, func() {
		sleeps(false) // before the clock goes on
		close(woken)
	})
	defer stop()
	sleeps(true)
	select {
	case <-woken:
		return true
	case <-ctx.Done():
		return false
	}
}

// segmenter turns the chunker's segments, which count bytes, into the core's,
// which count characters.
type segmenter struct {
	content *content
	request uint64
	post    func(csm.Event)
	chunker *spoken.Chunker
	bytes   int // of the answer, covered so far
	chars   int
}

func (s *segmenter) add(segs []spoken.Segment) {
	for _, seg := range segs {
		whole := s.content.answer(s.request, -1)
		start := s.chars
		s.chars += utf8.RuneCountInString(whole[s.bytes:seg.End])
		s.bytes = seg.End
		if seg.Text == "" {
			continue
		}
		s.content.setSpoken(s.request, start, seg.Text)
		s.post(csm.CopilotSegment{Request: s.request, Start: start, End: s.chars})
	}
}

// knownCode is code where the core knows it, else other.
func knownCode(code string, other csm.Code) csm.Code {
	for _, c := range csm.Codes {
		if string(c) == code {
			return c
		}
	}
	return other
}
