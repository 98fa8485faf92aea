package main

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/bench/roomsim"
)

func barge(silent float64, told bool) roomsim.Outcome {
	return roomsim.Outcome{Kind: roomsim.BargeIn, Group: roomsim.Read, Silent: silent, Decided: silent, Listening: 250, Resumed: -1, Lost: 10, Told: told}
}

func place(gain float64) roomsim.Place {
	return roomsim.Place{Room: "study", EchoGain: gain, Render: 25 * time.Millisecond, Capture: 10 * time.Millisecond}
}

// sample returns 20 interruptions from 10 to 200 ms, one of them missed, a cough, and
// an assistant alone.
func sample() *report {
	var res roomsim.Result
	for i := range 19 {
		res.Outcomes = append(res.Outcomes, barge(float64(10*(i+1)), true))
	}
	res.Outcomes = append(res.Outcomes, barge(-1, false),
		roomsim.Outcome{Kind: roomsim.Cough, Group: roomsim.Cartoon, Silent: 90, Resumed: 900, WentOn: true})
	res.CPU, res.Audio = time.Second, 100*time.Second
	alone := roomsim.Result{Sounding: 10 * time.Minute, Pauses: 3, Early: 2, Interruptions: 1}
	return &report{NoLive: "there is no server", Cells: []cell{
		{Cell: cellInfo{Name: "study", Profile: "default", Place: place(-6)}, Result: res},
		{Cell: cellInfo{Name: "study, assistant alone", Profile: "default", Place: place(-6), Alone: true}, Result: alone},
	}, Jumps: []cell{
		{Cell: cellInfo{Place: place(-6)}, Result: roomsim.Result{JumpAt: time.Second, FalseAt: []time.Duration{1, 2 * time.Second}}},
		{Cell: cellInfo{Place: place(-6), Jump: -80 * time.Millisecond}, Result: roomsim.Result{JumpAt: time.Second, FalseAt: []time.Duration{1, 2 * time.Second}, HalfDuplex: time.Second}},
		{Cell: cellInfo{Place: place(-6), Jump: 120 * time.Millisecond}, Result: roomsim.Result{JumpAt: time.Second, Refound: 1500 * time.Millisecond}},
	}}
}

func TestGoals(t *testing.T) {
	r := sample()
	r.sum(nil)
	want := []struct{ what, figure, met string }{
		{"onset to silence, echo -6 dB, p95", "190 ms of 20", "missed"},
		{"the same, p50", "100 ms", "met"},
		{"onset to Listening, p95", "250 ms", "met"},
		{"false interruptions in 10 minutes, no noise, worst room", "1.0 (3 false pauses in 10 minutes)", "missed"},
		{"false interruptions in 10 minutes, no noise, worst room, after its first 10s", "1.0 pauses (1)", "missed"},
		{"the same with noise at 10 dB", "-", "not measured"},
		{"the same with noise at 10 dB, after its first 10s", "-", "not measured"},
		{"self-interruptions after the echo's delay jumped by 80 ms", "1 in 1 conversations", "missed"},
		{"the same by 80 to 200 ms, most in one conversation", "1 (1 in 2)", "met"},
		{"until the new delay is found, p95", "0.50 s, p50 0.50 s; 1 of 2 not found", "missed"},
		{"interruptions missed", "5.0 %: 1 of 20", "met"},
		{"coughs and backchannels after which the answer goes on, all rooms", "100.0 %: 1 of 1", "met"},
		{"what is lost at the beginning, p95", "10 ms", "met"},
		{"media path", "1.0 %", "met"},
		{"an onset's event until the player is told, in real time, p99", "-", "not measured"},
	}
	if len(r.Goals) != len(want) {
		t.Fatalf("%d goals, want %d", len(r.Goals), len(want))
	}
	for i, w := range want {
		if g := r.Goals[i]; g.What != w.what || g.Figure != w.figure || g.Met != w.met {
			t.Errorf("%+v, want %+v", g, w)
		}
	}
}

func TestJumpsAreCountedByTheirSizeAndRoom(t *testing.T) {
	want := [][]string{
		{"+0 ms", "1", "1", "1", "-", "0", "0", "0.0", "0"},
		{"-80 ms", "1", "1", "1", "-", "1", "1", "1.0", "0"},
		{"+120 ms", "1", "0", "0", "0.50 / 0.50 / 0.50", "0", "0", "0.0", "0"},
		{"study, by 80 to 200 ms", "2", "1", "1", "0.50 / 0.50 / 0.50", "1", "1", "1.0", "0"},
	}
	if got := sample().jumpsTable().rows; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestNonInterruptions(t *testing.T) {
	r := &report{NonInterruptions: []cell{{Result: roomsim.Result{Outcomes: []roomsim.Outcome{
		{ID: "cough/a", Kind: roomsim.Cough, Silent: 90, Listening: 300, WentOn: true},
		{ID: "cough/b", Kind: roomsim.Cough, Silent: -1, Listening: -1, WentOn: true},
		{ID: "laugh/a", Kind: roomsim.Cough, Silent: 90, Listening: -1},
		{ID: "nl/a", Kind: roomsim.Backchannel, Lang: "nl", Silent: 90, Listening: 300},
		{ID: "synthetic/yeah", Kind: roomsim.Backchannel, Lang: "en", Silent: 90, Listening: 300, WentOn: true},
	}}}}}
	want := [][]string{
		{"coughs", "2", "1 (50.0 %)", "1 (50.0 %)", "2 (100.0 %)"},
		{"laughter", "1", "1 (100.0 %)", "0 (0.0 %)", "0 (0.0 %)"},
		{"backchannels, English and sounds", "1", "1 (100.0 %)", "1 (100.0 %)", "1 (100.0 %)"},
		{"backchannels, other languages", "1", "1 (100.0 %)", "1 (100.0 %)", "0 (0.0 %)"},
	}
	if got := r.nonInterruptionsTable().rows; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestAQuantileIsOneOfTheValues(t *testing.T) {
	s := spreadOf([]float64{4, 1, 3, 2})
	if s.P50 != 2 || s.P95 != 4 || s.P99 != 4 || s.Max != 4 || s.N != 4 {
		t.Errorf("%+v", s)
	}
	if spreadOf(nil) != nil {
		t.Error("quantiles of nothing")
	}
}

func TestPageIsSelfContained(t *testing.T) {
	r := sample()
	r.sum(nil)
	page, err := r.page()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"190 ms of 20", `class="missed"`, "<svg", "not measured: there is no server", "default</text>"} {
		if !bytes.Contains(page, []byte(want)) {
			t.Errorf("the page has no %s", want)
		}
	}
	for _, outside := range []string{"src=", "href=", "@import"} {
		if bytes.Contains(page, []byte(outside)) {
			t.Errorf("the page refers to another resource: %s", outside)
		}
	}
	var text strings.Builder
	r.print(&text)
	if !strings.Contains(text.String(), "190 ms of 20") {
		t.Error("the terminal does not show the goals")
	}
}
