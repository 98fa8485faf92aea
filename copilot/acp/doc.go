// Package acp is the adapter for coding agents that speak the Agent Client
// Protocol: the agent is a child process, and JSON-RPC runs over its standard
// input and output, one message a line.
//
// # Model
//
// One answer of the agent is one session/prompt, however many tools it calls. The
// conversation has rounds instead: a round ends where the user has to decide. So
// Send gives out the answer up to the agent's next request for permission, and
// returns; the prompt stays open. CallTool grants the permission and waits for the
// result of that call, and the next Send of the same request gives out what follows.
// A call that was not granted by then is rejected.
//
// A question of the agent to the user is given out as a call, too. The words of the next
// request answer it, and its prompt continues with that request.
//
// The package takes the types of the messages from coder/acp-go-sdk, and not its
// connection: that one closes after 1,024 queued notifications, hands permissions
// out ahead of the updates before them, and closes on a long line. Here, messages
// are handled in their order on the reader's goroutine, which never waits.
//
// # Invariants
//
//   - A permission is answered once. A grant selects an option that allows this one
//     call; without such an option the call is rejected.
//   - When a request is over or cancelled, each of its permissions is answered
//     "cancelled", and nothing more of its text is given out.
//   - A prompt that does not end after it was cancelled ends with its agent: the
//     next request starts another one, and loads the session there.
//   - Every wait has a limit. While the agent works silently, Send passes on empty
//     pieces of text as signs of life.
//   - No words of the agent or of the user are in an error.
package acp
