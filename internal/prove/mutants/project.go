package mutants

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// project is a set of mutated packages and the detectors for their mutants.
type project struct {
	name       string        // value of the option -of
	out        string        // default of the option -out
	root       string        // the folder with go.mod
	packages   []string      // folders of the mutated packages, relative to the root
	detectors  []detector    // in the order of running: cheap and effective ones first
	copied     []string      // files that tests read, relative to the root
	limit      time.Duration // maximum time of a detector on one mutant, in addition to its normal time
	factor     int           // how much longer than without a mutant a detector may take
	handlers   bool          // also create mutants that the core does not have: see automatic
	settled    []string      // files and folders whose automatic mutants run if no package is named; empty means all
	seeded     string        // the list of handwritten mutants
	equivalent string        // the list of automatic mutants that change nothing
}

// detector is a way to catch a mutant: some of the tests of one package.
type detector struct {
	Name   string
	pkg    string   // folder relative to the root; own for the package of the mutant
	of     []string // only for mutants of these packages; empty for all
	run    string   // tests to run, as for go test -run; empty for all
	skip   string   // tests to skip
	binary string
	rapid  bool // it has the flags of rapid
}

// own stands for the mutant's own package, if no other detector covers it.
const own = "own"

// core returns the project of the conversation core of the module at root. A package
// without tests detects nothing.
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
			{Name: "behaviour", pkg: "internal/prove/behaviour", run: "^TestBehaviourIsUnchanged$"},
			{Name: "table", pkg: "csm", run: "^TestEveryCell"},
		},
		copied: []string{
			"csm", "session", "copilot", "testdata", "internal/gen", "internal/prove/behaviour",
			"go.mod", "go.sum",
		},
		limit: 10 * time.Second, factor: 20,
		seeded: "testdata/mutants/seeded.txt", equivalent: "testdata/mutants/equivalent.txt",
	}
}

// handlers returns the project of the code that executes the core's effects and feeds
// it events. Its detectors need no devices; for packages with tests that wait in real
// time they run only the other tests.
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
			"copilot", "internal/daemon", "audio/realtime", "audio/front", "testdata",
			"go.mod", "go.sum",
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

// The tests that do not wait in real time, of packages that have both.
const (
	realtimeTests = "^(Fuzz.*|TestAzureNeeds.*|TestCredentialRedaction|TestDialConfiguration|TestDialFailures|TestDialWithoutKey|TestDownlinkResumes|TestExpiry.*|TestJitter.*" +
		"|TestNetworksAreRemembered|TestRetryAfter.*|TestSpeech.*|TestSpeed.*|TestSpoken.*|TestStatus.*|TestTargetFollowsTheDelays|TestTurnDetectionShapes|TestUplinkNeverBlocks)$"
	liveTests = "^Test(ADialThatIsToldToStop|AFirstVoiceInTheNoiseIsDistant|AVoice.*|OnlyCapturedFramesHaveALevel|TheLevelOfAVoice.*|TheWordsOfADistantVoiceAreMarked|AnotherEpochWaits.*|AsideIsHeard.*|CredentialCodes.*|CursorTenTimesASecond|Detectors.*|DialsWait.*|EveryDialFailureHasItsWords" +
		"|HeardPositionKnowsTheRate|Matcher|MatcherKnowsTheVoice|MismatchIsAWarning.*|PrerollIs.*|RenderingAllocates.*|RenewalMargin.*|TranscriptionSettings.*|TurnModes.*|VoiceRateIsLimitedOnceAloud)$"
	// worldTests do not wait for a voice, but load the engines of the embedded server.
	worldTests = "^Test(ACallThatStandsAsItIsClosed|ASuccessorTakesOver|ASuccessorThatIsGivenUp|BothDevicesLost|MutedTheMicrophone.*|REQ003.*|TakeOverIsOfOneStart|WakePhraseIsOptional|WakePhraseThatCannotBeUsed)$"
)

// Inputs returns what the results for the core or the handlers depend on: packages in the
// patterns of the go command, and files and folders relative to the root.
func Inputs(root, of string) (packages, files []string) {
	p := core(root)
	if of == "handlers" {
		p = handlers(root)
	}
	for _, pkg := range p.packages {
		packages = append(packages, "./"+pkg)
	}
	for _, d := range p.detectors {
		if d.pkg != own {
			packages = append(packages, "./"+d.pkg)
		}
	}
	return packages, p.copied
}

// judges reports whether the detector applies to mutants of a package.
func (d detector) judges(pkg string) bool { return len(d.of) == 0 || slices.Contains(d.of, pkg) }

// narrowed returns the project with only the named packages and detectors; no name
// means all.
func (p project) narrowed(in, by string) (project, error) {
	if in != "" {
		known := p.packages
		p.packages = strings.Split(in, ",")
		for _, name := range p.packages {
			if !slices.Contains(known, name) {
				return p, fmt.Errorf("%q has no mutants; the packages of %s are %s", name, p.name, strings.Join(known, ", "))
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

// settles reports whether the automatic mutants of a file run if no package is named.
func (p project) settles(file string) bool {
	return len(p.settled) == 0 || slices.ContainsFunc(p.settled, func(s string) bool { return strings.HasPrefix(file, s) })
}

// has reports whether a file is in a package of the project.
func (p project) has(file string) bool { return slices.Contains(p.packages, path.Dir(file)) }

// file reads a file of the project.
func (p project) file(name string) (string, error) {
	text, err := os.ReadFile(filepath.Join(p.root, filepath.FromSlash(name)))
	return string(text), err
}

// moduleRoot returns the folder of go.mod at or above dir.
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
