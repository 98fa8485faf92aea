package daemon

import (
	"context"
	"errors"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/copilot/spoken"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// ErrNoCall says that a call of a tool is not known.
var ErrNoCall = errors.New("the assistant did not ask for a call of that name in this conversation")

// Approve allows a call of a tool, by the name that the client knows it by, or
// does not.
func (d *Daemon) Approve(callID string, approved bool, done func(csm.Reply, protocol.Snapshot)) error {
	id := d.content.callNamed(callID)
	if id == 0 {
		return ErrNoCall
	}
	d.Call(func(c csm.Call) csm.Event { return csm.UserApprove{Call: c, ToolCall: id, Approved: approved} }, done)
	return nil
}

// Retry tries again what failed last: the stage that is named, or whichever it
// was. A call of a tool that is tried again is another call.
func (d *Daemon) Retry(stage copilot.Stage, done func(csm.Reply, protocol.Snapshot)) {
	id := d.content.newID()
	d.Call(func(c csm.Call) csm.Event { return csm.UserRetry{Call: c, Stage: stage, ToolCall: id} }, done)
}

// SelectModel has a model answer from the next request on; "" is the adapter's
// own.
func (d *Daemon) SelectModel(name string, done func(csm.Reply, protocol.Snapshot)) {
	d.mu.Lock()
	d.set.Copilot.Model, d.selected = name, name
	d.mu.Unlock()
	id := d.content.modelID(name)
	d.Call(func(c csm.Call) csm.Event { return csm.UserSelectModel{Call: c, Model: id} }, done)
}

// Models are those of the assistant; none where only the client knows them. It
// may take as long as ctx lets it.
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

// callsTools says whether there is somebody who carries out calls of tools.
func (d *Daemon) callsTools() bool {
	_, can := d.adapter().(copilot.Caller)
	return can || d.assistant == nil // the World does
}

// modelOf is the name of the model that answers; "" is the adapter's own.
func (d *Daemon) modelOf(st csm.State) string { return d.content.model(st.Model.Loaded) }

// spokenAs is how an answer that begins now is put into spoken words.
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

// readCode are the values of agentvoice.speech.readCode.
var readCode = map[string]spoken.ReadCode{
	protocol.ReadCodeName: spoken.ReadCodeName, protocol.ReadCodeSkip: spoken.ReadCodeSkip, protocol.ReadCodeFull: spoken.ReadCodeFull,
}

// answerFromWorld is the assistant's part for a World that answers by itself. It
// runs on the loop's goroutine.
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
		Allowed: d.content.allowed(call),
	}
}

func (d *Daemon) summaryFromWorld(e csm.Summarise, text string) {
	if text == "" {
		d.content.extract(e)
		return
	}
	d.content.setSummary(e.Job, text)
}
