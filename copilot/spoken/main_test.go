package spoken_test

import (
	"flag"
	"os"
	"testing"
)

// TestMain has properties checked more often than rapid does by default: one
// check takes microseconds here.
func TestMain(m *testing.M) {
	flag.Parse()
	set := map[string]bool{}
	flag.Visit(func(f *flag.Flag) { set[f.Name] = true })
	if !set["rapid.checks"] {
		_ = flag.Set("rapid.checks", "3000")
	}
	os.Exit(m.Run())
}
