// Package headless is a world without devices, network or real time: a script
// says what happens and when. It is for the tests of clients, which talk with
// the same core over the same wire.
//
// # Model
//
// World answers the core's effects by the rules of csm/world: by itself after a
// delay of virtual time (auto), or where the script says how. Stage
// drives the daemon: it steps the core, runs the script, and moves the clock.
// The format of scripts is described in testdata/script/README.md.
//
// # Time
//
// The clock begins at Epoch and stands still until everything that can happen at
// this time has happened: every event had its step, every effect was carried
// out, and the assistant waits for the client or for the clock. Then a script
// that waits for time (after) moves it, or the client (headless/advance). So the
// same script and the same messages of the client give the same messages of the
// daemon, with the same times.
package headless
