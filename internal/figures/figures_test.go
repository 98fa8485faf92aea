package figures

import (
	"testing"
	"time"
)

const ms = time.Millisecond

const onset = 1000 * ms

// runs lists sequences of calls, with the expected figures.
var runs = []struct {
	name string
	do   func(m *Meter) *Interruption
	want map[Figure]time.Duration
}{
	{"held, then decided", func(m *Meter) *Interruption {
		m.Silenced(1075 * ms)
		i := m.Decide(1100 * ms)
		m.Listen(1250 * ms)
		m.Sounded(3000 * ms) // the next answer
		m.Silenced(4000 * ms)
		return i
	}, map[Figure]time.Duration{Decided: 100 * ms, Silent: 75 * ms, Listening: 250 * ms}},
	{"decided, then silent", func(m *Meter) *Interruption {
		i := m.Decide(1100 * ms)
		m.Silenced(1112 * ms)
		m.Listen(1250 * ms)
		return i
	}, map[Figure]time.Duration{Decided: 100 * ms, Silent: 112 * ms, Listening: 250 * ms}},
	{"the hold ends before the decision", func(m *Meter) *Interruption {
		m.Silenced(1075 * ms)
		m.Sounded(1375 * ms)
		i := m.Decide(1680 * ms)
		m.Silenced(1690 * ms)
		m.Listen(1700 * ms)
		return i
	}, map[Figure]time.Duration{Decided: 680 * ms, Silent: 690 * ms, Listening: 700 * ms}},
	{"the hold ends after the decision", func(m *Meter) *Interruption {
		m.Silenced(1075 * ms)
		i := m.Decide(1100 * ms)
		m.Sounded(1120 * ms)
		m.Silenced(1130 * ms)
		m.Listen(1250 * ms)
		return i
	}, map[Figure]time.Duration{Decided: 100 * ms, Silent: 130 * ms, Listening: 250 * ms}},
	{"the silence is reported late", func(m *Meter) *Interruption {
		i := m.Decide(1100 * ms)
		m.Listen(1100 * ms)
		m.Silenced(1090 * ms)
		return i
	}, map[Figure]time.Duration{Decided: 100 * ms, Silent: 90 * ms, Listening: 100 * ms}},
	{"resumed", func(m *Meter) *Interruption {
		i := m.Decide(1100 * ms)
		m.Silenced(1110 * ms)
		m.Resume(1300 * ms)
		m.Sounded(1310 * ms)
		return i
	}, map[Figure]time.Duration{Decided: 100 * ms, Silent: 110 * ms, Resumed: 300 * ms}},
	{"resumed, and the output precedes the step", func(m *Meter) *Interruption {
		i := m.Decide(1100 * ms)
		m.Silenced(1110 * ms)
		m.Sounded(1299 * ms)
		m.Resume(1300 * ms)
		m.Silenced(4000 * ms)
		return i
	}, map[Figure]time.Duration{Decided: 100 * ms, Silent: 110 * ms, Resumed: 300 * ms}},
	{"the output never falls silent", func(m *Meter) *Interruption {
		m.Silenced(1075 * ms)
		i := m.Decide(1100 * ms)
		m.Sounded(1120 * ms)
		m.Listen(1250 * ms)
		return i
	}, map[Figure]time.Duration{Decided: 100 * ms, Listening: 250 * ms}},
	{"silent at the onset", func(m *Meter) *Interruption {
		m.Silenced(900 * ms)
		i := m.Decide(1100 * ms)
		m.Listen(1200 * ms)
		return i
	}, map[Figure]time.Duration{Decided: 100 * ms, Silent: 0, Listening: 200 * ms}},
	{"no report about the output", func(m *Meter) *Interruption {
		i := m.Decide(1100 * ms)
		m.Listen(1200 * ms)
		return i
	}, map[Figure]time.Duration{Decided: 100 * ms, Listening: 200 * ms}},
}

// TestMeter covers outputs that fall silent before and after the decision, and that
// have audio again in between.
func TestMeter(t *testing.T) {
	for _, tt := range runs {
		t.Run(tt.name, func(t *testing.T) {
			var m Meter
			m.Sounded(0)
			i := tt.do(&m)
			for _, f := range All {
				got, known := i.Of(f, onset)
				want, wanted := tt.want[f]
				if known != wanted || got != want {
					t.Errorf("%s: %v (known: %v), want %v (%v)", f, got, known, want, wanted)
				}
			}
		})
	}
}
