package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// project is what is mutated, and what must notice.
type project struct {
	name       string        // as the option -of has it
	out        string        // default of the option -out
	root       string        // the folder with go.mod
	packages   []string      // whose files are mutated: folders from the root
	detectors  []detector    // the cheapest and most telling first
	copied     []string      // what tests read, from the root
	limit      time.Duration // for one detector on one mutant, beside what it takes without
	factor     int           // how much longer than without a mutant a detector may take
	handlers   bool          // mutants also of what the core has none of: see automatic
	settled    []string      // files and folders whose automatic mutants are run where no package is named; none is all
	seeded     string        // the list of mutants that were written by hand
	equivalent string        // and of automatic ones that change nothing
}

// detector is one way to catch a mutant: some of the tests of one package.
type detector struct {
	Name   string
	pkg    string   // folder from the root; own for the package of the mutant
	of     []string // only for mutants of these packages; none for all
	run    string   // which tests, as for go test -run; empty for all
	skip   string   // and which not
	binary string
	rapid  bool // it takes the flags of rapid
}

// own is the package that a mutant is in, where no other detector has it.
const own = "own"

// core is the project: the conversation core of the module at root. A package
// that has no tests detects nothing.
func core(root string) project {
	return project{
		name: "core", out: "out/mutants",
		root:     root,
		packages: []string{"csm", "csm/connection", "csm/turn", "csm/speech", "csm/history", "csm/dispatch", "session", "copilot"},
		detectors: []detector{
			{Name: "region", pkg: own},
			{Name: "core", pkg: "csm", skip: "^(TestAny|TestEveryCell)"},
			{Name: "scenario", pkg: "csm/csmtest", run: "^(TestScenarios|TestRegressions)$"},
			{Name: "loop", pkg: "csm/dispatch"},
			{Name: "journal", pkg: "csm/journal", run: "^TestOldJournals$"},
			{Name: "explore", pkg: "csm/explore", run: "^TestSmallWorldCloses$"},
			{Name: "properties", pkg: "csm/csmtest", run: "^TestAny"},
			{Name: "behaviour", pkg: "internal/tools/behaviour", run: "^TestTheCoreDoesWhatItDid$"},
			{Name: "table", pkg: "csm", run: "^TestEveryCell"},
		},
		copied: []string{
			"csm", "session", "copilot", "testdata", "docs", "internal/gen", "internal/tools/behaviour",
			"go.mod", "go.sum", "README.md", "ARCHITECTURE.md",
		},
		limit: 10 * time.Second, factor: 20,
		seeded: "testdata/mutants/seeded.txt", equivalent: "testdata/mutants/equivalent.txt",
	}
}

// handlers is the project of what carries out the core's effects and tells it what
// happens. Its detectors run on no device; of packages whose other tests wait in real
// time, they are those that do not.
func handlers(root string) project {
	return project{
		name: "handlers", out: "out/mutants-handlers", handlers: true,
		root: root,
		packages: []string{
			"copilot/editor", "copilot/openai", "copilot/offline", "copilot/spoken",
			"internal/daemon", "internal/daemon/live", "internal/daemon/rpc", "audio/realtime", "audio/front",
		},
		detectors: []detector{
			{Name: "package", pkg: own},
			{Name: "live", pkg: "internal/daemon/live", of: []string{"internal/daemon/live"}, run: liveTests},
			{Name: "world", pkg: "internal/daemon/live", of: []string{"internal/daemon/live"}, run: worldTests},
			{Name: "realtime", pkg: "audio/realtime", of: []string{"audio/realtime"}, run: realtimeTests},
			{Name: "call", pkg: "audio/realtime", of: []string{"audio/realtime"}, skip: "^TestLocal|" + realtimeTests},
			{Name: "headless", pkg: "internal/daemon/headless", of: []string{"internal/daemon"}},
			{Name: "rpc", pkg: "internal/daemon/rpc", of: []string{"internal/daemon", "internal/daemon/rpc"}, skip: "^TestPublishedTranscriptsAreLinear$"},
		},
		copied: []string{
			"copilot", "internal/daemon", "audio/realtime", "audio/front", "testdata", "docs",
			"go.mod", "go.sum", "README.md", "ARCHITECTURE.md",
		},
		limit: 10 * time.Second, factor: 3,
		settled: []string{
			"copilot/editor/", "copilot/openai/", "copilot/offline/",
			"internal/daemon/assistant.go", "internal/daemon/errands.go", "internal/daemon/queue.go", "internal/daemon/config.go", "internal/daemon/content_tools.go",
			"audio/realtime/errors.go", "audio/realtime/expiry.go", "audio/realtime/jitter.go",
		},
		seeded: "testdata/mutants/handlers.txt", equivalent: "testdata/mutants/handlers-equivalent.txt",
	}
}

