package main

import (
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/internal/figures"
	"github.com/agentvoice/agentvoice-daemon/internal/timeline"
)

func TestJudge(t *testing.T) {
	cut := timeline.Turn{End: csm.TurnCutOff}
	full := timeline.Turn{End: csm.Answered}
	failed := timeline.Turn{End: csm.TurnFailed}
	const said = "one two three\nfour five\nfour five\n"
	for _, tt := range []struct {
		name      string
		turns     []timeline.Turn
		reference string
		want      string // in the error; empty for none
	}{
		{"good", []timeline.Turn{cut, full, full}, said, ""},
		{"too few turns", []timeline.Turn{cut, full, failed}, said, "2 turns, want"},
		{"too many turns", []timeline.Turn{cut, full, full, full, full}, said, "5 turns, want at most 4"},
		{"none interrupted", []timeline.Turn{full, full, full}, said, "0 interrupted turns"},
		{"misheard", []timeline.Turn{cut, full, full}, "six seven eight\nfour five\nfour five\n", "42.9 %"},
		{"no tool was run", []timeline.Turn{cut, full, full}, said, "0 tool calls, want"},
		{"nothing said", []timeline.Turn{cut, full, full}, "\n", "no words"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, tools := demands{turns: 3, most: 4, interrupted: 1, tools: 1, wer: 40}, 1
			if tt.name == "no tool was run" {
				tools = 0
			}
			err := judge(tt.turns, []string{"one two three", "four five", "four five"}, tools, tt.reference, d, io.Discard)
			switch {
			case tt.want == "" && err != nil:
				t.Error(err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// TestSummaryHasTheTimelinesFigures prints each figure under the same name as all
// other printers.
func TestSummaryHasTheTimelinesFigures(t *testing.T) {
	const ms = time.Millisecond
	known := func(d time.Duration) timeline.Latency { return timeline.Latency{Duration: d, Known: true} }
	cut := timeline.Turn{End: csm.TurnCutOff, Interruption: &timeline.Interruption{
		Utterance: 1, Decided: known(45 * ms), Silent: known(32 * ms), Listening: known(251 * ms),
	}}
	var out strings.Builder
	if err := judge([]timeline.Turn{cut}, []string{"one"}, 0, "one\n", demands{turns: 1, interrupted: 1, wer: 40}, &out); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"decided      45 ms  " + figures.Decided.Meaning(), "silent       32 ms  " + figures.Silent.Meaning(), "listening   251 ms  " + figures.Listening.Meaning(),
	} {
		if !strings.Contains(out.String(), line) {
			t.Errorf("%q lacks %q", out.String(), line)
		}
	}
}

func TestNoJournal(t *testing.T) {
	if err := run(filepath.Join(t.TempDir(), "none"), "", demands{}, io.Discard); err == nil {
		t.Error("no error without a journal")
	}
}
