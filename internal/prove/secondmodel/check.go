package secondmodel

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
)

type checker struct {
	out      string
	acceptor string // the verifier for traces
}

func newChecker(out string) (*checker, error) {
	if err := installed(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return nil, err
	}
	bin, err := pan(filepath.Join(out, "acceptor"), []string{"-DTRACE"}, nil)
	return &checker{out, bin}, err
}

// explain prints the differences between the core and the model.
func (c *checker) explain(out io.Writer) error {
	all, err := traces(".")
	if err != nil {
		return err
	}
	total, rejected, err := c.judge(write(all), filepath.Join(c.out, "traces.txt"))
	for _, r := range rejected {
		fmt.Fprintln(out, r)
	}
	fmt.Fprintf(out, "%d of %d accepted\n", total-len(rejected), total)
	return err
}

func (c *checker) check(out io.Writer) error {
	all, err := traces(".")
	if err != nil {
		return err
	}
	total, rejected, err := c.judge(write(all), filepath.Join(c.out, "traces.txt"))
	if err != nil {
		return err
	}
	if len(rejected) > 0 {
		return fmt.Errorf("the model rejects %d of %d conversations:\n%s", len(rejected), total, strings.Join(rejected, "\n"))
	}
	states, err := c.verify()
	if err != nil {
		return err
	}
	seen, mutants, err := c.mutants(all)
	fmt.Fprintf(out, "second model: %d journals accepted, %d of %d mutants rejected, %d states in %d worlds\n", total, seen, mutants, states, len(worlds))
	return err
}

// verify explores every world. Each situation must be reached in one of them.
func (c *checker) verify() (states int, err error) {
	never := map[string]int{}
	var problems []error
	var mu sync.Mutex
	var all sync.WaitGroup
	for _, w := range worlds {
		all.Go(func() {
			n, missed, err := w.explore(c.out)
			mu.Lock()
			defer mu.Unlock()
			states += n
			problems = append(problems, err)
			for _, m := range missed {
				never[m]++
			}
		})
	}
	all.Wait()
	for _, what := range slices.Sorted(maps.Keys(never)) {
		if never[what] == len(worlds) {
			problems = append(problems, fmt.Errorf("no world of the model reaches %s", what))
		}
	}
	return states, errors.Join(problems...)
}

// mutants checks the core under each fault of the model's regions.
func (c *checker) mutants(base []trace) (seen, total int, err error) {
	names, err := concerned("testdata/mutants/seeded.txt")
	if err != nil {
		return 0, 0, err
	}
	excused, err := excuses(filepath.Join(modelDir, "unseen.txt"))
	if err != nil {
		return 0, 0, err
	}
	bin := filepath.Join(c.out, "mutants", "core")
	if _, err := in(".", nil, "go", "run", "./internal/prove", "mutants", "generate", "-out", filepath.Dir(bin)); err != nil {
		return 0, 0, err
	}
	if _, err := in(".", nil, "go", "build", "-tags", "nolibopusfile,mutants", "-overlay", filepath.Join(filepath.Dir(bin), "overlay.json"),
		"-o", bin, "./internal/prove"); err != nil {
		return 0, 0, err
	}
	same := map[string]bool{}
	for _, t := range base {
		same[string(write([]trace{t}))] = true
	}
	var problems []error
	for _, name := range names {
		rejected, err := c.rejects(bin, name, same)
		_, known := excused[name]
		delete(excused, name)
		switch {
		case err != nil:
			problems = append(problems, fmt.Errorf("mutant %s: %w", name, err))
		case rejected:
			if seen++; known {
				problems = append(problems, fmt.Errorf("the model rejects mutant %s, but %s/unseen.txt says that it cannot", name, modelDir))
			}
		case !known:
			problems = append(problems, fmt.Errorf("the model accepts the core's behaviour under mutant %s; find the document that forbids it", name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(excused)) {
		problems = append(problems, fmt.Errorf("%s/unseen.txt names %s, which is not a mutant of these regions", modelDir, name))
	}
	return seen, len(names), errors.Join(problems...)
}

// rejects reports whether the model rejects one of the conversations that the mutant
// changes.
func (c *checker) rejects(bin, name string, same map[string]bool) (bool, error) {
	all, err := in(".", []string{"AGENTVOICE_MUTANT=" + name}, "timeout", "10", bin, "secondmodel", "traces")
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return false, nil // timeout: its conversations do not end
	}
	if err != nil {
		return false, err
	}
	var others bytes.Buffer
	for _, t := range split(all) {
		if !same[t] {
			others.WriteString(t)
		}
	}
	if others.Len() == 0 {
		return false, nil
	}
	_, rejected, err := c.judge(others.Bytes(), filepath.Join(c.out, "mutant.txt"))
	return len(rejected) > 0, err
}

// split splits the output of write into its traces.
func split(all string) (out []string) {
	lines := strings.SplitAfter(all, "\n")
	for i := 0; i < len(lines) && lines[i] != ""; {
		count, _, _ := strings.Cut(strings.TrimSpace(lines[i]), " ")
		n, err := strconv.Atoi(count)
		if err != nil || i+n >= len(lines) { // malformed; the model rejects it
			return append(out, strings.Join(lines[i:], ""))
		}
		out = append(out, strings.Join(lines[i:i+n+1], ""))
		i += n + 1
	}
	return out
}

// concerned returns the mutants that break a region of the model.
func concerned(list string) (names []string, err error) {
	text, err := os.ReadFile(list)
	name := ""
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch key {
		case "mutant":
			name = value
		case "breaks":
			for _, region := range []string{"conversation", "hold", "speech", "approval"} {
				if strings.Contains(value, region) {
					names = append(names, name)
					break
				}
			}
		}
	}
	return names, err
}

// excuses reads a list of names, each followed by a reason.
func excuses(list string) (map[string]string, error) {
	text, err := os.ReadFile(list)
	out := map[string]string{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, why, ok := strings.Cut(line, " ")
		if !ok {
			return nil, fmt.Errorf("%s: %s has no reason", list, name)
		}
		out[name] = why
	}
	return out, err
}
