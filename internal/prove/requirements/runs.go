package requirements

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// What a proof runs, from the smallest part to the complete product.
const (
	runsCore      = "core"      // only csm, with its test worlds
	runsRegion    = "region"    // one part next to or below the core
	runsTool      = "tool"      // a tool that measures or checks
	runsHeadless  = "headless"  // the daemon in virtual time, without audio
	runsLive      = "live"      // the daemon with audio, engines and connection
	runsExtension = "extension" // the extension's own code
)

// runsBy says what a test runs, by the folder or file that it is in. The first
// matching entry applies.
var runsBy = []struct{ path, runs string }{
	// Exceptions.
	{"cmd/agentvoice-daemon:TestScripts/serve_", runsHeadless},
	{"cmd/agentvoice-daemon:TestScripts/journal", runsHeadless},
	{"cmd/agentvoice-daemon:TestScripts/explore", runsCore},
	{"cmd/agentvoice-daemon:TestScripts/graph", runsCore},
	{"internal/daemon/live:TestMatcher", runsRegion},
	{"audio/localrealtime:Test", runsLive},              // the server, over its wire
	{"extension/test/acceptance.test.ts", runsHeadless}, // the test's own editor

	{"csm/connection", runsRegion}, {"csm/turn", runsRegion}, {"csm/speech", runsRegion}, {"csm/history", runsRegion},
	{"csm", runsCore},
	{"copilot", runsRegion}, {"session", runsRegion}, {"protocol", runsRegion}, {"audio", runsRegion}, {"internal/redact", runsRegion}, {"internal/shellcmd", runsRegion},
	{"internal/prove", runsTool}, {"bench", runsTool}, {"internal/tools", runsTool},
	{"internal/daemon/live", runsLive}, {"cmd/agentvoice-daemon", runsLive},
	{"internal/daemon", runsHeadless},
	{"extension", runsExtension},
}

// runsOf returns what a test runs, or "" if unknown.
func runsOf(where string) string {
	for _, r := range runsBy {
		if where == r.path || strings.HasPrefix(where, r.path) && (strings.ContainsAny(where[len(r.path):][:1], "/:") || strings.Contains(r.path, ":")) {
			return r.runs
		}
	}
	return ""
}

func (p proof) runs() string { return runsOf(p.pkg + ":" + p.test) }

// runs returns what a mentioned test runs. A Go file counts by its folder.
func (m mention) runs() string {
	if strings.HasSuffix(m.path, ".go") {
		return runsOf(path.Dir(m.path) + ":" + strings.TrimPrefix(m.text, "func "))
	}
	return runsOf(m.path)
}

// runs returns what the proofs of a requirement run.
func (r requirement) runs() (list []string) {
	for _, p := range r.proofs {
		list = append(list, p.runs())
	}
	for _, m := range r.also {
		list = append(list, m.runs())
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// atTheProduct finds requirements about the product that are proved only by tests of
// the core, or of the daemon without audio.
func atTheProduct(list []requirement) (problems []string) {
	for _, r := range list {
		fail := func(line int, format string, args ...any) {
			problems = append(problems, fmt.Sprintf("%s:%d: %s %s", listFile, line, r.id, fmt.Sprintf(format, args...)))
		}
		for _, p := range r.proofs {
			if p.runs() == "" {
				fail(p.line, "is proved by %s, which is not in runsBy; add its folder there", p)
			}
		}
		for _, m := range r.also {
			if m.runs() == "" {
				fail(m.line, "is covered by %s, which is not in runsBy; add it there", m.path)
			}
		}
		runs := r.runs()
		switch {
		case r.about == "":
			fail(r.line, "does not say what it is about; add a line below it or its group: about product, or about core")
		case r.about == aboutProduct && r.status() == proved && !slices.Contains(runs, runsLive) && !slices.Contains(runs, runsExtension):
			fail(r.line, "is about the product, but its proofs run %s; add one that runs the live daemon or the extension, or say what is owed", strings.Join(runs, " and "))
		}
	}
	return problems
}
