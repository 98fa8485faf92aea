package daemon

import (
	"strings"
	"unicode/utf8"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/history"
)

// Limits of an extract, in characters.
const (
	extractLine  = 120
	extractTotal = 3000
)

// messages converts history items to prompt messages. Assistant messages contain only
// what the user heard.
func (c *content) messages(items []history.Item) []copilot.Message {
	var out []copilot.Message
	for _, it := range items {
		switch {
		case it.Utterance != 0:
			if words := c.words(it.Utterance, it.More); words != "" {
				out = append(out, copilot.Message{Role: copilot.RoleUser, Content: words, Dictated: c.isDictated(it.Utterance, it.More)})
			}
		case it.Request != 0:
			if heard := strings.TrimSpace(c.source(it.Request, c.heardOf(it.Request, it.From), c.heardOf(it.Request, it.Heard))); heard != "" {
				out = append(out, copilot.Message{Role: copilot.RoleAssistant, Content: heard, Cut: c.cutEnd(it.Request) != ""})
			}
		case it.Tool != 0:
			if call, known := c.call(it.Tool); known {
				out = append(out, outcomeOf(call, it.Outcome))
			}
		}
	}
	return out
}

// outcomeOf returns the message that tells the assistant the outcome of a call.
func outcomeOf(call toolCall, o history.Outcome) copilot.Message {
	m := copilot.Message{Role: copilot.RoleTool, Content: call.result, Call: &call.ToolCall}
	switch o {
	case history.Done:
		m.Status = copilot.CallCompleted
		switch {
		case call.notRun:
			m.Status = copilot.CallCancelled
		case call.refused:
			m.Status = copilot.CallFailed
		}
	case history.Rejected:
		m.Status, m.Content = copilot.CallRejected, "The user did not allow this call. It was not run."
	case history.Failed:
		m.Status = copilot.CallFailed
		if m.Content == "" {
			m.Content = "The call failed. It may have run in part."
		}
	case history.Stopped:
		m.Status, m.Content = copilot.CallCancelled, "The call was cancelled. It may have run in part."
	}
	return m
}

// extract makes the summary of a job without an assistant, from the previous summary
// and the first words of each item. If it is too long, the oldest items are dropped
// first. It is deterministic.
func (c *content) extract(e csm.Summarise) {
	var lines []string
	if before := c.summary(e.Previous); before != "" {
		lines = strings.Split(before, "\n")
	}
	for _, m := range c.messages(e.Items) {
		who := map[copilot.Role]string{copilot.RoleUser: "User", copilot.RoleAssistant: "Assistant", copilot.RoleTool: "Tool"}[m.Role]
		if m.Call != nil {
			who += " " + m.Call.Name
		}
		lines = append(lines, firstWords(who+": "+m.Content, extractLine))
	}
	for total := 0; ; total = 0 {
		for _, l := range lines {
			total += utf8.RuneCountInString(l) + 1
		}
		if total <= extractTotal {
			break
		}
		lines = lines[1:]
	}
	c.setSummary(e.Job, strings.Join(lines, "\n"))
}

// firstWords returns the beginning of a text on one line, cut at a word boundary if
// possible, with at most limit characters.
func firstWords(text string, limit int) string {
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	cut := []rune(text)[:limit-1]
	short := string(cut)
	if i := strings.LastIndex(short, " "); i > len(short)/2 {
		short = short[:i]
	}
	return short + "…"
}
