// Package csm is the conversation core: a pure function over a value that holds
// the whole conversation.
//
// # Model
//
// State is the composite of all regions: the conversation itself (this
// package), and connection, turn detection, speech output, history, copilot and
// session (their own packages). Step takes a state and an event and returns the
// next state and the effects that the world is to carry out:
//
//	next, effects := csm.Step(state, envelope)
//
// Step does no I/O, reads no clock, starts no goroutine and takes no lock. Time
// and ids come with the event. States are deeply immutable values: Step never
// writes to memory that its argument can see.
//
// A step has four parts. The region that the event is about takes it, or finds it
// stale (route). What it meant is the trigger of at most one row: of the approval region
// while there is a question about a tool, else of the conversation (table.go). Rows on
// KindSettled follow for as long as one is due. Then the state alone decides what is
// withheld, audible and timed (settle, gate, deadlines).
//
// The core never sees words. Utterances, answers and texts are named by ids and
// measured in characters and words; what they say is kept beside the core. So a
// journal of events needs no redaction, and replays without the words.
//
// # The caller's loop
//
// One goroutine owns the state (package dispatch):
//
//	for e := range events {          // two lanes, signals first
//		journal(e)
//		state, effects = csm.Step(state, e)
//		execute(effects)         // completions come back as events
//	}
//
// Rules for whoever executes effects: a Flush comes before every other effect
// of its step; the order of effects for one target is kept; each request effect
// (ActivateSession, OpenAudio, StartCapture, OpenConnection, SendCopilot, Speak,
// Flush, and the Close and Deactivate effects) is answered by exactly one
// terminal event, and the core's deadlines stand in for an answer that is lost.
//
// # Invariants
//
// Check and CheckStep state what must hold of every state and every step; tests
// call them after each one.
package csm
