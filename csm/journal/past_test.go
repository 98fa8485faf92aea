package journal_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/journal"
)

var update = flag.Bool("update", false, "rewrite the traces of testdata/journals")

const past = "../../testdata/journals"

// configured is the configuration of a turn, which is omitted from traces for brevity.
var configured = regexp.MustCompile(`,"config":\{[^}]*\}`)

// Old journals can be read, violate no invariant of the current core, and match their
// trace. Those that the current core wrote replay identically.
func TestOldJournals(t *testing.T) {
	all := readPast(t)
	if len(all) < 3 {
		t.Errorf("%d journals", len(all))
	}
	for _, j := range all {
		t.Run(filepath.Base(j.Path), func(t *testing.T) {
			if j.Header.Content != journal.Redacted || j.Stops != nil {
				t.Errorf("it is %s, and stops: %v", j.Header.Content, j.Stops)
			}
			trace := configured.ReplaceAllString(rerun(t, j), "")
			golden := strings.TrimSuffix(j.Path, ".jsonl") + ".trace"
			if *update {
				if err := os.WriteFile(golden, []byte(trace), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if want, err := os.ReadFile(golden); err != nil || string(want) != trace {
				t.Errorf("it differs from %s, starting at %q (%v); if intended, run this test with -update and review the diff",
					golden, firstOther(string(want), trace), err)
			}
			res, err := journal.Replay(j)
			if j.Header.Core == journal.Core() && (err != nil || res.Difference != nil || res.OtherCore) {
				t.Errorf("this core wrote the journal, but does not replay it identically: %+v, %v", res, err)
			}
		})
	}
}

// rerun steps the core through a journal's events, ignoring recorded outcomes, checks the
// invariants, and returns the reaction to each event.
func rerun(t *testing.T, j *journal.Journal) string {
	t.Helper()
	var trace strings.Builder
	s := csm.Initial()
	for _, l := range j.Lines {
		if l.Event == "" {
			continue
		}
		env, err := l.Envelope()
		if err != nil {
			t.Fatal(err)
		}
		if c, ok := env.Event.(csm.Configure); ok { // missing settings have their defaults
			c.Config = csm.DefaultConfig()
			if err := json.Unmarshal(l.Data, &c); err != nil {
				t.Fatal(err)
			}
			env.Event = c
		}
		after, fx := csm.Step(s, env)
		if err := csm.CheckStep(s, env, after, fx); err != nil {
			t.Errorf("line %d: %v", l.Number, err)
		}
		s = after
		effects, err := journal.EncodeEffects(fx)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&trace, "%d %s -> %v: %s\n", l.Seq, l.Event, s.Phase(), effects)
	}
	return trace.String()
}

func readPast(t *testing.T) []*journal.Journal {
	t.Helper()
	all, err := journal.ReadFiles(past)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// firstOther returns the first line of b that differs from a.
func firstOther(a, b string) string {
	x := strings.Split(a, "\n")
	for i, l := range strings.Split(b, "\n") {
		if i >= len(x) || x[i] != l {
			return l
		}
	}
	return "the end"
}
