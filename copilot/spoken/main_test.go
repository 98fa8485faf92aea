package spoken_test

import (
	"flag"
	"os"
	"testing"
)

// TestMain runs more property checks than rapid's default, because a check takes
// microseconds here. The seed is fixed, so that only a code change can fail a test; make
// full uses random seeds, with -rapid.seed=0.
func TestMain(m *testing.M) {
	flag.Parse()
	set := map[string]bool{}
	flag.Visit(func(f *flag.Flag) { set[f.Name] = true })
	if !set["rapid.checks"] {
		_ = flag.Set("rapid.checks", "3000")
	}
	if !set["rapid.seed"] {
		_ = flag.Set("rapid.seed", "1")
	}
	os.Exit(m.Run())
}
