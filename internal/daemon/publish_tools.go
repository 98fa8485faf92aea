package daemon

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// requested publishes a call that an answer asks for.
func (p *publisher) requested(s dispatch.Step, e csm.CopilotToolCall) {
	call, known := p.d.content.call(e.ToolCall)
	if !known {
		return
	}
	p.calls[e.ToolCall] = e.Request
	params := protocol.ToolParams{
		CallID: call.ID, TurnID: turnID(s.State.Current.ID), RequestID: requestID(e.Request), Name: call.Name,
		Status: protocol.ToolRequested, Destructive: e.Destructive, Hash: call.Hash(), Agent: call.Agent,
	}
	propose(&params, call)
	p.notifyTool(params)
	p.d.record(s.Envelope.At, "call", e.ToolCall, call.Name+" "+string(call.Input))
}

// propose adds what a call would do.
func propose(params *protocol.ToolParams, call toolCall) {
	what := proposalOf(call.ToolCall)
	params.Click, params.Commands, params.Programs = what.click, what.commands, what.programs
	params.Kind, params.Title, params.Files, params.Folder = call.Kind, call.Title, call.Files, call.Folder
	for _, diff := range call.Diffs {
		params.Diffs = append(params.Diffs, protocol.ToolDiff(diff))
	}
	if json.Valid(call.Input) {
		params.Input = call.Input
	}
}

var toolStatuses = map[csm.ToolStatus]protocol.ToolStatus{
	csm.ToolPending: protocol.ToolWaiting, csm.ToolRunning: protocol.ToolRunning, csm.ToolRejected: protocol.ToolRejected,
	csm.ToolCompleted: protocol.ToolCompleted, csm.ToolFailed: protocol.ToolFailed, csm.ToolCancelled: protocol.ToolCancelled,
}

// tool publishes the status of a call.
func (p *publisher) tool(f csm.PublishTool) {
	call, known := p.d.content.call(f.ToolCall)
	if !known {
		return
	}
	params := protocol.ToolParams{
		CallID: call.ID, TurnID: turnID(f.Turn), RequestID: requestID(f.Request), Name: call.Name,
		Status: toolStatuses[f.Status], Destructive: f.Destructive, Hash: call.Hash(), Agent: call.Agent,
	}
	if of, again := p.d.content.call(f.Of); again {
		params.RetryOf = of.ID
	}
	switch f.Status {
	case csm.ToolPending:
		params.Question = p.d.question(f.ToolCall)
		propose(&params, call)
		p.calls[f.ToolCall] = f.Request
	case csm.ToolRunning:
		p.calls[f.ToolCall] = f.Request
	case csm.ToolRejected, csm.ToolCompleted, csm.ToolFailed, csm.ToolCancelled:
		delete(p.calls, f.ToolCall)
		switch {
		case call.notRun:
			params.Status = protocol.ToolCancelled
		case call.refused:
			params.Status = protocol.ToolFailed
		}
	}
	p.notifyTool(params)
}

// notifyTool publishes the status of a call, and keeps it for clients that missed it.
func (p *publisher) notifyTool(t protocol.ToolParams) {
	i := slices.IndexFunc(p.tools, func(old protocol.ToolParams) bool { return old.CallID == t.CallID })
	if i < 0 {
		p.tools = append(p.tools, t)
	} else {
		if t.Question == "" {
			t.Question = p.tools[i].Question
		}
		kept := t
		if kept.Input == nil {
			was := p.tools[i]
			kept.Input, kept.Commands, kept.Programs = was.Input, was.Commands, was.Programs
			kept.Kind, kept.Title, kept.Files, kept.Diffs, kept.Folder = was.Kind, was.Title, was.Files, was.Diffs, was.Folder
		}
		p.tools[i] = kept
	}
	p.notify(protocol.NotifyTool, t)
}

// pendingActions returns the calls that await approval. The user is being asked about
// the first one.
func (d *Daemon) pendingActions(st csm.State) []string {
	waiting, ok := st.Copilot.(copilot.WaitingForApproval)
	if !ok {
		return nil
	}
	var ids []string
	for _, c := range waiting.Calls {
		if call, known := d.content.call(c.ID); known {
			ids = append(ids, call.ID)
		}
	}
	return ids
}

// endOfTurn completes what a turn left open: an answer that waited for a tool, and
// requested calls that no longer await approval. A running call ends by itself.
func (p *publisher) endOfTurn(s dispatch.Step, t csm.Turn) {
	if t.Request == 0 {
		return
	}
	if p.open == t.Request {
		p.endOfAnswer(s, turnID(t.ID), t.Request, true)
	}
	runs := runningCall(s.State)
	for _, id := range slices.Sorted(maps.Keys(p.calls)) {
		if p.calls[id] != t.Request || id == runs {
			continue
		}
		delete(p.calls, id)
		if call, known := p.d.content.call(id); known {
			p.notifyTool(protocol.ToolParams{
				CallID: call.ID, TurnID: turnID(t.ID), RequestID: requestID(t.Request), Name: call.Name, Status: protocol.ToolCancelled,
			})
		}
	}
}

var modelWords = map[protocol.Locale][2]string{ // while loading, when loaded
	protocol.English:  {"The model %s is being loaded.", "The model %s answers from now on."},
	protocol.German:   {"Das Modell %s wird geladen.", "Das Modell %s antwortet von jetzt an."},
	protocol.Japanese: {"モデル %s を読み込んでいます。", "これからはモデル %s が回答します。"},
}

// ownModel is the display name of the adapter's default model.
var ownModel = map[protocol.Locale]string{protocol.English: "of the editor", protocol.German: "des Editors", protocol.Japanese: "(エディターの既定)"}

// model publishes the progress of loading a model.
func (p *publisher) model(f csm.PublishModel) {
	locale := p.d.locale()
	n := protocol.NotificationParams{Kind: protocol.NotificationModelLoading, Severity: protocol.SeverityInfo}
	if f.Code != "" {
		spec := p.d.spec(protocol.ErrorCode(f.Code))
		n.Message, n.Severity, n.Code = spec.Message(locale), protocol.SeverityError, spec.Code
		p.notify(protocol.NotifyNotification, n)
		return
	}
	name := p.d.content.model(f.Model)
	if name == "" {
		name = ownModel[locale]
	}
	words := modelWords[locale][0]
	if f.Percent >= 100 {
		words = modelWords[locale][1]
	}
	share := float64(f.Percent) / 100
	n.Message, n.Progress = fmt.Sprintf(words, name), &share
	p.notify(protocol.NotifyNotification, n)
}

// runningCall returns the running call, or 0.
func runningCall(st csm.State) uint64 {
	if c, calls := st.Copilot.(copilot.CallingTool); calls {
		return c.Calls[0].ID
	}
	return 0
}
