package spoken_test

import (
	"flag"
	"os"
	"testing"
)

// TestMain has properties checked more often than rapid does by default: one
// check takes microseconds here. The answers are the same each time, so that a
// change is what turns a test red; make full draws others, with -rapid.seed=0.
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
