package daemon

import (
	"context"
	"errors"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/copilot/spoken"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// ErrNoCall reports an unknown tool call.
var ErrNoCall = errors.New("the assistant did not ask for a call of that name in this conversation")

// ErrCallChanged reports that a call is not the one that the user saw.
var ErrCallChanged = errors.New("the call is not the one that was shown")

// Approve allows or refuses a tool call, which is identified by the name that the
// client knows. It allows only the call of which the user saw the hash.
func (d *Daemon) Approve(callID, hash string, approved bool, done func(csm.Reply, protocol.Snapshot)) error {
	id := d.content.callNamed(callID)
	call, known := d.content.call(id)
	switch {
	case !known:
		return ErrNoCall
	case approved && (hash == "" || hash != call.Hash()):
		return ErrCallChanged
	}
	d.Call(func(c csm.Call) csm.Event { return csm.UserApprove{Call: c, ToolCall: id, Approved: approved} }, done)
	return nil
}

// Retry retries the named stage, or whichever stage failed last if none is named. A
// retried tool call gets a new id.
func (d *Daemon) Retry(stage copilot.Stage, done func(csm.Reply, protocol.Snapshot)) {
	id := d.content.newID()
	d.Call(func(c csm.Call) csm.Event { return csm.UserRetry{Call: c, Stage: stage, ToolCall: id} }, done)
}

// SelectModel selects the model that answers from the next request on; "" is the
// adapter's default. During a conversation with a budget, it keeps the old model if
// the price of the new one is not known.
func (d *Daemon) SelectModel(name string, done func(csm.Reply, protocol.Snapshot)) {
	if !d.selectable(name) {
		d.sayAloud(d.spoken(protocol.CodePriceUnknown))
		done(csm.Reply{Code: csm.Code(protocol.CodePriceUnknown)}, d.Snapshot())
		return
	}
	if d.adapter() == d.cfg.Adapter { // the setting is of that one
		d.mu.Lock()
		d.set.Copilot.Model, d.selected = name, name
		d.mu.Unlock()
	}
	id := d.content.modelID(name)
	d.Call(func(c csm.Call) csm.Event { return csm.UserSelectModel{Call: c, Model: id} }, done)
}

// Models returns the assistant's models, or no models if only the client knows them. It
// may block until ctx is done.
func (d *Daemon) Models(ctx context.Context) ([]copilot.Model, error) {
	if l, ok := d.adapter().(copilot.Lister); ok {
		return l.Models(ctx)
	}
	return nil, nil
}

// OfferTools replaces the tools that the client offers to the assistant.
func (d *Daemon) OfferTools(tools []copilot.Tool) {
	before := d.coreConfig().Tools
	d.content.setTools(tools)
	if now := d.coreConfig(); now.Tools != before {
		d.loop.Post(csm.Configure{Config: now})
	}
}

// callsTools reports whether tool calls can be executed.
func (d *Daemon) callsTools() bool {
	_, can := d.adapter().(copilot.Caller)
	return can || d.assistant == nil // the World executes them
}

// modelOf returns the name of the model that answers; "" is the adapter's default.
func (d *Daemon) modelOf(st csm.State) string { return d.content.model(st.Model.Loaded) }

// spokenAs returns how an answer that begins now is converted to spoken words.
func (d *Daemon) spokenAs() spoken.Options {
	how := spoken.Options{Locale: string(d.locale()), Code: readCode[d.settings().Speech.ReadCode]}
	if lexicon := d.vocabulary.lexicon.Load(); lexicon != nil {
		how.Lexicon = *lexicon
	}
	if d.voice.skips.Load() {
		how.Code = spoken.ReadCodeSkip
	}
	return how
}

// readCode maps the values of agentvoice.speech.readCode.
var readCode = map[string]spoken.ReadCode{
	protocol.ReadCodeName: spoken.ReadCodeName, protocol.ReadCodeSkip: spoken.ReadCodeSkip, protocol.ReadCodeFull: spoken.ReadCodeFull,
}

// answerFromWorld does the assistant's work for a World that answers requests itself.
// It runs on the loop's goroutine.
func (d *Daemon) answerFromWorld(request uint64, round int, text string, end bool) {
	s := d.segments[request]
	if s == nil || s.round != round {
		s = newSegmenter(d.content, request, round, d.loop.Post, d.spokenAs())
		d.segments[request] = s
	}
	if text != "" {
		s.push(text)
	}
	if end {
		s.flush()
		delete(d.segments, request)
	}
}

func (d *Daemon) toolCallFromWorld(request uint64, round int, call copilot.ToolCall) csm.CopilotToolCall {
	d.answerFromWorld(request, round, "", false)
	d.segments[request].flush()
	return csm.CopilotToolCall{
		Request: request, Round: round, ToolCall: d.content.newCall(request, call), Destructive: d.content.destructive(call),
		Reads: reads(call), Allowed: d.content.allowed(call),
	}
}

func (d *Daemon) summaryFromWorld(e csm.Summarise, text string) {
	if text == "" {
		d.content.extract(e)
		return
	}
	d.content.setSummary(e.Job, text)
}
