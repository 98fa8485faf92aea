package mutants

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Limits for one detector on one mutant. A mutant may cause an endless loop or use
// all memory; both count as caught.
const (
	memoryKB     = 4 << 20
	rapidChecks  = 60
	mutantEnvVar = "AGENTVOICE_MUTANT"
)

// result is the result of one mutant.
type result struct {
	mutant
	Caught   bool    `json:"caught"`
	Detector string  `json:"detector,omitempty"`
	Test     string  `json:"test,omitempty"`
	How      string  `json:"how,omitempty"` // first line of the test's output
	Seconds  float64 `json:"seconds"`
	Excuse   string  `json:"excuse,omitempty"` // why it is equivalent, if it is
}

// runner runs the detectors.
type runner struct {
	bench  *bench
	limit  time.Duration
	factor int
	seed   uint64
	took   map[string]time.Duration // normal time of each detector
}

// baseline runs every detector without a mutant: all must pass, and their times are
// the reference for the runs with a mutant.
func (r *runner) baseline() error {
	r.took = map[string]time.Duration{}
	for p := range r.bench.binaries {
		for _, d := range r.bench.of(mutant{File: p + "/"}) {
			key := d.Name + " " + d.pkg
			if _, done := r.took[key]; done {
				continue
			}
			begin := time.Now()
			caught, test, how, err := r.detect(d, "", 5*time.Minute)
			if err == nil && caught {
				err = fmt.Errorf("the tests of %s fail without a mutant: %s: %s", d.pkg, test, how)
			}
			if err != nil {
				return err
			}
			r.took[key] = time.Since(begin)
		}
	}
	return nil
}

// one runs the detectors on a mutant until one of them catches it.
func (r *runner) one(m mutant) (result, error) {
	begin := time.Now()
	res := result{mutant: m}
	for _, d := range r.bench.of(m) {
		limit := r.limit + time.Duration(r.factor)*r.took[d.Name+" "+d.pkg]
		caught, test, how, err := r.detect(d, m.Name, limit)
		if err != nil {
			return res, fmt.Errorf("mutant %s: %w", m.Name, err)
		}
		if caught {
			res.Caught, res.Detector, res.Test, res.How = true, d.Name, test, how
			break
		}
	}
	res.Seconds = time.Since(begin).Seconds()
	return res, nil
}

var (
	failLine  = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)
	hangLine  = regexp.MustCompile(`(?m)^panic: test timed out after`)
	hangTest  = regexp.MustCompile(`(?m)^\t+(Test\S+) \(`)
	panicLine = regexp.MustCompile(`(?m)^(panic: |fatal error: |runtime: ).*`)
	saidLine  = regexp.MustCompile(`(?m)^\s+\S+\.go:\d+: .*`)
)

// detect runs the tests of a detector on a mutant, and returns the one that failed.
func (r *runner) detect(d detector, name string, limit time.Duration) (caught bool, test, how string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit+5*time.Second)
	defer cancel()
	args := []string{"-c", fmt.Sprintf(`ulimit -v %d 2>/dev/null; exec "$@"`, memoryKB), "sh", d.binary,
		"-test.failfast", "-test.short", "-test.timeout=" + limit.String(), "-test.run=" + d.run}
	if d.skip != "" {
		args = append(args, "-test.skip="+d.skip)
	}
	if d.rapid {
		args = append(args, "-rapid.nofailfile", "-rapid.checks="+strconv.Itoa(rapidChecks), "-rapid.seed="+strconv.FormatUint(r.seed, 10))
	}
	cmd := exec.CommandContext(ctx, "sh", args...)
	cmd.Dir = filepath.Join(r.bench.tree, filepath.FromSlash(d.pkg))
	cmd.Env = append(os.Environ(), mutantEnvVar+"="+name, "GOMAXPROCS=1")
	cmd.WaitDelay = time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
	text := out.String()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return false, "", "", nil
	case strings.HasPrefix(text, mutantEnvVar+":"):
		return false, "", "", errors.New(strings.TrimSpace(text))
	case ctx.Err() != nil:
		return true, "(all)", "endless, even after -test.timeout", nil
	case !errors.As(err, &exit):
		return false, "", "", err
	case hangLine.MatchString(text):
		return true, first(hangTest, text, 1), "timeout", nil
	}
	test, how = deepest(text), strings.TrimSpace(first(saidLine, text, 0))
	if p := first(panicLine, text, 0); p != "" {
		how = p
	}
	if test == "" && how == "" {
		how = "exit: " + err.Error()
	}
	return true, test, how, nil
}

// deepest returns the first failed test, including its subtest.
func deepest(text string) string {
	test := ""
	for _, m := range failLine.FindAllStringSubmatch(text, -1) {
		if test == "" || strings.HasPrefix(m[1], test+"/") {
			test = m[1]
		}
	}
	return test
}

func first(r *regexp.Regexp, text string, group int) string {
	if m := r.FindStringSubmatch(text); m != nil {
		return m[group]
	}
	return ""
}

// all runs the mutants in parallel, and returns their results in order.
func (r *runner) all(mutants []mutant, jobs int, each func(result)) ([]result, error) {
	results, errs := make([]result, len(mutants)), make([]error, len(mutants))
	next := make(chan int)
	var wait sync.WaitGroup
	var mu sync.Mutex
	for range jobs {
		wait.Go(func() {
			for i := range next {
				results[i], errs[i] = r.one(mutants[i])
				mu.Lock()
				each(results[i])
				mu.Unlock()
			}
		})
	}
	for i := range mutants {
		next <- i
	}
	close(next)
	wait.Wait()
	return results, errors.Join(errs...)
}
