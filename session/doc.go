// Package session is the session region: whether a service is available, and what its
// assistant is doing.
//
// # Model
//
// The region has seven states, ten statuses that a session reports, and one guard map. A
// status requests a state; the guard map says whether the current state may change to it.
// All changes go through Next, which is total and pure: a status that the guard map
// forbids leaves the state unchanged, is reported to the caller for counting, and has no
// other effect.
//
// The region is above the connection and the conversation: when a session ends, its
// children end with it.
//
// # A turn
//
// State.InTurn holds for the whole turn: in Running, and in Waiting while the user is
// asked. Data of a turn (text, tool calls, open question, error) belongs to the
// conversation, which starts each turn with a zero csm.Turn.
//
//   - An approval resumes the turn that asked.
//   - A second turn_started is rejected while Running.
//   - Every other accepted status out of a turn ends it.
//
// # Waiting for the user
//
// question_requested changes Running to Waiting, approval_resolved changes it back. A
// rejection also resolves the question: the turn continues and ends by itself. The guard
// map does not allow Waiting to Ready, so turn_complete and turn_error are rejected while
// Waiting. A turn that fails or is cancelled while the user is asked therefore reports
// two statuses: approval_resolved, then the end of the turn.
//
// The guard map cannot tell whether an approval is late: in Ready, approval_resolved
// requests Running and gets it. The reporter must check that the question is still open.
//
// # Renewal
//
// Renewal of an expiring session has no state. The successor's connection opens beside
// the active one (package csm/connection) and the session reports nothing: it stays
// Ready, Running or Waiting. In particular, the successor's handshake does not report
// connected, which would end a running turn. If the successor is late, the conversation
// pauses (Suspended) and the session still does not change. If the successor fails for
// good, the status is error, and activating again recovers.
//
// # After a restart
//
// No service survives the process. Recorded names are read with Parse, which also accepts
// the legacy names of the four-state model, and reset to Inactive with Reconcile; Stale
// says whether that changes anything. Legacy names are never written.
package session