// Of packages with tests that wait in real time, these are the tests that do not.
const (
	realtimeTests = "^(Fuzz.*|TestAzureNeeds.*|TestCredentialRedaction|TestDialConfiguration|TestDialFailures|TestDialWithoutKey|TestDownlinkResumes|TestExpiry.*|TestJitter.*" +
		"|TestRetryAfter.*|TestSpeech.*|TestSpeed.*|TestSpoken.*|TestStatus.*|TestTurnDetectionShapes|TestUplinkNeverBlocks)$"
	liveTests = "^Test(ADialThatIsToldToStop|AnotherEpochWaits.*|AsideIsHeard.*|CredentialCodes.*|CursorTenTimesASecond|Detectors.*|DialsWait.*|EveryDialFailureHasItsWords" +
		"|HeardPositionKnowsTheRate|Matcher|MismatchIsAWarning.*|PrerollIs.*|RenderingAllocates.*|RenewalMargin.*|TranscriptionSettings.*|TurnModes.*|VoiceRateIsLimitedOnceAloud)$"
	// worldTests wait for no voice, but load the engines of the embedded server.
	worldTests = "^Test(ACallThatStandsAsItIsClosed|ASuccessorTakesOver|ASuccessorThatIsGivenUp|BothDevicesLost|MutedTheMicrophone.*|REQ003.*|TakeOverIsOfOneStart|WakePhraseIsOptional|WakePhraseThatCannotBeUsed)$"
)

// judges says whether the detector is asked about mutants of a package.
func (d detector) judges(pkg string) bool { return len(d.of) == 0 || slices.Contains(d.of, pkg) }

// narrowed is the project with those of its packages and detectors only that are
// named; no name is all.
func (p project) narrowed(in, by string) (project, error) {
	if in != "" {
		known := p.packages
		p.packages = strings.Split(in, ",")
		for _, name := range p.packages {
			if !slices.Contains(known, name) {
				return p, fmt.Errorf("%q is no package with mutants; those of %s are %s", name, p.name, strings.Join(known, ", "))
			}
		}
	}
	if by != "" {
		p.detectors = slices.DeleteFunc(slices.Clone(p.detectors), func(d detector) bool {
			return !slices.Contains(strings.Split(by, ","), d.Name)
		})
	}
	return p, nil
}

// settles says whether the automatic mutants of a file are run where no package is
// named.
func (p project) settles(file string) bool {
	return len(p.settled) == 0 || slices.ContainsFunc(p.settled, func(s string) bool { return strings.HasPrefix(file, s) })
}

// has says whether a file is in a package of the project.
func (p project) has(file string) bool { return slices.Contains(p.packages, path.Dir(file)) }

// file reads a file of the project.
func (p project) file(name string) (string, error) {
	text, err := os.ReadFile(filepath.Join(p.root, filepath.FromSlash(name)))
	return string(text), err
}

// moduleRoot is the folder of go.mod at or above dir.
func moduleRoot(dir string) (string, error) {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", errNoModule
		}
	}
}
