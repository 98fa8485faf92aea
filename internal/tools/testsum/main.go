// Testsum summarizes the output of `go test -json` or of Node's test runner in a few
// lines: the failures with their output, and how many tests passed, failed and were
// skipped. It prints nothing about passed tests.
//
//	go test -json ./... | testsum -name "go test" -counts out/tests/go.count
//	npm test | testsum -node -name "npm test" -counts out/tests/node.count
//
// A test with subtests counts as its subtests. The counts file has the three numbers
// on one line, so that several runs can be added up. The exit status is 1 if
// something failed, or if no test ran, because an empty run proves nothing.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// counts of tests.
type counts struct{ passed, failed, skipped int }

func (c counts) String() string {
	return fmt.Sprintf("%d passed, %d failed, %d skipped", c.passed, c.failed, c.skipped)
}

func main() {
	name := flag.String("name", "tests", "name of the tests, for the summary line")
	file := flag.String("counts", "", "`file` for the counts; empty for none")
	node := flag.Bool("node", false, "read the output of Node's test runner (tap or spec) instead")
	flag.Parse()
	ok, err := run(os.Stdin, os.Stdout, *name, *file, *node)
	if err != nil {
		fmt.Fprintln(os.Stderr, "testsum:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer, name, file string, node bool) (ok bool, err error) {
	read := readGo
	if node {
		read = readNode
	}
	c, err := read(in, out)
	if err != nil {
		return false, err
	}
	if c.passed+c.failed == 0 {
		fmt.Fprintf(out, "%s: no test ran\n", name)
		c.failed = 1
	}
	fmt.Fprintf(out, "%s: %v\n", name, c)
	if file == "" {
		return c.failed == 0, nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return false, err
	}
	line := fmt.Sprintln(c.passed, c.failed, c.skipped)
	return c.failed == 0, os.WriteFile(file, []byte(line), 0o644)
}
