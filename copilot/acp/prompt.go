package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/copilot/reasoning"
)

// prompt is one session/prompt of the agent. Adapter.mu guards its fields except the
// first block, which does not change.
type prompt struct {
	agent   *agent
	wake    chan struct{} // capacity 1: signals a change
	over    chan struct{} // closed when the answer is over, shortly after the prompt
	dropped chan struct{} // closed when cancelled is set
	first   string        // the first request that it answers
	doing   func(copilot.Activity)
	called  func(copilot.OwnCall)

	filter    *reasoning.Filter
	request   string // the request that it answers: the latest one, after the user answered a question
	queue     []piece
	bytes     int  // of text so far
	tooLong   bool // text was dropped
	wrote     bool // text was emitted
	ended     bool // the agent has ended the prompt; more text may follow
	asks      map[string]*ask
	tools     map[acpsdk.ToolCallId]*tool
	alive     time.Time // time of the last message; zero before the first
	count     int       // of tool calls
	cancelled bool      // further text is dropped
	stop      acpsdk.StopReason
	err       error // the error that ended it
	spoke     bool  // text or a call was emitted
	asked     bool  // a call was emitted
}

// piece is text of an answer, a permission request, or the notice that the agent may act
// without asking.
type piece struct {
	text    string
	ask     *ask
	unasked bool
}

// tool is the known state of a tool call.
type tool struct {
	number    int // of the call within the prompt, from 1; agents reuse their ids
	title     string
	kind      acpsdk.ToolKind
	status    acpsdk.ToolCallStatus
	asked     bool                  // the user was asked about it
	described bool                  // an update about it came
	told      acpsdk.ToolCallStatus // status in the last report
	input     json.RawMessage       // as it came
	files     []string
	diffs     []copilot.Diff
	about     string // text of the permission request
	output    string
}

func (t *tool) ended() bool {
	return t.status == acpsdk.ToolCallStatusCompleted || t.status == acpsdk.ToolCallStatusFailed
}

func (t *tool) runs() bool { return t.status == acpsdk.ToolCallStatusInProgress }

func newPrompt(g *agent, r copilot.Request, filter *reasoning.Filter) *prompt {
	return &prompt{
		agent: g, first: r.ID, request: r.ID, doing: r.Doing, called: r.Called, filter: filter,
		wake: make(chan struct{}, 1), over: make(chan struct{}), dropped: make(chan struct{}),
		asks: map[string]*ask{}, tools: map[acpsdk.ToolCallId]*tool{},
	}
}

func (p *prompt) stir() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

func (p *prompt) isOver() bool {
	select {
	case <-p.over:
		return true
	default:
		return false
	}
}

// queueAsk queues k for the user's decision.
func (p *prompt) queueAsk(k *ask) {
	p.asks[k.call.ID] = k
	p.queue = append(p.queue, piece{ask: k})
}

// takeAsks removes and returns every pending permission request.
func (p *prompt) takeAsks() (asks []*ask) {
	for id, k := range p.asks {
		asks = append(asks, k)
		delete(p.asks, id)
	}
	return asks
}

// takeAsked removes and returns the pending permission requests that were passed to the
// conversation.
func (p *prompt) takeAsked() (asks []*ask) {
	for id, k := range p.asks {
		if k.given {
			asks = append(asks, k)
			delete(p.asks, id)
		}
	}
	return asks
}

// waitsElsewhere reports whether the agent needs another permission before it continues
// with a call, or has moved on without reporting the call.
func (p *prompt) waitsElsewhere(t *tool) bool {
	for _, e := range p.queue {
		if e.ask != nil || !t.runs() {
			return true
		}
	}
	return false
}

// limit is how long the agent may send nothing.
func (p *prompt) limit() time.Duration {
	for _, t := range p.tools {
		if t.runs() {
			return toolSilence
		}
	}
	if p.alive.IsZero() {
		return firstSilence
	}
	return silence
}

