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
	"github.com/agentvoice/agentvoice-daemon/csm/history"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// retryBackoff is the delay before the second attempt; it doubles for each further
// attempt (PER-004).
const retryBackoff = 250 * time.Millisecond

// assistant sends requests to the adapter, with retries, and turns the replies into
// segments. It also runs the background jobs of errands.go. Each round of a request
// ends with exactly one csm.CopilotDone, and each job with its own terminal event.
type assistant struct {
	adapter copilot.Adapter
	clock   dispatch.Clock
	content *content
	post    func(csm.Event)
	spoken  func() spoken.Options      // how an answer that begins now is spoken
	room    func(context.Context) bool // waits until the core has caught up
	retries func() int
	used    func(copilot.Usage)
	unasked func() // announces an agent that may act without asking
	doing   func(copilot.Activity)
	resumed func()               // the answer that has stopped goes on
	stall   func() time.Duration // how long an answer may stop before the user is told

	ctx     context.Context // covers everything in flight, until close
	abandon context.CancelFunc
	mu      sync.Mutex
	live    map[string]*asking // keyed by the id that the client or the service uses
	stirred chan struct{}      // capacity 1; signals that the result of settled may have changed
	wg      sync.WaitGroup

	request uint64 // live after the last step, or 0; used by the loop only
}

// newAssistant returns the assistant of a daemon.
func newAssistant(d *Daemon, adapter copilot.Adapter) *assistant {
	ctx, abandon := context.WithCancel(context.Background())
	return &assistant{
		adapter: adapter, clock: d.cfg.Clock, content: d.content, post: d.loop.Post, room: d.loop.Room, ctx: ctx, abandon: abandon,
		live: map[string]*asking{}, stirred: make(chan struct{}, 1),
		spoken:  d.spokenAs,
		retries: func() int { return d.settings().Copilot.MaxRetries },
		used:    d.answered,
		unasked: d.mayActUnasked,
		doing:   d.narrator.doing,
		resumed: d.narrator.resumed,
		stall:   func() time.Duration { return d.settings().Copilot.Stall },
	}
}

// asking is a request or job in flight. assistant.mu guards its fields.
type asking struct {
	id        string
	adapter   copilot.Adapter // of a request: another one may be chosen before it has stopped
	cancel    context.CancelFunc
	cancelled bool
	waits     bool // must finish even if it is cancelled
	sleeps    bool // sleeping until the clock wakes it
}

// begin runs f on a goroutine that can be cancelled by id. The event that f returns is
// posted before the job is removed.
func (a *assistant) begin(ask *asking, f func(context.Context) csm.Event) {
	ctx, cancel := context.WithCancel(a.ctx)
	ask.cancel = cancel
	a.mu.Lock()
	a.live[ask.id] = ask
	a.mu.Unlock()
	a.wg.Go(func() {
		a.post(f(ctx))
		cancel()
		a.mu.Lock()
		if a.live[ask.id] == ask { // not replaced by the next round yet
			delete(a.live, ask.id)
		}
		a.mu.Unlock()
		a.stir()
	})
}

// send hands one round of a request to a model; "" selects the adapter's default.
func (a *assistant) send(e csm.SendCopilot, model string) {
	ask := &asking{id: requestID(e.Request), adapter: a.uses()}
	req := copilot.Request{
		ID: ask.id, TurnID: turnID(e.Turn), Round: e.Round, Messages: a.content.prompt(e),
		Tools: a.content.offered(), Model: model, Used: a.used, Unasked: a.unasked, Doing: a.doing,
		Called: func(c copilot.OwnCall) {
			a.content.setOwnCall(e.Request, c)
			if !c.Asked && !c.Reads {
				a.post(csm.CopilotDelta{Request: e.Request, Round: e.Round, Chars: a.content.extend(e.Request, ""), Acted: true})
			}
		},
	}
	a.begin(ask, func(ctx context.Context) csm.Event { return a.run(ctx, ask, e, req) })
}

