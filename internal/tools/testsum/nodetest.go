package main

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// nodeSummary is a line of the summary: "# pass 3" (tap) or "ℹ pass 3" (spec).
var nodeSummary = regexp.MustCompile(`^(?:#|ℹ) (pass|fail|cancelled|skipped|todo) (\d+)$`)

// readNode prints the complete output if a test failed or the runner did not reach
// its summary.
func readNode(in io.Reader, out io.Writer) (counts, error) {
	var c counts
	var all strings.Builder
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		all.WriteString(lines.Text() + "\n")
		m := nodeSummary.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		n, err := strconv.Atoi(m[2])
		if err != nil {
			return c, err
		}
		switch m[1] {
		case "pass":
			c.passed += n
		case "fail", "cancelled":
			c.failed += n
		default:
			c.skipped += n
		}
	}
	if c.passed == 0 || c.failed > 0 {
		fmt.Fprint(out, all.String())
	}
	return c, lines.Err()
}
