package journal_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/csm/journal"
)

var update = flag.Bool("update", false, "write the traces of testdata/journals anew")

const past = "../../testdata/journals"

// configured is the configuration of a turn, which would hide what changes.
var configured = regexp.MustCompile(`,"config":\{[^}]*\}`)

// The journals of the past read, break no invariant of the present core, and take
// the way that stands beside them. One that the present core wrote replays
// identically.
func TestJournalsOfThePast(t *testing.T) {
	formats, all := map[int]int{}, readPast(t)
	for _, j := range all {
		t.Run(filepath.Base(j.Path), func(t *testing.T) {
			formats[j.Header.Journal]++
			if j.Header.Content != journal.Redacted || j.Stops != nil {
				t.Errorf("it is %s, and stops: %v", j.Header.Content, j.Stops)
			}
			a, err := journal.Rerun(j)
			if err != nil {
				t.Fatal(err)
			}
			if a.Violation != nil {
				t.Errorf("line %d: %v", a.Violation.Line, a.Violation.Err)
			}
			trace := configured.ReplaceAllString(strings.Join(a.Steps, "\n")+"\n", "")
			golden := strings.TrimSuffix(j.Path, ".jsonl") + ".trace"
			if *update {
				if err := os.WriteFile(golden, []byte(trace), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if want, err := os.ReadFile(golden); err != nil || string(want) != trace {
				t.Errorf("it takes another way than in %s, from %q on (%v); if that is meant, run this test with -update and review the change",
					golden, firstOther(string(want), trace), err)
			}
			res, err := journal.Replay(j)
			if j.Header.Core == journal.Core() && (err != nil || res.Difference != nil || res.OtherCore) {
				t.Errorf("this core wrote it, and replays it to another: %+v, %v", res, err)
			}
		})
	}
	if formats[1] < 3 || formats[2] < 2 {
		t.Errorf("journals of the formats %v", formats)
	}
}

func readPast(t *testing.T) []*journal.Journal {
	t.Helper()
	all, err := journal.ReadFiles(past)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// firstOther is the first line of b that a has not at its place.
func firstOther(a, b string) string {
	x := strings.Split(a, "\n")
	for i, l := range strings.Split(b, "\n") {
		if i >= len(x) || x[i] != l {
			return l
		}
	}
	return "the end"
}

// A journal of format 1 has no sums: what can be found in it is what its events
// depend on, and a last line that is torn.
func TestFormatOne(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(past, "1-interrupted.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	whole := string(b)
	edit := func(old, new string) string {
		if !strings.Contains(whole, old) {
			t.Fatalf("it holds no %s", old)
		}
		return strings.Replace(whole, old, new, 1)
	}
	for _, c := range []struct{ name, s, says string }{
		{"unknown field of a line", edit(`"lane"`, `"lame"`), "unknown field"},
		{"unknown field of an event", edit(`{"epoch":1}`, `{"epoch":1,"x":1}`), "unknown field"},
		{"line cut", edit(`"phase":"Listening","state"`, "\n"), "not whole"},
		{"order", edit(`"seq":7,`, `"seq":8,`), "order differ"},
		{"header", edit(`"speed"`, `"spied"`), "no header of format 1"},
	} {
		if _, err := replay(c.s); err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "line ") {
			t.Errorf("%s: %v; want it to say %q", c.name, err, c.says)
		}
	}
	j, err := journal.Read(strings.NewReader(whole[:len(whole)-9]))
	if err != nil || j.Stops == nil || j.Stops.Torn == 0 {
		t.Errorf("torn: %v", err)
	}
	if res, err := replay(whole); err == nil && !res.OtherCore {
		t.Errorf("its digests, which are of another kind, were compared: %+v", res)
	}
}
