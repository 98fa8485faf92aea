package daemon

import (
	"context"
	"errors"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm"
)

// searching is the id of a search for tools.
const searching = "search"

// search answers csm.SearchTools. The client chooses the tools, and they are sent with
// the round. A search that is cancelled meanwhile reports so.
func (a *assistant) search(e csm.SearchTools) {
	a.begin(&asking{id: searching}, func(ctx context.Context) csm.Event {
		tools := len(a.content.offered())
		if ctx.Err() != nil {
			return csm.ToolSearchDone{Request: e.Request, Round: e.Round, Cancelled: true}
		}
		return csm.ToolSearchDone{Request: e.Request, Round: e.Round, Tools: tools}
	})
}

// callTool executes a call. A cancelled call is still waited for, because it may have
// run and then has a result (invariant 13).
func (a *assistant) callTool(e csm.CallTool) {
	call, known := a.content.call(e.ToolCall)
	caller, can := a.uses().(copilot.Caller)
	if !known || !can {
		a.post(csm.ToolDone{ToolCall: e.ToolCall, Code: csm.CodeToolFailed})
		return
	}
	a.begin(&asking{id: ToolID(call.ID), waits: true}, func(ctx context.Context) csm.Event {
		result, err := caller.CallTool(a.ctx, ctx, call.ToolCall)
		a.content.setResult(e.ToolCall, result)
		done := csm.ToolDone{ToolCall: e.ToolCall}
		switch {
		case errors.Is(err, copilot.ErrChanged): // the answer goes on, and the call may be asked about again
			a.content.setNotRun(e.ToolCall)
		case errors.Is(err, copilot.ErrRefused): // the answer goes on, with the reason
			a.content.setRefused(e.ToolCall)
		case errors.Is(err, copilot.ErrCancelled):
			done.Cancelled = true
		case err != nil:
			done.Code = csm.CodeToolFailed
		}
		return done
	})
}

// ToolID returns the id of a tool call for a Waiter.
func ToolID(callID string) string { return "tool " + callID }

func (a *assistant) cancelTool(toolCall uint64) {
	call, _ := a.content.call(toolCall) // an unknown call does not run
	a.cancel(ToolID(call.ID))
}

// load loads a model and replaces a load in progress. If models need no loading, it
// succeeds at once.
func (a *assistant) load(e csm.LoadModel) {
	a.cancel(loading)
	loader, loads := a.uses().(copilot.Loader)
	if !loads {
		a.post(csm.ModelLoaded{Load: e.Load})
		return
	}
	a.begin(&asking{id: loading}, func(ctx context.Context) csm.Event {
		err := loader.Load(ctx, a.content.model(e.Model), func(percent int) {
			if ctx.Err() == nil {
				a.post(csm.ModelProgress{Load: e.Load, Percent: percent})
			}
		})
		var known *copilot.Error
		switch {
		case errors.As(err, &known):
			return csm.ModelFailed{Load: e.Load, Code: knownCode(known.Code, csm.CodeModelFailed)}
		case err != nil:
			return csm.ModelFailed{Load: e.Load, Code: csm.CodeModelFailed}
		}
		return csm.ModelLoaded{Load: e.Load}
	})
}

// Ids of the jobs that run one at a time.
const (
	loading     = "model"
	summarising = "summary"
)

// summarise condenses the beginning of the conversation, with the adapter if it can
// summarise, or else as an extract.
func (a *assistant) summarise(e csm.Summarise) {
	a.cancel(summarising)
	s, can := a.uses().(copilot.Summariser)
	if !can {
		a.content.extract(e)
		a.post(csm.Summarised{Job: e.Job})
		return
	}
	said := a.content.messages(e.Items)
	if before := a.content.summary(e.Previous); before != "" {
		said = append([]copilot.Message{{Role: copilot.RoleUser, Content: summaryLead + before}}, said...)
	}
	a.begin(&asking{id: summarising}, func(ctx context.Context) csm.Event {
		text, err := s.Summarise(ctx, said)
		switch {
		case ctx.Err() != nil:
			return csm.Summarised{Job: e.Job, Code: csm.CodeCopilotFailed}
		case err != nil || text == "": // an extract is better than an ever-growing history
			a.content.extract(e)
		default:
			a.content.setSummary(e.Job, text)
		}
		return csm.Summarised{Job: e.Job}
	})
}
