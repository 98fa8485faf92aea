package daemon

import (
	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// cutEnds are the ends of answers that the failure code of a request tells.
var cutEnds = map[csm.Code]protocol.AnswerEnd{
	copilot.CutByLength: protocol.EndLength, copilot.CutByTurns: protocol.EndTurnLimit, copilot.CutByFilter: protocol.EndFilter, copilot.CutOff: protocol.EndInterrupted,
}

// endOf returns the end of an answer whose request failed with a code, "" if there is no
// answer.
func endOf(code csm.Code, hasText bool) protocol.AnswerEnd {
	if end := cutEnds[code]; end != "" {
		return end
	}
	switch {
	case !hasText:
		return ""
	case code == csm.CodeCopilotStalled:
		return protocol.EndStall
	}
	return protocol.EndInterrupted
}

// isCut reports whether an end is that of an answer of which the rest is missing.
func isCut(end protocol.AnswerEnd) bool {
	return end != "" && end != protocol.EndWhole && end != protocol.EndUnknown
}

// setEnd stores how the answer to a request ended.
func (c *content) setEnd(request uint64, end protocol.AnswerEnd) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ends[request] = end
}

// end returns how the answer to a request ended, "" while it has not.
func (c *content) end(request uint64) protocol.AnswerEnd {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ends[request]
}

// cutEnd returns why the answer to a request was cut off, "" if it was not.
func (c *content) cutEnd(request uint64) protocol.AnswerEnd {
	if end := c.end(request); isCut(end) {
		return end
	}
	return ""
}

// hasAnswer reports whether the answer to a request has text.
func (c *content) hasAnswer(request uint64) bool { return c.answer(request, -1) != "" }

// endOfTurn returns how the answer of a turn ended. It stores the end of an answer that
// the core cut off, which no request reports.
func (c *content) endOfTurn(t csm.Turn, end csm.TurnEnd) protocol.AnswerEnd {
	known := c.end(t.Request)
	switch {
	case t.Request == 0 || isCut(known):
	case end == csm.TurnFailed && known == "":
		known = endOf(t.Failed, c.hasAnswer(t.Request))
		c.setEnd(t.Request, known)
	case known == "" && c.hasAnswer(t.Request): // by the user
		return protocol.EndInterrupted
	}
	return known
}
