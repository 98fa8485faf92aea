package daemon

import (
	"maps"
	"slices"

	"github.com/agentvoice/agentvoice-daemon/copilot"
)

// toolCall is a call of a tool: what it would do, and what came of it.
type toolCall struct {
	copilot.ToolCall
	request uint64
	result  string
}

// newCall gives out an id for a call that the answer to a request asks for.
func (c *content) newCall(request uint64, call copilot.ToolCall) uint64 {
	id := c.newID()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls[id] = &toolCall{ToolCall: call, request: request}
	return id
}

// callAgain has call id be another one of what call of was. On the wire it has
// its own name: a call is run once.
func (c *content) callAgain(id, of uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if was := c.calls[of]; was != nil {
		again := was.ToolCall
		again.ID = wireID(again.ID+"-again-", id)
		c.calls[id] = &toolCall{ToolCall: again, request: was.request}
	}
}

// call is a copy of what is known of a call; ok is false for one that is not.
func (c *content) call(id uint64) (call toolCall, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.calls[id]; known != nil {
		return *known, true
	}
	return toolCall{}, false
}

// callNamed is the id of the latest call that the client knows by a name, 0 for
// none: assistants may use a name again in another answer.
func (c *content) callNamed(name string) (id uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for known, call := range c.calls {
		if call.ID == name {
			id = max(id, known)
		}
	}
	return id
}

// setResult keeps what a call brought, unless the conversation is over.
func (c *content) setResult(id uint64, result string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if call := c.calls[id]; call != nil {
		call.result = result
	}
}

func (c *content) setTools(tools []copilot.Tool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tools = tools
}

// offered are the tools that the client offers; they are not to be modified.
func (c *content) offered() []copilot.Tool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tools
}

// destructive says whether a call may do something irreversible: a command in its
// input does, or the call says so, or else the tool of its name. What nothing is
// known about may.
func (c *content) destructive(call copilot.ToolCall) bool {
	if proposalOf(call).destructive {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if call.Destructive != nil {
		return *call.Destructive
	}
	for _, t := range c.tools {
		if t.Name == call.Name && t.Destructive != nil {
			return *t.Destructive
		}
	}
	return true
}

// allowed says whether a call needs no question: the client says that the user allowed
// such calls beforehand, and it neither runs a command nor is destructive.
func (c *content) allowed(call copilot.ToolCall) bool {
	what := proposalOf(call)
	if !call.Allowed || what.click || len(what.commands) > 0 || c.destructive(call) {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.asks[call.Name] {
		return false
	}
	c.passed = call.Name
	return true
}

// alwaysAsk has calls of a tool asked about until the conversation ends.
func (c *content) alwaysAsk(tool string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asks[tool] = true
}

// askAsBefore ends what alwaysAsk began.
func (c *content) askAsBefore() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asks, c.passed = map[string]bool{}, ""
}

// lastPassed is the tool whose call passed without a question last, "" for none.
func (c *content) lastPassed() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.passed
}

// confirms says whether the client's own dialog asks about calls of a tool.
func (c *content) confirms(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range c.tools {
		if t.Name == name {
			return t.Confirms
		}
	}
	return false
}

// modelID is the id of a model's name; the adapter's own has the name "" and the
// id 0.
func (c *content) modelID(name string) uint64 {
	if name == "" {
		return 0
	}
	c.mu.Lock()
	for id, known := range c.models {
		if known == name {
			c.mu.Unlock()
			return id
		}
	}
	c.mu.Unlock()
	id := c.newID()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.models[id] = name
	return id
}

func (c *content) model(id uint64) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.models[id]
}

func (c *content) setSummary(job uint32, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.summaries[job] = text
	if len(c.summaries) > maxSummaries { // only the latest is asked for
		delete(c.summaries, slices.Min(slices.Collect(maps.Keys(c.summaries))))
	}
}

// maxSummaries is how many are kept: the one that stands, and one that is made.
const maxSummaries = 3

func (c *content) summary(job uint32) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.summaries[job]
}
