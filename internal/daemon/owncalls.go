package daemon

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// ownCall is a tool call that an agent made by itself.
type ownCall struct {
	copilot.OwnCall
	at uint64 // its place among the ids of content
}

// maxOwnCalls limits the stored calls of a conversation.
const maxOwnCalls = 10_000

// setOwnCall stores a call that an agent made by itself for a request, or its new status,
// unless the conversation is over. A call that the user was asked about is stored as such
// already.
func (c *content) setOwnCall(request uint64, call copilot.OwnCall) {
	at := c.newID()
	c.mu.Lock()
	defer c.mu.Unlock()
	known, again := c.own[call.ID]
	switch {
	case c.answers[request] == nil: // the conversation is over
	case call.Asked:
		delete(c.own, call.ID)
	case again:
		c.own[call.ID] = ownCall{call, known.at}
	case len(c.own) < maxOwnCalls:
		c.own[call.ID] = ownCall{call, at}
	}
}

// ownCalls returns the calls that agents made by themselves, in order.
func (c *content) ownCalls() []ownCall {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.SortedFunc(maps.Values(c.own), func(a, b ownCall) int { return cmp.Compare(a.at, b.at) })
}

// maxDeeds limits the tool calls listed aloud, to the latest ones.
const maxDeeds = 10

var ownStatuses = map[copilot.CallStatus]protocol.ToolStatus{
	copilot.CallRunning: protocol.ToolRunning, copilot.CallCompleted: protocol.ToolCompleted, copilot.CallFailed: protocol.ToolFailed,
	copilot.CallCancelled: protocol.ToolCancelled,
}

// deed is a tool call as listed aloud.
type deed struct {
	name   string
	status protocol.ToolStatus
	at     uint64
}

// deeds lists the tool calls of this conversation with their outcomes, whether or not the
// user was asked about them.
func (d *Daemon) deeds() string {
	d.pubMu.Lock()
	tools := slices.Clone(d.pub.tools)
	d.pubMu.Unlock()
	words, lists := voiceWords[d.locale()], questions[d.locale()]
	var done []deed
	for _, t := range tools {
		one := deed{name: clipSpoken(strings.Join(nameWords(t.Name), " ")), status: t.Status, at: d.content.callNamed(t.CallID)}
		if call, known := d.content.call(one.at); known {
			p := proposalOf(call.ToolCall)
			if on := slices.Concat(p.objects, p.programs); len(on) > 0 {
				one.name = fmt.Sprintf(words.on, one.name, lists.few(on))
			}
		}
		done = append(done, one)
	}
	for _, c := range d.content.ownCalls() {
		done = append(done, deed{name: clipSpoken(strings.Join(strings.Fields(strings.ReplaceAll(c.Name, "`", "")), " ")), status: ownStatuses[c.Status], at: c.at})
	}
	if len(done) == 0 {
		return words.nothingDone
	}
	slices.SortStableFunc(done, func(a, b deed) int { return cmp.Compare(a.at, b.at) })
	said := []string{fmt.Sprintf(words.done, len(done))}
	for _, one := range done[max(0, len(done)-maxDeeds):] {
		said = append(said, fmt.Sprintf(words.one, one.name, words.outcomes[one.status]))
	}
	return strings.Join(said, " ")
}
