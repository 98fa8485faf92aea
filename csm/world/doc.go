// Package world defines the contract of the handlers once: which effect requests what,
// which events may answer it, and what devices, the service and the user may do in
// addition.
//
// # Model
//
// A Place is a state of the core in an Env: the unanswered requests, and the state of
// devices, connection and microphone. Moves lists everything that can happen in a Place.
// A driver of a core chooses among the moves: exploration makes all of them, a walk picks
// one at random, and a script picks the one it names. Apply updates the Env before the
// step of a move, and Take updates it with the effects afterwards.
//
// A rule (rules.go) lists the events that answer an effect. An answer may be late or
// missing, since a deadline may fire first; it may also be repeated, since a stale event
// must change nothing (stale.go).
//
// A driver with a clock takes single answers from the same rules: Reaction is the
// handlers' first report about an effect, and Ending its terminal. Speaker is the
// loudspeaker of such a driver.
package world
