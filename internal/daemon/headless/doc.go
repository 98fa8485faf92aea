// Package headless is a world without devices, network or real time: a script defines
// what happens and when. Clients use it in tests to talk to the same core over the same
// wire.
//
// # Model
//
// World answers the core's effects by the rules of csm/world: automatically after a
// delay of virtual time (auto), or as the script says. Stage drives the daemon: it
// steps the core, runs the script, and advances the clock. testdata/script/README.md
// describes the format of scripts.
//
// # Time
//
// The clock starts at Epoch. It does not advance until everything possible at the
// current time has happened: every event has been stepped, every effect executed, and
// the assistant waits for the client or the clock. Then a script that waits for time
// (after) or the client (headless/advance) advances it. Thus the same script and the
// same client messages produce the same daemon messages with the same times.
package headless
