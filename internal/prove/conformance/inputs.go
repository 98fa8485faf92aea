package conformance

import (
	"strings"

	"github.com/agentvoice/agentvoice-daemon/internal/memo"
	"github.com/agentvoice/agentvoice-daemon/internal/prove/mutants"
)

// What the gates depend on, besides this package and what it imports: packages with their tests,
// and the files that they read.

func scenarioInputs(_ *session, in *memo.Inputs) {
	in.Packages("./csm/csmtest")
	in.Files("testdata")
}

func explorationInputs(_ *session, in *memo.Inputs) {
	in.Packages("./csm/explore")
	in.Files("testdata", "cmd/agentvoice-daemon/explore.go")
}

func secondModelInputs(_ *session, in *memo.Inputs) {
	in.Packages("./internal/prove", "./csm/...")
	in.Files("testdata")
	in.Program("spin", "-V")
}

func serverInputs(_ *session, in *memo.Inputs) { in.Packages("./audio/localrealtime/machine") }

// requirementInputs are all Go files and what their tests may read. Each proof has inputs of its
// own, too, because this list is that of all of them.
func requirementInputs(_ *session, in *memo.Inputs) {
	in.Tracked(func(path string) bool { return !memo.IsDocument(path) && !strings.HasPrefix(path, "extension/src/") })
}

// mutantInputs are the mutated packages, and those whose tests judge them.
func mutantInputs(of string) func(*session, *memo.Inputs) {
	return func(s *session, in *memo.Inputs) {
		packages, files := mutants.Inputs(s.root, of)
		in.Packages(append(packages, "./internal/prove")...)
		in.Files(files...)
	}
}
