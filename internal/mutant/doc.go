// Package mutant names the faults that a debug build of the daemon has built in.
//
// # Model
//
// A mutant is one small fault: a guard that always holds, a deadline that is not
// armed, an effect that is not emitted. The tool internal/tools/mutants writes
// copies of the core's files in which every mutant stands behind its own
//
//	mutant.On(17)
//
// and a build overlay that puts the copies in place of the files. So one build
// serves every mutant, and the files of the core hold none of it. The build tag
// mutants goes with the overlay. In every other build there are no mutants, and
// Select fails.
//
// One mutant is active in a process, or none. It is chosen by Select or, so that
// a compiled test needs no flag of its own, by the environment variable
// AGENTVOICE_MUTANT when the process begins.
package mutant