// listen emits the agent's answer up to its end or to a permission request.
func (a *Adapter) listen(ctx context.Context, p *prompt, r copilot.Request, emit func(string)) error {
	began, told := time.Now(), time.Time{}
	var asks []*ask     // permission requests of the round, until gather is over
	var asked time.Time // time of the first of them
	for {
		a.mu.Lock()
		queue, over, limit, since := p.queue, p.isOver(), p.limit(), p.alive
		p.queue = nil
		a.mu.Unlock()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		for _, e := range queue {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			told = time.Now()
			if e.ask == nil {
				a.give(p, e, r, emit)
				continue
			}
			if len(asks) == 0 {
				asked = told
			}
			asks = append(asks, e.ask)
		}
		wait := heartbeat
		switch {
		case over:
			return a.outcome(p, r)
		case len(asks) > 0:
			wait = a.gathers(asks) - time.Since(asked)
			if wait <= 0 && a.giveAsks(p, asks, r) {
				return nil
			} else if wait <= 0 {
				asks = nil
				continue
			}
		case since.After(told) && time.Since(told) >= time.Second: // the agent thinks or runs a tool
			told = time.Now()
			emit("")
		}
		timer := time.NewTimer(wait)
		select {
		case <-p.wake:
		case <-p.over:
		case <-ctx.Done():
		case <-timer.C:
			if len(asks) > 0 {
				continue
			}
			if since.Before(began) {
				since = began
			}
			if time.Since(since) >= limit {
				a.cancel(p)
				return silent()
			}
			told = time.Now()
			emit("")
		}
		timer.Stop()
	}
}

// gathers returns how long a round waits after its first permission request.
func (a *Adapter) gathers(asks []*ask) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	if slices.ContainsFunc(asks, (*ask).incomplete) {
		return describeLimit
	}
	return gather
}

// give delivers a piece that is no permission request.
func (a *Adapter) give(p *prompt, e piece, r copilot.Request, emit func(string)) {
	if e.unasked {
		if r.Unasked != nil {
			r.Unasked()
		}
		return
	}
	emit(e.text)
	a.mu.Lock()
	p.spoke, p.wrote = true, true
	a.said += e.text
	a.mu.Unlock()
}

// giveAsks delivers permission requests, and reports whether the user has to decide one.
func (a *Adapter) giveAsks(p *prompt, asks []*ask, r copilot.Request) (asked bool) {
	for _, k := range asks {
		asked = a.giveAsk(p, k, r) || asked
	}
	return asked
}

// giveAsk delivers a permission request for the call as it is now: some agents describe a call
// just after they request permission for it.
func (a *Adapter) giveAsk(p *prompt, k *ask, r copilot.Request) (asked bool) {
	a.mu.Lock()
	wanted := p.asks[k.call.ID] == k
	if wanted && k.form == nil {
		now := a.callOf(k.agent, k)
		now.ID, now.Again = k.call.ID, k.call.Again
		k.call = now
	}
	unclear := k.form == nil && k.call.Hash() == ""
	if wanted && r.Wants != nil && !unclear {
		k.given, p.spoke, p.asked = true, true, true
	} else {
		delete(p.asks, k.call.ID)
	}
	a.mu.Unlock()
	switch {
	case !wanted: // already answered when the prompt was cancelled
		return false
	case r.Wants == nil, unclear:
		k.reject()
		return false
	}
	r.Wants(k.call)
	return true
}

// outcome returns the error of the round, given how the prompt ended.
func (a *Adapter) outcome(p *prompt, r copilot.Request) error {
	a.mu.Lock()
	err := p.outcome()
	unknown := err == nil && p.stop != acpsdk.StopReasonEndTurn
	a.mu.Unlock()
	if unknown && r.EndUnknown != nil {
		r.EndUnknown()
	}
	return err
}

// outcome is the error of the answer, or nil. The caller holds Adapter.mu.
func (p *prompt) outcome() error {
	switch {
	case p.err != nil:
		err := failure(p.err)
		if e := (*copilot.Error)(nil); p.wrote && errors.As(err, &e) && e.Code == codeFailed {
			return &copilot.Error{Code: copilot.CutOff, Message: "the agent reported an error before the end of its answer"}
		}
		return err
	case p.tooLong:
		return &copilot.Error{Code: copilot.CutByLength, Message: "the agent's answer is too long"}
	}
	switch p.stop {
	case acpsdk.StopReasonMaxTokens:
		return &copilot.Error{Code: copilot.CutByLength, Message: "the answer reached the length limit of the model"}
	case acpsdk.StopReasonMaxTurnRequests:
		return &copilot.Error{Code: copilot.CutByTurns, Message: "the agent reached its limit of steps"}
	case acpsdk.StopReasonRefusal:
		if p.wrote {
			return &copilot.Error{Code: copilot.CutByFilter, Message: "the agent declined to finish the answer"}
		}
		return &copilot.Error{Code: codeBlocked, Message: "the agent declined to answer"}
	case acpsdk.StopReasonCancelled: // also the answer to a rejected call
		switch {
		case p.asked:
		case p.wrote:
			return &copilot.Error{Code: copilot.CutOff, Message: "the agent cancelled its answer"}
		default:
			return &copilot.Error{Code: codeCancelled, Message: "the agent cancelled the request"}
		}
	}
	if !p.spoke {
		return &copilot.Error{Code: codeEmpty, Message: "the agent gave an empty answer"}
	}
	return nil
}

