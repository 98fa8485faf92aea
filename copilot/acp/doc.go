// Package acp is the adapter for coding agents that speak the Agent Client Protocol: the
// agent is a child process, and JSON-RPC runs over its standard input and output, one
// message per line.
//
// # Model
//
// One answer of the agent is one session/prompt, however many tools it calls. The
// conversation has rounds instead: a round ends when the user has to decide. So Send
// emits the answer up to the agent's next permission request and returns, while the
// prompt stays open. CallTool grants the permission and waits for the result of that
// call, and the next Send of the same request emits what follows. It first rejects the
// calls that have not been granted.
//
// A question of the agent to the user is reported as a call, too. The user's next words
// answer it, and its prompt continues with the request that carries them.
//
// The package uses the message types of coder/acp-go-sdk, but not its connection, which
// closes after 1,024 queued notifications, delivers permission requests ahead of the
// updates that precede them, and closes on a long line. Here, messages are handled in
// order on the reader's goroutine, which never blocks.
//
// # Invariants
//
//   - A permission request is answered once. A grant selects an option that allows only
//     this call; without such an option the call is rejected.
//   - When a request ends or is cancelled, each of its pending permission requests is
//     answered "cancelled", and none of its remaining text is emitted.
//   - If a prompt does not end after it was cancelled, its agent is terminated. The next
//     request starts a new agent and loads the session there.
//   - Every wait has a limit. While the agent works without output, Send emits empty pieces
//     of text to report progress.
//   - Errors contain no words of the user, and of the agent only what it printed before its first
//     message.
package acp
