package secondmodel

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const modelDir = "testdata/promela"

// world is a set of bounds for the model.
type world struct {
	name  string
	flags []string
}

// The worlds, each explored completely; combined they have too many states.
var worlds = []world{
	{"speech", bounds(1, confirmed, 2, "HANDS")},
	{"holds", bounds(1, confirmed, 2, "HOLDS")},
	{"tools", bounds(1, confirmed, 2, "TOOLS")},
	{"held tools", bounds(1, confirmed, 0, "TOOLS", "HOLDS")},
	{"devices", bounds(1, confirmed, 2, "DEVICES")},
	{"devices and hands", bounds(1, confirmed, 1, "DEVICES", "HANDS")},
	{"devices and tools", bounds(1, confirmed, 0, "DEVICES", "TOOLS")},
	{"by words", bounds(1, byWords, 2)},
	{"two voices over an answer", bounds(2, confirmed, 1, "TOOLS")},
	{"voices and hands", bounds(2, confirmed, 1, "HANDS")},
	{"drafts", append(bounds(1, confirmed, 1, "HANDS"), manual)},
	{"drafts and tools", append(bounds(1, confirmed, 0, "TOOLS"), manual)},
}

// Interruption profiles.
const (
	confirmed = 1
	byWords   = 2
)

// manual lets no pause end the user's turn.
const manual = "-DTURNS=2"

// bounds returns a world's flags: concurrent utterances, a profile, concurrent pieces
// of an answer, and optional parts: the user's hands, holds, tools, lost devices.
func bounds(utterances, profile, pieces int, with ...string) []string {
	flags := []string{fmt.Sprintf("-DU=%d", utterances), fmt.Sprintf("-DPROFILE=%d", profile), fmt.Sprintf("-DLINE=%d", pieces)}
	for _, what := range []string{"HANDS", "HOLDS", "TOOLS", "DEVICES"} {
		n := 0
		if slices.Contains(with, what) {
			n = 1
		}
		flags = append(flags, fmt.Sprintf("-D%s=%d", what, n))
	}
	return flags
}

// pan builds the model's verifier.
func pan(dir string, spinFlags, ccFlags []string) (string, error) {
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	if err := os.CopyFS(dir, os.DirFS(modelDir)); err != nil {
		return "", err
	}
	if _, err := in(dir, nil, "spin", append(spinFlags, "-a", "conversation.pml")...); err != nil {
		return "", err
	}
	// Without optimization, which takes minutes for a function as long as the model.
	cc := append([]string{"-O0", "-w", "-DSAFETY", "-DNOCLAIM", "-DNOREDUCE", "-DVECTORSZ=512", "-o", "pan", "pan.c"}, ccFlags...)
	if _, err := in(dir, nil, "gcc", cc...); err != nil {
		return "", err
	}
	return filepath.Join(dir, "pan"), nil
}

// in runs a command in a folder and returns its standard output.
func in(dir string, env []string, name string, args ...string) (string, error) {
	var out, bad bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &bad
	cmd.Env = append(os.Environ(), env...)
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("%s: %w\n%s%s", strings.Join(cmd.Args, " "), err, tail(out.String()), tail(bad.String()))
	}
	return out.String(), nil
}

func tail(s string) string { return s[max(0, len(s)-2000):] }

// installed returns an error if a tool is missing.
func installed() error {
	for _, name := range []string{"spin", "gcc"} {
		if _, err := exec.LookPath(name); err != nil {
			return fmt.Errorf("%s is not installed, but the second model needs it: on Debian and Ubuntu run make deps-test, elsewhere see https://spinroot.com", name)
		}
	}
	return nil
}

var (
	statesLine   = regexp.MustCompile(`(?m)^\s*(\d+) states, stored`)
	neverLine    = regexp.MustCompile(`(?m)^NEVER (.*)$`)
	rejectedLine = regexp.MustCompile(`(?m)^REJECTED (.*)$`)
	acceptedLine = regexp.MustCompile(`(?m)^ACCEPTED (\d+) of (\d+)$`)
)

// explore visits every state of a world, and returns the number of states and the
// situations that were not reached.
func (w world) explore(out string) (states int, never []string, err error) {
	dir := filepath.Join(out, strings.ReplaceAll(w.name, " ", "-"))
	bin, err := pan(dir, append(w.flags, "-DMAXC=2"), []string{"-DBFS", "-DMEMLIM=3000"})
	if err != nil {
		return 0, nil, err
	}
	said, err := in(dir, nil, bin, "-w22", "-E")
	n := statesLine.FindStringSubmatch(said)
	if i := strings.Index(said, "pan:1:"); i >= 0 { // after the progress
		said = said[i:]
	}
	switch {
	case err != nil:
		return 0, nil, err
	case n == nil || !strings.Contains(said, "errors: 0") || strings.Contains(said, "Search not completed"):
		return 0, nil, fmt.Errorf("the model violates an invariant or was not explored completely in the world %s:\n%.1500s", w.name, said)
	}
	for _, m := range neverLine.FindAllStringSubmatch(said, -1) {
		never = append(never, m[1])
	}
	states, err = strconv.Atoi(n[1])
	return states, never, err
}

// judge runs the model on traces. It returns the number of traces, and the rejected
// ones with the step and the difference.
func (c *checker) judge(all []byte, file string) (total int, rejected []string, err error) {
	if err := os.WriteFile(file, all, 0o644); err != nil {
		return 0, nil, err
	}
	said, err := in(filepath.Dir(c.acceptor), []string{"TRACES=" + file}, c.acceptor, "-w16", "-m100000", "-E")
	if err != nil {
		return 0, nil, err
	}
	n := acceptedLine.FindStringSubmatch(said)
	if n == nil || strings.Contains(said, "max search depth too small") {
		return 0, nil, fmt.Errorf("the model did not process all traces:\n%s", tail(said))
	}
	if i := strings.Index(said, "BRANCH "); i >= 0 {
		return 0, nil, fmt.Errorf("the model is not deterministic: %.200s", said[i:])
	}
	for _, m := range rejectedLine.FindAllStringSubmatch(said, -1) {
		rejected = append(rejected, m[1])
	}
	total, err = strconv.Atoi(n[2])
	return total, rejected, err
}