// cancel cancels the request or job with the given id.
func (a *assistant) cancel(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if ask := a.live[id]; ask != nil {
		ask.cancelled = true
		ask.cancel()
	}
}

// follow tells an adapter that keeps resources open between the rounds of a request
// when the request is over, including when it ended while the user was being asked.
func (a *assistant) follow(st csm.State) {
	live, _ := copilot.LiveOf(st.Copilot)
	was := a.request
	a.request = live.Request
	if e, ok := a.uses().(copilot.Ender); ok && was != 0 && was != live.Request {
		e.End(requestID(was))
	}
}

func (a *assistant) stir() {
	select {
	case a.stirred <- struct{}{}:
	default:
	}
}

// settled reports whether everything in flight waits for something outside of this
// process, or for the clock.
func (a *assistant) settled(outside Waiter) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, ask := range a.live {
		if ask.cancelled && !ask.waits || !ask.sleeps && !outside.Waits(ask.id) {
			return false
		}
	}
	return true
}

// close cancels everything in flight and waits for it.
func (a *assistant) close() {
	a.abandon()
	a.wg.Wait()
}

// run makes attempts until one succeeds, no attempts remain, or the deadline for the
// first sign of life would expire before the next one.
func (a *assistant) run(ctx context.Context, ask *asking, e csm.SendCopilot, req copilot.Request) csm.CopilotDone {
	start, end := a.clock.Now(), protocol.EndWhole
	req.EndUnknown = func() { end = protocol.EndUnknown }
	done := csm.CopilotDone{Request: e.Request, Round: e.Round}
	for attempt := 1; ; attempt++ {
		a.post(csm.CopilotSent{Request: e.Request, Round: e.Round, Attempt: attempt})
		req.Attempt = attempt
		spoke, err := a.attempt(ctx, ask.adapter, e, req)
		switch {
		case ctx.Err() != nil:
			done.Cancelled = true
			return done
		case err == nil:
			a.content.setEnd(e.Request, end)
			return a.content.ended(done)
		}
		code, wait, again := failure(err, attempt)
		left := e.Deadline - (a.clock.Now() - start)
		if spoke || !again || attempt > a.retries() || wait >= left {
			done.Code = code
			a.content.setEnd(e.Request, endOf(code, a.content.hasAnswer(e.Request)))
			return done
		}
		if !a.sleep(ctx, ask, wait) {
			done.Cancelled = true
			return done
		}
	}
}

// attempt makes one attempt and reports whether any words or calls arrived. Words that
// arrived are spoken even if the attempt fails, since it is the last one.
func (a *assistant) attempt(ctx context.Context, adapter copilot.Adapter, e csm.SendCopilot, req copilot.Request) (spoke bool, err error) {
	s := newSegmenter(a.content, e.Request, e.Round, a.post, a.spoken())
	sending, w := a.watchStall(ctx, e)
	defer w.close()
	if _, tools := adapter.(copilot.Caller); tools {
		req.Wants = func(call copilot.ToolCall) {
			if !a.room(ctx) {
				return
			}
			spoke = true
			s.flush() // do not hold up the words that came before the call
			w.alive()
			a.post(csm.CopilotToolCall{
				Request: e.Request, Round: e.Round, ToolCall: a.content.newCall(e.Request, call),
				Destructive: a.content.destructive(call), Reads: reads(call), Allowed: a.content.allowed(call),
			})
		}
	}
	err = adapter.Send(sending, req, func(text string) {
		if !a.room(sending) {
			return
		}
		spoke = spoke || text != ""
		w.alive()
		s.push(text)
	})
	if ctx.Err() == nil && context.Cause(sending) == errStalled {
		err = errStalled
	}
	if (err == nil || spoke) && ctx.Err() == nil {
		s.flush()
	}
	return spoke, err
}

