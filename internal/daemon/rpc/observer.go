package rpc

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// Limits of what the observer keeps, by kind.
const (
	maxSamples  = 256
	maxErrors   = 20
	maxSessions = 100
)

// observer counts and measures notifications for reports. It keeps codes, ids and
// times, but no words.
type observer struct {
	started time.Time

	mu       sync.Mutex
	counts   map[string]int64
	times    map[string][]time.Duration
	errors   []protocol.ReportedError
	sessions []protocol.SessionSummary // oldest first
	now      time.Time                 // latest published time
	since    map[protocol.State]time.Time
	began    time.Time // when the conversation's session was requested
	turns    int
}

func newObserver(started time.Time) *observer {
	return &observer{
		started: started, now: started, counts: map[string]int64{}, times: map[string][]time.Duration{},
		since: map[protocol.State]time.Time{},
	}
}

func (o *observer) count(name string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.counts[name]++
}

// saw handles a notification.
func (o *observer) saw(_ string, params any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch p := params.(type) {
	case protocol.StateParams:
		o.state(p)
	case protocol.TurnParams:
		o.turn(p)
	case protocol.SessionParams:
		o.session(p)
	case protocol.NotificationParams:
		if p.Code != "" && p.Severity != protocol.SeverityInfo {
			o.failed(p.Code)
		}
	case protocol.ErrorParams:
		o.failed(p.Code)
	}
}

// state measures the times that the specification promises: from the words to the voice
// (PER-001 and AC-003), and from the interruption to listening (PER-002).
func (o *observer) state(p protocol.StateParams) {
	at := p.Since.Time
	o.now = at
	switch {
	case p.State == protocol.StateProcessing && p.Substate == "analysing":
		o.since[protocol.StateProcessing] = at
	case p.State == protocol.StateSpeaking && p.PreviousState != protocol.StateSuspended:
		o.measure("processingToSpeaking", protocol.StateProcessing, at)
	case p.State == protocol.StateInterrupted:
		o.since[protocol.StateInterrupted] = at
	case p.State == protocol.StateListening && p.PreviousState == protocol.StateInterrupted:
		o.measure("interruptedToListening", protocol.StateInterrupted, at)
	case p.State == protocol.StateSuspended:
		o.since[protocol.StateSuspended] = at
		o.counts["conversation.suspended"]++
	case p.State == protocol.StatePreparing:
		o.since[protocol.StatePreparing] = at
	case p.State == protocol.StateListening && p.PreviousState == protocol.StatePreparing:
		o.measure("preparingToListening", protocol.StatePreparing, at)
	case p.State == protocol.StateFaulted:
		o.counts["conversation.faulted"]++
	}
}

func (o *observer) measure(name string, from protocol.State, at time.Time) {
	begin, ok := o.since[from]
	if !ok {
		return
	}
	delete(o.since, from)
	samples := append(o.times[name], at.Sub(begin))
	o.times[name] = samples[max(0, len(samples)-maxSamples):]
}

func (o *observer) turn(p protocol.TurnParams) {
	o.now = p.Timestamp.Time
	if p.Event == protocol.TurnStarted {
		return
	}
	o.turns++
	o.counts["turns."+string(p.Outcome)]++
	if n := len(o.sessions); n > 0 {
		o.sessions[n-1].Turns++
	}
}

func (o *observer) session(p protocol.SessionParams) {
	n := len(o.sessions)
	if n == 0 || o.sessions[n-1].ID != p.ID {
		if p.ID == "" {
			return
		}
		o.sessions = append(o.sessions, protocol.SessionSummary{ID: p.ID, Provider: p.Provider, StartedAt: protocol.At(o.now)})
		o.sessions = o.sessions[max(0, len(o.sessions)-maxSessions):]
		o.counts["sessions"]++
		n = len(o.sessions)
	}
	last := &o.sessions[n-1]
	last.State = p.State
	if p.State == protocol.SessionInactive {
		last.EndedAt = protocol.At(o.now)
	}
}

func (o *observer) failed(code protocol.ErrorCode) {
	o.errors = append(o.errors, protocol.ReportedError{Code: code, Timestamp: protocol.At(o.now)})
	o.errors = o.errors[max(0, len(o.errors)-maxErrors):]
}

func (o *observer) counters() map[string]int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return maps.Clone(o.counts)
}

func (o *observer) lastErrors() []protocol.ReportedError {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.errors)
}

func (o *observer) latencies() map[string]protocol.Latency {
	o.mu.Lock()
	defer o.mu.Unlock()
	out := map[string]protocol.Latency{}
	for name, samples := range o.times {
		out[name] = daemon.Distribution(samples)
	}
	return out
}

// sessions lists the recorded sessions or, without a record, those of this process.
func (s *server) sessions(c *call) {
	if s.back.Sessions != nil {
		recorded(s, c, s.back.Sessions)
		return
	}
	s.seen.mu.Lock()
	list := slices.Clone(s.seen.sessions)
	s.seen.mu.Unlock()
	slices.Reverse(list)
	c.reply(protocol.SessionsResult{Sessions: list})
}

// usage returns the recorded usage or, without a record, that of this process.
func (s *server) usage(c *call) {
	if s.back.Usage != nil {
		recorded(s, c, s.back.Usage)
		return
	}
	s.seen.mu.Lock()
	result := protocol.UsageResult{Since: protocol.At(s.seen.started), Sessions: int(s.seen.counts["sessions"]), Turns: s.seen.turns}
	s.seen.mu.Unlock()
	c.reply(result)
}

// recorded answers from the record, which is slow to read.
func recorded[R any](s *server, c *call, read func(context.Context) (R, error)) {
	s.spawn(func() {
		result, err := read(s.ctx)
		if err != nil {
			s.log.Warn().Err(err).Msg("the record cannot be read")
			c.fail(protocol.CodeInternalError, "the record cannot be read")
			return
		}
		c.reply(result)
	})
}