// awaitTail waits until no more text comes after the end of a prompt: some agents send the
// last piece of an answer after the response.
func (a *Adapter) awaitTail(p *prompt) {
	began := time.Now()
	for last := began; ; {
		wait := min(tailQuiet-time.Since(last), tailLimit-time.Since(began))
		if wait <= 0 {
			return
		}
		timer := time.NewTimer(wait)
		select {
		case <-p.dropped:
			timer.Stop()
			return
		case <-timer.C:
		}
		a.mu.Lock()
		if p.alive.After(last) {
			last = p.alive
		}
		a.mu.Unlock()
	}
}

// CallTool implements copilot.Caller: it grants the pending permission request and
// returns the result of the call. If the agent changed the call since the user was asked,
// it grants nothing and passes the call on again. The agent continues after a failed call, so a failed
// call returns its result and no error.
func (a *Adapter) CallTool(ctx, wanted context.Context, c copilot.ToolCall) (string, error) {
	a.mu.Lock()
	p := a.prompt
	var k *ask
	if p != nil && !p.cancelled && !p.isOver() {
		k = p.asks[c.ID]
		delete(p.asks, c.ID)
	}
	changed := k != nil && wanted.Err() == nil && a.changed(p, k)
	a.mu.Unlock()
	if changed {
		p.stir()
		return "", fmt.Errorf("%w; it is asked about again", copilot.ErrChanged)
	}
	if k == nil {
		return "", failed("the agent does not wait for this call any more; ask again")
	}
	if wanted.Err() != nil {
		k.dismiss()
		a.cancel(p)
		return "", copilot.ErrCancelled
	}
	if !k.grant() {
		a.cancel(p)
		return "", failed("the agent offers no way to allow this call alone")
	}
	return a.awaitTool(ctx, wanted, p, k)
}

// awaitTool waits for the result of a granted call.
func (a *Adapter) awaitTool(ctx, wanted context.Context, p *prompt, k *ask) (string, error) {
	stopped := wanted.Done()
	var waitsElsewhere <-chan time.Time
	for {
		a.mu.Lock()
		t, over, err := k.state, p.isOver(), p.err
		result, ended, next := t.output, t.ended(), p.waitsElsewhere(t)
		a.mu.Unlock()
		switch {
		case ended:
			return result, nil
		case over && wanted.Err() != nil:
			return result, copilot.ErrCancelled
		case over && err != nil:
			return result, failure(err)
		case over:
			return result, nil
		}
		if next && waitsElsewhere == nil {
			waitsElsewhere = time.After(overlap)
		}
		select {
		case <-p.wake:
		case <-p.over:
		case <-waitsElsewhere:
			p.stir()
			return result, nil
		case <-stopped:
			stopped = nil
			a.cancel(p)
		case <-ctx.Done():
			return result, ctx.Err()
		}
	}
}

func (p *prompt) signOfLife() { p.alive = time.Now() }

// text adds a piece of the agent's text. It drops text after a cancel and beyond maxAnswer.
func (p *prompt) text(text string) {
	if p.tooLong = p.tooLong || p.bytes+len(text) > maxAnswer; p.tooLong {
		return
	}
	p.bytes += len(text)
	p.write(p.filter.Push(text))
}

// write queues a piece of the answer.
func (p *prompt) write(text string) {
	if p.cancelled || text == "" {
		return
	}
	if n := len(p.queue); n > 0 && p.queue[n-1].text != "" {
		p.queue[n-1].text += text
		return
	}
	p.queue = append(p.queue, piece{text: text})
}

// maxTools limits the recorded calls of one prompt.
const maxTools = 10_000

// forgetEnded forgets the call id if that call has ended, because agents reuse ids.
func (p *prompt) forgetEnded(id acpsdk.ToolCallId) {
	if t := p.tools[id]; t != nil && t.ended() {
		delete(p.tools, id)
	}
}

func (p *prompt) merge(id acpsdk.ToolCallId, u update) *tool {
	t := p.tools[id]
	if t == nil {
		p.count++
		t = &tool{number: p.count}
		if len(p.tools) < maxTools {
			p.tools[id] = t
		}
	}
	t.merge(u)
	return t
}
