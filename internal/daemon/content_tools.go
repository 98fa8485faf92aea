package daemon

import (
	"maps"
	"slices"

	"github.com/agentvoice/agentvoice-daemon/copilot"
)

// toolCall is a tool call with its proposal and its result.
type toolCall struct {
	copilot.ToolCall
	request uint64
	result  string
	notRun  bool // it was not the call that the user was asked about
	refused bool // the tool did nothing, and the result says why
}

// newCall allocates an id for a call that the answer to a request asks for.
func (c *content) newCall(request uint64, call copilot.ToolCall) uint64 {
	id := c.newID()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls[id] = &toolCall{ToolCall: call, request: request}
	return id
}

// callAgain makes id a copy of call of. It gets its own name on the wire, because a
// call runs only once.
func (c *content) callAgain(id, of uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if was := c.calls[of]; was != nil {
		again := was.ToolCall
		again.ID = wireID(again.ID+"-again-", id)
		c.calls[id] = &toolCall{ToolCall: again, request: was.request}
	}
}

// call returns a copy of a call; ok is false if the id is unknown.
func (c *content) call(id uint64) (call toolCall, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.calls[id]; known != nil {
		return *known, true
	}
	return toolCall{}, false
}

// callNamed returns the id of the latest call with the client's name for it, or 0.
// Assistants may reuse a name in another answer.
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

// setResult stores the result of a call, unless the conversation is over.
func (c *content) setResult(id uint64, result string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if call := c.calls[id]; call != nil {
		call.result = result
	}
}

// setNotRun records that a call was not run, because it was no longer the one that the user
// was asked about.
func (c *content) setNotRun(id uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if call := c.calls[id]; call != nil {
		call.notRun, call.result = true, "This call was not run, because it was not the one that the user was asked about. Ask for it again if it is still needed."
	}
}

// setRefused records that a tool did nothing. Its result says why.
func (c *content) setRefused(id uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if call := c.calls[id]; call != nil {
		call.refused = true
	}
}

func (c *content) setTools(tools []copilot.Tool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tools = tools
}

// offered returns the tools that the client offers. Callers must not modify them.
func (c *content) offered() []copilot.Tool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tools
}

// destructive reports whether a call may do something irreversible: because of a
// command in its input, its own flag, or else the flag of its tool. An unknown tool
// counts as destructive.
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

// allowed reports whether a call needs no question: the client says that the user
// allowed such calls beforehand, and the call neither runs a command nor is
// destructive.
func (c *content) allowed(call copilot.ToolCall) bool {
	if !call.Allowed || len(proposalOf(call).commands) > 0 || c.destructive(call) {
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

// alwaysAsk requires approval for every call of a tool until the conversation ends.
func (c *content) alwaysAsk(tool string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asks[tool] = true
}

// askAsBefore resets alwaysAsk and lastPassed.
func (c *content) askAsBefore() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asks, c.passed = map[string]bool{}, ""
}

// lastPassed returns the tool whose call was last allowed without a question, or "".
func (c *content) lastPassed() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.passed
}

// confirms reports whether the client shows its own dialog for calls of a tool.
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

// modelID returns the id of a model name. The adapter's default model has the name ""
// and the id 0.
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
	if len(c.summaries) > maxSummaries { // only the latest is used
		delete(c.summaries, slices.Min(slices.Collect(maps.Keys(c.summaries))))
	}
}

// maxSummaries is how many summaries are kept: the current one and the one in progress.
const maxSummaries = 3

func (c *content) summary(job uint32) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.summaries[job]
}
