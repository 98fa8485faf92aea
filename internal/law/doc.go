// Package law holds the tests of what the whole tree must keep: which package
// may import which, what the pure core may not do, that every package says what
// it is, and that no file or function outgrows its reader.
//
// It reads source files only, so that it needs no library that a package of the
// tree needs, and judges also what this platform does not build. It has no code
// of its own beside its tests.
package law
