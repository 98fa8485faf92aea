package requirements

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/agentvoice/agentvoice-daemon/internal/memo"
)

// Limits of one run of one test. A mutant may cause an endless loop, a wait for what never comes,
// or use all memory; that counts as failing. A test under a mutant may take slowdown times as long
// as without it, and at least shortest.
const (
	testTimeout = time.Minute
	shortest    = 15 * time.Second
	slowdown    = 3
	memoryKB    = 4 << 20
	mutantEnv   = "AGENTVOICE_MUTANT"        // selects a mutant of the core
	aroundEnv   = "AGENTVOICE_MUTANT_AROUND" // selects another one
)

// claim is one test under one mutant.
type claim struct {
	proof
	id, mutant string
	key        string // key of the binary
}

// prove runs every proof without a mutant, where it must pass, and under each of its
// mutants, where it must fail. It builds jobs binaries at a time, and runs three times as many
// tests, because most of them wait.
func prove(root, out string, jobs int, list []requirement, w *world, say io.Writer) (problems []string, err error) {
	begin := time.Now()
	b, err := newBench(root, out)
	if err != nil {
		return nil, err
	}
	if err := b.build(list, w, jobs); err != nil {
		return nil, err
	}
	built := time.Since(begin)
	if problems, err = b.baseline(list, 2*jobs); err != nil || len(problems) > 0 {
		return problems, err
	}
	var claims []claim
	mutants := map[string]bool{}
	for _, r := range list {
		for _, p := range r.proofs {
			for _, name := range p.mut {
				c := claim{proof: p, id: r.id, mutant: name, key: p.pkg}
				if _, ok := b.alone[name]; ok {
					c.key = aroundKey(name, p.pkg)
				}
				mutants[name] = true
				claims = append(claims, c)
			}
		}
	}
	answers, before := b.all(claims, 3*jobs, w)
	for i, a := range answers {
		c := claims[i]
		if a != nil {
			problems = append(problems, fmt.Sprintf("%s:%d: %s: %v under the mutant %s %v", listFile, c.line, c.id, c.proof, c.mutant, a))
		}
	}
	fmt.Fprintf(say, "proofs: %d of %d tests under %d mutants fail as required (%d from earlier runs; built in %.0f s, %.0f s in total)\n",
		len(claims)-len(problems), len(claims), len(mutants), before, built.Seconds(), time.Since(begin).Seconds())
	return problems, nil
}

// baseline runs the tests of all proofs without a mutant.
func (b *bench) baseline(list []requirement, jobs int) (problems []string, err error) {
	tops := map[string]map[string]bool{}
	for _, r := range list {
		for _, p := range r.proofs {
			if tops[p.pkg] == nil {
				tops[p.pkg] = map[string]bool{}
			}
			top, _, _ := strings.Cut(p.test, "/")
			tops[p.pkg][top] = true
		}
	}
	packages := slices.Sorted(maps.Keys(tops))
	texts, errs := make([]string, len(packages)), make([]error, len(packages))
	parallel(len(packages), jobs, func(i int) {
		run := "^(" + strings.Join(slices.Sorted(maps.Keys(tops[packages[i]])), "|") + ")$"
		texts[i], _, errs[i] = b.run(packages[i], packages[i], run, "", 5*testTimeout)
	})
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	said := map[string]string{}
	for i, pkg := range packages {
		said[pkg] = texts[i]
	}
	for _, r := range list {
		for _, p := range r.proofs {
			passed := regexp.MustCompile(`(?m)^\s*--- PASS: ` + regexp.QuoteMeta(p.test) + ` \((\S+)\)`).FindStringSubmatch(said[p.pkg])
			if passed != nil {
				took, err := time.ParseDuration(passed[1])
				if err != nil {
					return nil, err
				}
				b.took[p.pkg+":"+p.test] = took
				continue
			}
			what := "does not pass without a mutant"
			if !strings.Contains(said[p.pkg], "=== RUN   "+p.test+"\n") {
				what = "does not run: no such subtest"
			}
			problems = append(problems, fmt.Sprintf("%s:%d: %s: %v %s", listFile, p.line, r.id, p, what))
		}
	}
	if len(problems) > 0 {
		for _, pkg := range slices.Sorted(maps.Keys(said)) {
			for _, line := range failures(said[pkg]) {
				problems = append(problems, pkg+": "+line)
			}
		}
	}
	return problems, nil
}

// failures returns what the tests of a binary printed about why they failed.
func failures(said string) []string {
	return regexp.MustCompile(`(?m)^\s*(?:--- FAIL: |\S+_test\.go:\d+: |panic: ).*$`).FindAllString(said, 20)
}

