//go:build mutants

package mutant

// names are the mutants by their number. The overlay replaces this file.
var names []string
