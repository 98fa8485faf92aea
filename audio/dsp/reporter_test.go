package dsp

import (
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// claimingSource and claimingSink are devices that report a latency.
type (
	claimingSource struct {
		audio.Source
		t audio.Timing
	}
	claimingSink struct {
		audio.Sink
		latency time.Duration
	}
)

func (s *claimingSource) Timing() audio.Timing { return s.t }
func (s *claimingSink) Latency() time.Duration { return s.latency }

// TestDelayIsReportedOnOpenSwitchAndChange of both devices, but not on jitter of the
// measured latency.
func TestDelayIsReportedOnOpenSwitchAndChange(t *testing.T) {
	const ms = time.Millisecond
	in, out := &claimingSource{t: audio.Timing{Reported: 15 * ms}}, &claimingSink{latency: 15 * ms}
	p := &Processor{}
	r := NewDelayReporter(p, in, out)
	frames := func(n int) {
		for range n {
			r.Next()
		}
	}
	is := func(what string, want time.Duration) {
		t.Helper()
		if got := audio.Duration(p.reported.Load()); got != want || r.told != want {
			t.Errorf("%s: SetDelay got %v, told is %v; want %v", what, got, r.told, want)
		}
	}
	is("the open", 30*ms)

	out.latency, in.t.Measured = 35*ms, 3*ms
	frames(500)
	is("jitter of a few milliseconds", 30*ms)

	out.latency = 180 * ms
	frames(latencyFrames - 1)
	is("a blink", 30*ms)
	frames(1)
	is("a speaker whose latency grew", 195*ms)

	in.t.Measured = 140 * ms
	frames(latencyFrames)
	is("a microphone whose latency grew", 320*ms)
	if want := EchoTail(320 * ms); r.Tail() != want {
		t.Errorf("Tail is %v, want %v", r.Tail(), want)
	}

	in.t = audio.Timing{Reported: 20 * ms}
	r.Opened()
	frames(1)
	is("another microphone", 200*ms)
	out.latency = 10 * ms
	r.Opened()
	frames(1)
	is("another loudspeaker", 30*ms)
}

// TestReportedDelayKeepsRecalledEcho: a correction found earlier for the same devices
// stays until their echo is found, even if they measure more than they reported.
func TestReportedDelayKeepsRecalledEcho(t *testing.T) {
	var c corrector
	c.recall(100 * millisecond)
	c.delay(30 * millisecond)
	if total, changed := c.delay(90 * millisecond); total != 190*millisecond || !changed || !c.known() {
		t.Errorf("%d samples, changed %v, known %v", total, changed, c.known())
	}
	c.observe(20 * millisecond)
	if c.delay(20 * millisecond); c.known() {
		t.Error("an echo found with another delay still counts as found")
	}
}

func TestDelayReporterAllocatesNothing(t *testing.T) {
	r := NewDelayReporter(&Processor{}, &claimingSource{}, &claimingSink{})
	if n := testing.AllocsPerRun(100, func() { r.Opened(); r.Next(); r.Next() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
