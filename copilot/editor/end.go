package editor

import "github.com/agentvoice/agentvoice-daemon/copilot"

// The values of end in the result of copilot/send.
const (
	endWhole       = "whole"
	endLength      = "length"
	endTurnLimit   = "turnLimit"
	endFilter      = "filter"
	endStall       = "stall"
	endInterrupted = "interrupted"
)

// whole reports whether the answer has the end that the assistant meant, as far as known.
func (r sendResult) whole() bool { return r.Status == "completed" && r.cut(true) == nil }

// unknown reports whether the client cannot tell if a completed answer is whole.
func (r sendResult) unknown() bool { return r.whole() && r.End != endWhole }

// cut returns the error of a completed answer that is not whole, or nil.
func (r sendResult) cut(spoke bool) *copilot.Error {
	switch r.End {
	case endLength:
		return &copilot.Error{Code: copilot.CutByLength, Message: "the answer reached the length limit of the model"}
	case endTurnLimit:
		return &copilot.Error{Code: copilot.CutByTurns, Message: "the assistant reached its limit of steps"}
	case endFilter:
		return final(&copilot.Error{Code: codeBlocked, Message: "a content filter blocked the answer"}, spoke)
	case endStall:
		return &copilot.Error{Code: codeStalled, Message: "the assistant stopped before the end of its answer"}
	case endInterrupted:
		return final(failed("the assistant's answer broke off"), spoke)
	}
	return nil
}
