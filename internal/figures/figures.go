// Package figures defines the latencies of an interruption, once for everything that
// prints them: the timeline, the benches, the summary of a recorded conversation, and
// diagnostics/report.
//
// # Definitions
//
// All times are relative to the onset: when the microphone's device had the first sample
// of the user's voice over the answer, however late the daemon got it. A bench that
// placed the voice knows the sample. In a conversation, vad.start says how long before
// it that was, if the detection is local. A command has no onset.
//
//   - Decided: the core's decision to interrupt. It is the step that pauses the
//     answer, or ends it at once.
//   - Silent: the first sample from which the output contains no more of the answer,
//     for as long as the
//     interruption lasts. The player reports it as a position of the output, after any
//     fade; a bench
//     reads it from the recorded output. The player may be held before the core
//     decides, so Silent may
//     precede Decided. An answer that was silent at the onset has 0.
//   - Listening: the step that gives the user the floor.
//   - Resumed: the step that resumes the answer, because the user said nothing.
//
// # Model
//
// A Meter follows the decisions of one conversation and the reports about its output.
// Both have their own timestamps and arrive in any order, because different
// goroutines send them.
package figures

import "time"

// Figure names one of the times of an interruption.
type Figure string

// The figures, in the order in which they are printed.
const (
	Decided   Figure = "decided"
	Silent    Figure = "silent"
	Listening Figure = "listening"
	Resumed   Figure = "resumed"
)

// All lists every figure.
var All = []Figure{Decided, Silent, Listening, Resumed}

// Meaning returns what a figure measures.
func (f Figure) Meaning() string {
	switch f {
	case Decided:
		return "onset to the decision to interrupt"
	case Silent:
		return "onset to silence in the output"
	case Listening:
		return "onset to Listening"
	case Resumed:
		return "onset to the answer resuming"
	default:
		return string(f)
	}
}

// Mark is a time on the conversation's clock that may be unknown.
type Mark struct {
	At    time.Duration
	Known bool
}

// At is a known Mark.
func At(d time.Duration) Mark { return Mark{At: d, Known: true} }

// Interruption is an answer that was paused or ended, with the times of its events.
type Interruption struct {
	Decided, Silent, Listening, Resumed Mark

	sounded Mark // when the output had audio again
}

// Of returns the latency of a figure relative to the onset, and whether it is known.
func (i *Interruption) Of(f Figure, onset time.Duration) (time.Duration, bool) {
	m := map[Figure]Mark{Decided: i.Decided, Silent: i.Silent, Listening: i.Listening, Resumed: i.Resumed}[f]
	if !m.Known || f == Silent && i.tooEarly() {
		return 0, false
	}
	return max(m.At-onset, 0), true
}

// tooEarly reports whether the output had audio again before the interruption ended,
// as after a hold that ended too soon.
func (i *Interruption) tooEarly() bool {
	over := i.Resumed.Known || i.Listening.Known && i.sounded.At >= i.Listening.At
	return i.sounded.Known && !over
}

// Meter follows interruptions. Its zero value is ready to use.
type Meter struct {
	silence Mark          // start of the current silence; unknown while the output has audio
	present *Interruption // nil after Abandon
}

// Decide starts an interruption.
func (m *Meter) Decide(at time.Duration) *Interruption {
	m.present = &Interruption{Decided: At(at), Silent: m.silence}
	return m.present
}

// Listen records that the user has the floor.
func (m *Meter) Listen(at time.Duration) {
	if p := m.present; p != nil && !p.Listening.Known {
		p.Listening = At(at)
	}
}

// Resume records that the answer continues.
func (m *Meter) Resume(at time.Duration) {
	if p := m.present; p != nil {
		p.Resumed = At(at)
	}
}

// Abandon discards the current interruption, because the conversation has moved on.
func (m *Meter) Abandon() { m.present = nil }

// Silenced records that the output has had no audio since at.
func (m *Meter) Silenced(at time.Duration) {
	m.silence = At(at)
	if p := m.present; p != nil && (!p.Silent.Known || p.tooEarly()) {
		p.Silent, p.sounded = m.silence, Mark{}
	}
}

// Sounded records that the output has had audio since at.
func (m *Meter) Sounded(at time.Duration) {
	m.silence = Mark{}
	if p := m.present; p != nil && !p.sounded.Known {
		p.sounded = At(at)
	}
}
