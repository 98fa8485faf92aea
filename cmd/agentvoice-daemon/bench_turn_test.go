package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio/turns"
)

// The curve has a row for each signal that a pause has, and at the same average delay a signal
// that tells pauses from ends has fewer false ends than silence.
func TestTheCurveOfTurnsComparesSignals(t *testing.T) {
	yes, no := 0.95, 0.05
	pauses := []heardPause{
		{end: true, Evidence: turns.Evidence{Words: "the last commit", Stop: &yes}},
		{end: true, Evidence: turns.Evidence{Words: "the first test", Stop: &yes}},
		{length: 600 * time.Millisecond, Evidence: turns.Evidence{Words: "the last", Stop: &no}},
		{length: 200 * time.Millisecond, Evidence: turns.Evidence{Words: "in the", Stop: &no}},
	}
	var out bytes.Buffer
	if err := printTurns(&out, pauses, false); err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(out.String()) {
		got = append(got, strings.Join(strings.Fields(line), " "))
	}
	want := []string{
		"2 pauses of 160ms and longer in 2 recordings", "FALSE ENDS AT 300 MS AT 500 MS", "silence 50.0 % 50.0 %",
		"words 50.0 % 50.0 %", "full stop 0.0 % 0.0 %", "all together 0.0 % 0.0 %", strings.TrimSpace(publishedTurns),
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("printed\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if err := printTurns(&out, pauses[:2], false); err == nil {
		t.Error("recordings without pauses have a curve")
	}
}
