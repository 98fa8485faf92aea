// Package mutant selects one of the faults that are compiled into a debug build of the daemon.
//
// # Model
//
// A mutant is one small fault: a guard that always holds, a deadline that is not
// armed, an effect that is not emitted. The tool internal/prove/mutants writes copies
// of the core's files in which every mutant is guarded by its own
//
//	mutant.On(17)
//
// and a build overlay that replaces the originals with the copies. One build
// therefore covers all mutants, and the core's sources contain none of it. The
// overlay needs the build tag mutants. Other builds have no mutants, and Select
// fails.
//
// At most one mutant is active in a process. Select chooses it, or the environment
// variable AGENTVOICE_MUTANT at startup, so that a compiled test needs no flag.
package mutant
