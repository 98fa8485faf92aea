//go:build mutants

package mutant

// names lists the mutants by number. The overlay replaces this file.
var names []string
