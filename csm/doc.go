// Package csm is the conversation core: a pure function over a value that holds
// the whole conversation.
//
// # Model
//
// State is the composite of all regions: the conversation itself (this package), and
// connection, turn detection, speech output, history, copilot and session (packages of
// their own). Step takes a state and an event and returns the next state and the effects
// to execute:
//
//	next, effects := csm.Step(state, envelope)
//
// Step does no I/O, reads no clock, starts no goroutine and takes no lock. Time and ids
// come with the event. States are deeply immutable: Step never writes to memory that its
// argument can reach.
//
// A step has four parts. First, the region that the event concerns processes it or
// rejects it as stale (route). Second, the event's meaning triggers at most one row: of
// the approval region while a question about a tool is open, otherwise of the
// conversation (table.go). Third, rows on KindSettled are taken while one applies. Last,
// settle, gate and deadlines derive from the state what is withheld, audible and timed.
//
// The core never sees words. Utterances, answers and texts have ids and lengths in
// characters and words; their content is kept outside of the core. A journal of events
// therefore needs no redaction and replays without the words.
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
// Rules for executing effects: run a Flush before all other effects of its step; keep the
// order of effects for each target; answer each request effect (ActivateSession,
// OpenAudio, StartCapture, OpenConnection, SendCopilot, Speak, Flush, and the Close and
// Deactivate effects) with exactly one terminal event. The core's deadlines cover lost
// answers.
//
// # Invariants
//
// Check and CheckStep verify the invariants of a state and of a step; tests call them
// after every step.
package csm