// failure maps an adapter's error to a code, and returns the delay before another
// attempt and whether to make one.
func failure(err error, attempt int) (code csm.Code, wait time.Duration, again bool) {
	var e *copilot.Error
	if !errors.As(err, &e) {
		return csm.CodeCopilotFailed, 0, false
	}
	return knownCode(e.Code, csm.CodeCopilotFailed), max(e.After, retryBackoff<<(attempt-1)), e.Retryable
}

// sleep waits on the conversation's clock. It returns false if ctx is done first.
func (a *assistant) sleep(ctx context.Context, ask *asking, d time.Duration) bool {
	sleeps := func(now bool) {
		a.mu.Lock()
		ask.sleeps = now
		a.mu.Unlock()
		a.stir()
	}
	woken := make(chan struct{})
	stop := a.clock.AfterFunc(d, func() {
		sleeps(false) // before the clock continues
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

// segmenter turns the text of a round into the core's segments. The chunker counts
// bytes of the round, the core characters of the whole answer.
type segmenter struct {
	content *content
	request uint64
	round   int
	post    func(csm.Event)
	chunker *spoken.Chunker
	from    int // offset of the chunker's position 0, in bytes of the answer
	pushed  int // bytes given to the chunker
	bytes   int // bytes of the answer covered so far
	chars   int
}

// newSegmenter returns the segmenter of a round. All rounds of a request speak code as
// the first one did, even if the settings have changed since.
func newSegmenter(c *content, request uint64, round int, post func(csm.Event), how spoken.Options) *segmenter {
	s := &segmenter{content: c, request: request, round: round, post: post}
	s.from, s.chars, how = c.beginRound(request, round, how)
	s.chunker = spoken.New(how)
	s.bytes = s.from
	return s
}

// push takes the next piece of the answer. An empty piece is a sign of life.
func (s *segmenter) push(text string) {
	s.post(csm.CopilotDelta{Request: s.request, Round: s.round, Chars: s.content.extend(s.request, text)})
	s.pushed += len(text)
	s.add(s.chunker.Push(text))
}

// flush emits the text that is held back. Text after it starts a new sentence.
func (s *segmenter) flush() {
	s.add(s.chunker.Flush())
	s.from, s.pushed = s.from+s.pushed, 0
}

func (s *segmenter) add(segs []spoken.Segment) {
	for _, seg := range segs {
		whole := s.content.answer(s.request, -1)
		start, end := s.chars, s.from+seg.End
		s.chars += utf8.RuneCountInString(whole[s.bytes:end])
		s.bytes = end
		if seg.Text == "" {
			continue
		}
		s.content.setSpoken(s.request, start, s.chars, seg)
		s.post(csm.CopilotSegment{Request: s.request, Round: s.round, Start: start, End: s.chars})
	}
}

// knownCode returns code if the core knows it, else other.
func knownCode(code string, other csm.Code) csm.Code {
	for _, c := range csm.Codes {
		if string(c) == code {
			return c
		}
	}
	return other
}

// prompt returns the conversation as the user heard it: the summary of the oldest part,
// the messages since then and, in the first round, the utterance to answer. In later
// rounds the utterance is already part of the history.
func (c *content) prompt(e csm.SendCopilot) []copilot.Message {
	words := ""
	if e.Round == 0 {
		words = c.words(e.Utterance, e.More)
	}
	return c.promptOf(e.Summary, e.History, words, c.isDictated(e.Utterance, e.More))
}

func (c *content) promptOf(summary uint32, said []history.Item, words string, dictated bool) []copilot.Message {
	var out []copilot.Message
	if before := c.summary(summary); before != "" {
		out = append(out, copilot.Message{Role: copilot.RoleUser, Content: summaryLead + before})
	}
	out = append(out, c.messages(said)...)
	if words != "" {
		out = append(out, copilot.Message{Role: copilot.RoleUser, Content: words, Dictated: dictated})
	}
	return out
}

// summaryLead marks the first message as a summary.
const summaryLead = "[What was said before, in short]\n"
