// Package archtest contains the tests of the tree's rules: which package may import which,
// what the pure core must not do, that every package has a doc, and the maximum
// length of files and functions.
//
// The tests read source files only, so they need no library that a package of the
// tree needs, and they check files that this platform does not build. The package has
// no code besides its tests.
package archtest
