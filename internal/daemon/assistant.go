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

	mu   sync.Mutex
	live map[uint64]context.CancelFunc
	wg   sync.WaitGroup
}

func (a *assistant) send(e csm.SendCopilot) {
	ctx, cancel := context.WithCancel(context.Background())
	a.mu.Lock()
	if a.live == nil {
		a.live = map[uint64]context.CancelFunc{}
	}
	a.live[e.Request] = cancel
	a.mu.Unlock()
	req := copilot.Request{ID: requestID(e.Request), TurnID: turnID(e.Turn), Messages: a.messages(e)}
	a.wg.Go(func() {
		done := a.run(ctx, e, req)
		a.mu.Lock()
		delete(a.live, e.Request)
		a.mu.Unlock()
		cancel()
		a.post(done)
	})
}

func (a *assistant) cancel(request uint64) {
	a.mu.Lock()
	cancel := a.live[request]
	a.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}

// close cancels what is live and waits for it.
func (a *assistant) close() {
	a.mu.Lock()
	for _, cancel := range a.live {
		cancel()
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
func (a *assistant) run(ctx context.Context, e csm.SendCopilot, req copilot.Request) csm.CopilotDone {
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
		if !a.sleep(ctx, wait) {
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
func (a *assistant) sleep(ctx context.Context, d time.Duration) bool {
	woken := make(chan struct{})
	stop := a.clock.AfterFunc(d, func() { close(woken) })
	defer stop()
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
