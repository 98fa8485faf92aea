package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// scriptedCalls names the file with the calls of scriptedAgent, one per line.
const scriptedCalls = "AGENTVOICE_TEST_CALLS"

// scriptedAgent is a coding agent that asks for one call after another, and appends to the file "ran"
// the calls that it may make, as it sent them.
func scriptedAgent() {
	text, err := os.ReadFile(os.Getenv(scriptedCalls))
	if err != nil {
		os.Exit(1)
	}
	ran, err := os.Create("ran")
	if err != nil {
		os.Exit(1)
	}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	send := func(format string, args ...any) { fmt.Printf(format+"\n", args...) }
	for in.Scan() {
		var m struct {
			ID     json.RawMessage
			Method string
		}
		_ = json.Unmarshal(in.Bytes(), &m)
		switch m.Method {
		case "initialize":
			send(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":1,"agentCapabilities":{},"agentInfo":{"name":"scripted","version":"1"}}}`, m.ID)
		case "session/new":
			send(`{"jsonrpc":"2.0","id":%s,"result":{"sessionId":"s"}}`, m.ID)
		case "session/prompt":
			for i, call := range strings.Split(strings.TrimSpace(string(text)), "\n") {
				send(`{"jsonrpc":"2.0","id":%d,"method":"session/request_permission","params":{"sessionId":"s","toolCall":%s,`+
					`"options":[{"optionId":"once","name":"Allow","kind":"allow_once"},{"optionId":"no","name":"Reject","kind":"reject_once"}]}}`, 1000+i, call)
				if in.Scan() && strings.Contains(in.Text(), `"once"`) {
					_, _ = fmt.Fprintln(ran, call)
				}
				send(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"c%d","status":"completed"}}}`, i)
			}
			send(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"All done."}}}}`)
			send(`{"jsonrpc":"2.0","id":%s,"result":{"stopReason":"end_turn"}}`, m.ID)
		}
	}
}
