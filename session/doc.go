// Package session is the session region: whether there is a service to talk
// to, and what the assistant behind it is doing.
//
// # Model
//
// Seven states, ten statuses that a session reports about itself, and one guard
// map. A status asks for a state; the guard map says whether the present state
// may become it. Every change of state goes through Next, which is total and pure:
// a status that the guard map does not allow leaves the state as it is and is
// reported, so that the caller counts it and nobody acts on it.
//
// The region sits above the connection and the conversation: when a session
// ends, its children end with it.
//
// # A turn
//
// State.InTurn holds from the turn's start to its end: in Running and, while the
// user is asked, in Waiting. What belongs to one turn (its text, tool calls,
// open question, error) is data of the conversation, which begins each turn with
// the zero value (csm.Turn) and keeps none of it for the next.
//
//   - An approval resumes the turn that asked.
//   - A second turn_started is rejected while Running.
//   - Every other accepted status out of a turn ends it.
//
// # Waiting for the user
//
// question_requested leads from Running to Waiting, approval_resolved back. A
// rejection resolves the question as well: the turn continues and ends by itself.
// The guard map has no way from Waiting to Ready. So turn_complete and turn_error
// are rejected while Waiting, although turn_error asks for Ready there, and a turn
// that is cancelled or fails while the user is asked ends with two statuses: the
// question is resolved first (approval_resolved), then the turn ends.
//
// The guard map cannot see whether an approval is late: in Ready,
// approval_resolved asks for Running and gets it. Whoever reports it first makes
// sure that the question is still open.
//
// # Renewal
//
// There is no state for the renewal of an expiring session. The successor's
// connection opens beside the active one (package csm/connection) and the session
// reports nothing: it stays Ready, or Running or Waiting in the middle of a turn.
// In particular the successor's handshake is no connected, which would end the
// turn of a session that is Running. Only when the successor is late does the
// conversation pause (Suspended), and the session still stays as it is. If the
// successor fails for good the status is error, and activating again leads out of
// it.
//
// # After a restart
//
// No service outlives the process. Whatever was recorded is read with Parse, which
// also knows the names of the older model of four states, and taken back to
// Inactive with Reconcile; Stale says for which of them that changes something.
// Names of the older model are never written.
package session