// parallel calls do for each number below n, jobs at a time.
func parallel(n, jobs int, do func(int)) {
	next := make(chan int)
	var wait sync.WaitGroup
	for range max(jobs, 1) {
		wait.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wait.Wait()
}

// all runs claims in parallel. A nil error means that the test fails as required.
// before is how many results were known already.
func (b *bench) all(claims []claim, jobs int, w *world) (answers []error, before int) {
	answers = make([]error, len(claims))
	known := make([]bool, len(claims))
	took := make([]string, len(claims))
	parallel(len(claims), jobs, func(i int) {
		begin := time.Now()
		known[i], answers[i] = b.claim(claims[i], w)
		took[i] = fmt.Sprintf("%6.1f s  %v under %s\n", time.Since(begin).Seconds(), claims[i].proof, claims[i].mutant)
	})
	slices.SortFunc(took, func(a, b string) int { return cmp.Compare(b, a) }) // longest first
	// Only for people, so a failure does not matter.
	_ = os.WriteFile(filepath.Join(b.out, "times.txt"), []byte(strings.Join(took, "")), 0o644)
	for _, k := range known {
		if k {
			before++
		}
	}
	return answers, before
}

// claim runs a test under a mutant, unless it failed before with the same binary and
// the same files.
func (b *bench) claim(c claim, w *world) (known bool, err error) {
	key := b.stamp(c)
	if _, _, ok := memo.Load(key); ok {
		return true, nil
	}
	var selected string
	switch _, around := w.around[c.mutant]; {
	case c.key != c.pkg: // compiled into the binary
	case around:
		selected = aroundEnv + "=" + c.mutant
	default:
		selected = mutantEnv + "=" + c.mutant
	}
	said, failed, err := b.run(c.key, c.pkg, pattern(c.test), selected, b.limit(c.proof))
	switch {
	case err != nil:
		return false, err
	case !failed:
		return false, errors.New("passes, so it proves nothing; choose another test or mutant")
	case c.file != "" && !within(said, w, c.name):
		return false, errors.New("fails, but in another scenario of the file; use that one, or another mutant")
	}
	return false, memo.Save(key, []byte(c.proof.String()+" under "+c.mutant+"\n"))
}

// stamp returns the key of a claim's result.
func (b *bench) stamp(c claim) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{b.machine, b.hashes[c.key], b.files, c.proof.String(), c.mutant}, "\n")))
	return hex.EncodeToString(sum[:16])
}

// limit returns how long a test may take under a mutant.
func (b *bench) limit(p proof) time.Duration {
	return min(testTimeout, max(shortest, slowdown*b.took[p.pkg+":"+p.test]))
}

// pattern returns the -test.run argument for one test or subtest.
func pattern(test string) string {
	parts := strings.Split(test, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return strings.Join(parts, "/")
}

// run runs tests of a binary with a mutant, selected by an environment variable or none,
// and returns their output and whether they failed.
func (b *bench) run(key, pkg, tests, selected string, limit time.Duration) (said string, failed bool, err error) {
	cmd := exec.Command("sh", "-c", fmt.Sprintf(`ulimit -v %d 2>/dev/null; exec "$@"`, memoryKB), "sh",
		b.binaries[key], "-test.v", "-test.timeout="+limit.String(), "-test.run="+tests)
	cmd.Dir = filepath.Join(b.tree, filepath.FromSlash(pkg))
	cmd.Env = append(os.Environ(), mutantEnv+"=", aroundEnv+"=")
	if selected != "" {
		cmd.Env = append(cmd.Env, selected)
	}
	text, err := cmd.CombinedOutput()
	said = string(text)
	var exit *exec.ExitError
	switch {
	case err == nil && strings.Contains(said, "testing: warning: no tests to run"):
		return said, false, fmt.Errorf("does not run: %s has no test %s", pkg, tests)
	case err == nil:
		return said, false, nil
	case !errors.As(err, &exit):
		return said, false, err
	case strings.HasPrefix(said, mutantEnv+":"):
		return said, false, errors.New(strings.TrimSpace(said))
	}
	return said, true, nil
}

// within reports whether the printed failure is in the scenario, or in the part of
// its file before all scenarios.
func within(said string, w *world, name string) bool {
	s := w.scenarios[name]
	first, end := s.Line, int(^uint(0)>>1)
	for _, o := range w.scenarios {
		if o.File == s.File {
			first = min(first, o.Line)
			if o.Line > s.Line {
				end = min(end, o.Line)
			}
		}
	}
	for _, m := range regexp.MustCompile(regexp.QuoteMeta(s.File)+`:(\d+):`).FindAllStringSubmatch(said, -1) {
		if n, err := strconv.Atoi(m[1]); err == nil && (n >= s.Line && n < end || n < first) {
			return true
		}
	}
	return false
}
