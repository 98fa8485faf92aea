// Package world is the contract of the handlers, written once: which effect asks
// for what, which events may answer it, and what devices, the service and the user
// may do besides.
//
// # Model
//
// A Place is a state of the core in an Env: the requests that the handlers have
// not answered, and what devices, connection and microphone are doing. Moves lists
// everything that can happen in a Place. Whoever drives a core chooses among the
// moves: the exploration takes every one, a walk takes one by chance, and a script
// takes the one it names. Apply and Take bring the Env up to date, before the step
// with the move and after it with the effects.
//
// A rule (rules.go) says by which events an effect is answered. An answer may be
// late or never come, since a deadline may fire first; it may come twice, since a
// stale event has to change nothing (stale.go).
//
// A driver on a clock takes single answers from the same rules: Reaction is what
// the handlers say first about an effect, and Answer is how they end it. Speaker
// is the loudspeaker of such a driver.
package world
