package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// event is a line of `go test -json`; see `go doc test2json`.
type event struct {
	Action      string
	Package     string
	ImportPath  string // for build-output
	Test        string // empty for the whole package
	Output      string
	Elapsed     float64 // seconds
	FailedBuild string
}

// test names a test in a package; name is empty for the package itself.
type test struct{ pkg, name string }

// goRun collects the events of a run.
type goRun struct {
	out    io.Writer
	counts counts
	output map[test][]string  // of running and failed tests
	failed map[test]bool      // failed tests, and packages with failed tests
	parent map[test]bool      // tests that have subtests
	took   map[string]float64 // seconds by package, if noticeable
}

func readGo(in io.Reader, out io.Writer) (counts, error) {
	r := goRun{out: out, output: map[test][]string{}, failed: map[test]bool{}, parent: map[test]bool{}, took: map[string]float64{}}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			fmt.Fprintln(out, lines.Text()) // output of the go command itself
			continue
		}
		r.take(e)
	}
	r.showSlowest()
	return r.counts, lines.Err()
}

// noticeable is the time of a package, in seconds, from which it is worth a mention.
const noticeable = 15

// showSlowest prints the packages that took longest, in one line.
func (r *goRun) showSlowest() {
	slow := slices.SortedFunc(maps.Keys(r.took), func(a, b string) int { return cmp.Compare(r.took[b], r.took[a]) })
	for i, pkg := range slow[:min(5, len(slow))] {
		fmt.Fprintf(r.out, "%s%s %.0f s", []string{"slowest: ", ", "}[min(i, 1)], pkg, r.took[pkg])
	}
	if len(slow) > 0 {
		fmt.Fprintln(r.out)
	}
}

func (r *goRun) take(e event) {
	t := test{e.Package, e.Test}
	if e.Test == "" && e.Elapsed >= noticeable {
		r.took[strings.TrimPrefix(e.Package, "github.com/agentvoice/agentvoice-daemon/")] = e.Elapsed
	}
	switch e.Action {
	case "build-output":
		fmt.Fprint(r.out, e.Output)
	case "run":
		if i := strings.LastIndexByte(e.Test, '/'); i >= 0 {
			r.parent[test{e.Package, e.Test[:i]}] = true
		}
	case "output":
		r.output[t] = append(r.output[t], e.Output)
	case "pass", "skip":
		delete(r.output, t)
		if e.Test == "" || r.parent[t] {
			return
		}
		if e.Action == "pass" {
			r.counts.passed++
		} else {
			r.counts.skipped++
		}
	case "fail":
		r.fail(t)
	}
}

// fail counts and prints failures that are not caused by a part: a test but not its
// parent tests, and a package only if none of its tests failed (it did not build, or
// the process died).
func (r *goRun) fail(t test) {
	if t.name != "" || !r.failed[t] {
		if !r.failed[t] {
			r.counts.failed++
		}
		fmt.Fprintf(r.out, "FAIL %s %s\n", t.pkg, t.name)
		for _, line := range r.output[t] {
			fmt.Fprint(r.out, "  ", line)
		}
		if t.name == "" {
			r.showUnfinished(t.pkg)
		}
	}
	delete(r.output, t)
	r.failed[test{t.pkg, ""}] = true
	if i := strings.LastIndexByte(t.name, '/'); i >= 0 {
		r.failed[test{t.pkg, t.name[:i]}] = true
	}
}

// showUnfinished prints the output of tests that were running when their package's
// process died.
func (r *goRun) showUnfinished(pkg string) {
	for t, lines := range r.output {
		if t.pkg == pkg && t.name != "" {
			for _, line := range lines {
				fmt.Fprint(r.out, "  ", line)
			}
		}
	}
}
