// Command once runs a step of the checks unless it passed before with the same inputs:
//
//	once -counts out/tests -o out/ci/test-long.count -without extension -- make test-long
//
// The inputs of a step are the files of the checkout without those in the folders that the option
// -without names, and, unless the option -documents is given, without documents; the versions of
// Go, Node and the installed libraries; and the command. The result is kept in the user's cache folder
// (package memo), so it counts for every clone. With AGENTVOICE_FRESH=1 the step always runs.
//
// The file of the option -o gets three numbers, how many tests passed, failed and were skipped:
// the sum of the files in the folder -counts, which the command writes, plus one for the step.
// The exit status is that of the command.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agentvoice/agentvoice-daemon/internal/memo"
)

func main() {
	var s step
	flag.StringVar(&s.counts, "counts", "out/tests", "`folder` of the counts that the command writes")
	flag.StringVar(&s.out, "o", "", "`file` for the sum of the counts")
	flag.StringVar(&s.without, "without", "", "`folders` that the step does not read, separated by commas")
	flag.BoolVar(&s.documents, "documents", false, "documents are inputs too")
	flag.Parse()
	s.command = flag.Args()
	if len(s.command) == 0 || s.out == "" {
		fmt.Fprintln(os.Stderr, "once: give a file for the counts and a command: once -o FILE -- COMMAND")
		os.Exit(2)
	}
	status, err := s.run()
	if err != nil {
		fmt.Fprintln(os.Stderr, "once:", err)
		status = max(status, 1)
	}
	os.Exit(status)
}

type step struct {
	counts, out, without string
	documents            bool
	command              []string
}

// name is the command as people type it.
func (s *step) name() string { return strings.Join(s.command, " ") }

func (s *step) run() (status int, err error) {
	key, err := s.key()
	if err != nil {
		fmt.Fprintf(os.Stderr, "once: running %s, because its inputs are unknown: %v\n", s.name(), err)
		key = ""
	}
	if counts, at, ok := memo.Load(key); ok {
		fmt.Printf("%s: unchanged since it passed on %s\n", s.name(), at.Format(time.DateTime))
		return 0, write(s.out, string(counts))
	}
	old, err := filepath.Glob(filepath.Join(s.counts, "*.count"))
	if err != nil {
		return 1, err
	}
	for _, file := range old {
		if err := os.Remove(file); err != nil {
			return 1, err
		}
	}
	cmd := exec.Command(s.command[0], s.command[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	failure := cmd.Run()
	var exit *exec.ExitError
	if failure != nil && !errors.As(failure, &exit) {
		return 1, failure
	}
	counts, err := s.sum(failure == nil)
	if err == nil {
		err = write(s.out, counts)
	}
	if failure != nil {
		return exit.ExitCode(), err
	}
	if err == nil && key != "" {
		err = memo.Save(key, []byte(counts))
	}
	return 0, err
}

// key returns the hash of the step's inputs.
func (s *step) key() (string, error) {
	in := memo.Of(".", s.name())
	in.Program("node", "--version")
	without := strings.Split(s.without, ",")
	in.Tracked(func(path string) bool {
		top, _, _ := strings.Cut(path, "/")
		return !slices.Contains(without, top) && (s.documents || !memo.IsDocument(path))
	})
	return in.Key()
}

// sum adds up the counts that the command wrote, and the step itself.
func (s *step) sum(ok bool) (string, error) {
	var passed, failed, skipped int
	if ok {
		passed++
	} else {
		failed++
	}
	files, err := filepath.Glob(filepath.Join(s.counts, "*.count"))
	for _, file := range files {
		text, e := os.ReadFile(file)
		var p, f, k int
		if e == nil {
			_, e = fmt.Sscan(string(text), &p, &f, &k)
		}
		if e != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", file, e))
		}
		passed, failed, skipped = passed+p, failed+f, skipped+k
	}
	return fmt.Sprintln(passed, failed, skipped), err
}

func write(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644)
}
