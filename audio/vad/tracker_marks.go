package vad

import (
	"fmt"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// MarkKind is the kind of a Mark.
type MarkKind uint8

// The marks. Each Onset is followed by an Ended. In between, Paused and Resumed
// alternate, starting with Paused; Ended follows a Paused. Each Suspected is followed
// by an Onset or Dismissed within SuspicionLasts, unless audio is lost or the Tracker
// is reset first; it occurs only outside an utterance while the assistant is audible.
const (
	Onset     MarkKind = iota + 1 // a voice started
	Paused                        // the voice stopped, possibly only for a moment
	Resumed                       // the voice continued in the same utterance
	Ended                         // the configured silence has passed
	Suspected                     // a sound that is not echo, possibly a voice
	Dismissed                     // the suspected sound was not a voice
)

func (k MarkKind) String() string {
	switch k {
	case Onset:
		return "onset"
	case Paused:
		return "paused"
	case Resumed:
		return "resumed"
	case Ended:
		return "ended"
	case Suspected:
		return "suspected"
	case Dismissed:
		return "dismissed"
	}
	return fmt.Sprintf("mark %d", uint8(k))
}

// Mark is a change that a Tracker detected. Positions are in captured samples, at
// audio.SampleRate.
type Mark struct {
	Kind MarkKind
	// Pos is the best estimate of where the change happened: where the voice started
	// or stopped. For Ended it is where the configured silence was complete.
	Pos int64
	// Decided is the end of the frame that decided it; Decided-Pos is the delay.
	Decided int64
	// Faint means that an utterance has ended although a voice in the background goes on.
	Faint bool
}

// window is one detector window of 32 ms and its context. Positions are captured samples.
type window struct {
	start, end int64
	p          float32
	cut        float64 // dB that the canceller removed, while the assistant is audible
	raised     bool    // its end exceeds the noise by RaisedBy
	audible    bool    // the assistant is audible
	suspicious bool    // a suspicion is open
	adapting   bool    // the canceller is still learning the echo path
	foreign    bool    // the sound is not an echo, by comparison with the far end
	elsewhere  bool    // the sound may be an echo whose delay has jumped
	found      bool    // the canceller has found the echo's delay
	background bool    // a voice in it is far below the user's
}

// locator finds where a sound started or ended; levels implements it by energy. Its
// results may be out of order, which the marker corrects.
type locator interface {
	// begin returns where the sound in w started, or the start of w.
	begin(w window) int64
	// end returns where the sound ended, given the first window without it.
	end(w window) int64
}

// nonVoice returns the probability below which a window is clearly not a voice. It
// applies the same hysteresis as Endpointer, with a lower bound.
func nonVoice(threshold float32) float32 { return max(threshold-hysteresis, 0.05) }

// silentBelow is the probability below which the voice counts as stopped, unless the
// onset threshold is lower. A detector's output falls over a tenth of a second: a
// lower value detects the end later, a higher one splits words.
const silentBelow = 0.35

// For youngLasts after an onset that was suspected, the reset detectors are still
// unsure, so the voice counts as stopped only below silentBelowYoung.
const (
	silentBelowYoung = 0.15
	youngLasts       = 500 * audio.SampleRate / 1000 // captured samples
)

// phase is the marker's position within an utterance.
type phase uint8

const (
	quiet phase = iota
	voiced
	paused
)

// marker turns windows into marks. It is pure: no clock, audio or detector.
type marker struct {
	cfg      TrackerConfig
	hangover int64 // captured samples
	silence  int64 // captured samples, see Tracker.SetSilence
	faint    int64
	locate   locator

	phase phase
	count int   // windows that counted so far, outside an utterance
	begin int64 // start of the sound, according to the first of them
	still int64 // end of the first window without a voice, or -1
	until int64 // where the voice ended before that window
	last  int64 // Pos of the last mark
	own   int64 // end of the last window with a voice that was not in the background
	young int64 // position until which silentBelowYoung applies

	probe   int64 // end of the window that started a probe, or -1
	settled int64 // position from which sound counts during a probe
	probes  int   // consecutive probes that found no voice
}

func newMarker(cfg TrackerConfig, l locator) marker {
	silence := audio.Samples(cfg.Silence)
	return marker{cfg: cfg, hangover: audio.Samples(cfg.Hangover), silence: silence, faint: silence, locate: l, still: -1, probe: -1}
}

func (m *marker) reset() { *m = newMarker(m.cfg, m.locate) }

func (m *marker) speaking() bool { return m.phase != quiet }

// mark appends a mark and keeps positions monotonic.
func (m *marker) mark(marks []Mark, kind MarkKind, pos int64) []Mark {
	m.last = max(m.last, pos)
	return append(marks, Mark{Kind: kind, Pos: m.last})
}

// push processes the next window and appends the resulting marks. An utterance also ends when all
// voices in the last silence were in the background.
func (m *marker) push(marks []Mark, w window) []Mark {
	marks = m.follow(marks, w)
	switch {
	case w.p < silentBelow:
		return marks
	case !w.background:
		m.own = w.end
	}
	if m.phase == quiet || w.end-m.own < m.faint {
		return marks
	}
	if m.phase == voiced {
		m.until = m.own
		marks = m.pause(marks)
	}
	m.phase = quiet
	marks = m.mark(marks, Ended, w.end)
	marks[len(marks)-1].Faint = true
	return marks
}

// follow is push, whoever speaks.
func (m *marker) follow(marks []Mark, w window) []Mark {
	switch m.phase {
	case quiet:
		switch {
		case m.probe >= 0:
			marks = m.verify(marks, w)
		case w.suspicious && w.cut >= echoCut && !w.foreign && m.suspects():
			// Playback is held, so the reduction of a person's voice is about to drop.
		case w.elsewhere:
			m.count = 0
		case !m.counts(w):
		case w.audible && !w.suspicious && !w.foreign && (w.adapting || w.cut >= echoCut) && m.suspects():
			m.probe = w.end
			marks = m.mark(marks, Suspected, min(m.begin, w.end))
		default:
			marks = m.onset(marks, w)
		}
	case voiced:
		if w.p >= min(m.silentBelow(w), m.threshold(w)) {
			m.still = -1
			return marks
		}
		if m.still < 0 {
			m.still, m.until = w.end, min(m.locate.end(w), w.end)
		}
		if w.end-m.still >= m.hangover {
			marks = m.pause(marks)
		}
	case paused:
		if !w.elsewhere && m.counts(w) {
			marks = m.mark(marks, Resumed, min(m.begin, w.end))
			m.phase, m.still = voiced, -1
			return marks
		}
		marks = m.end(marks, w.end)
	}
	return marks
}

func (m *marker) onset(marks []Mark, w window) []Mark {
	m.phase, m.still = voiced, -1
	m.probe, m.probes = -1, 0
	m.young, m.own = w.end, w.end
	if w.suspicious {
		m.young += youngLasts
	}
	return m.mark(marks, Onset, min(m.begin, w.end))
}

// silentBelow returns the probability below which the voice counts as stopped in w.
func (m *marker) silentBelow(w window) float32 {
	if w.end < m.young {
		return silentBelowYoung
	}
	return silentBelow
}

// verify continues a probe: playback is held, and a voice that is still present once
// the assistant is inaudible is a person's.
func (m *marker) verify(marks []Mark, w window) []Mark {
	if w.audible {
		m.settled = w.end + probeSettles
		if !w.found {
			m.settled = w.end + probeSettlesLate
		}
	}
	began := m.begin
	there := (w.foreign || w.start >= m.settled) && m.counts(w)
	m.begin = began
	if there {
		return m.onset(marks, w)
	}
	if w.end < min(m.settled+probeLooks, m.probe+probeLasts) {
		return marks
	}
	m.probe, m.count = -1, 0
	m.probes++
	return m.mark(marks, Dismissed, w.end)
}

func (m *marker) probing() bool { return m.probe >= 0 }

// suspects reports whether suspicion is enabled.
func (m *marker) suspects() bool { return m.cfg.Suspicious.Threshold > 0 }

// pause marks that the voice stopped at m.until.
func (m *marker) pause(marks []Mark) []Mark {
	m.phase = paused
	marks = m.mark(marks, Paused, m.until)
	m.until = m.last
	return marks
}

// end marks the end of the utterance once the silence is long enough.
func (m *marker) end(marks []Mark, now int64) []Mark {
	if now-m.until < m.silence {
		return marks
	}
	m.phase = quiet
	return m.mark(marks, Ended, m.until+m.silence)
}

// rule returns the rule that applies to a window.
func (m *marker) rule(w window) Rule {
	switch {
	case !w.audible || w.foreign:
		return m.cfg.Silent
	case w.suspicious && m.suspects() && w.cut < personCut:
		return m.cfg.Suspicious
	case w.suspicious && m.suspects():
		return m.cfg.Silent
	case w.adapting && m.suspects() && m.probes < maxProbes:
	case w.adapting:
		least := max(firstThreshold, m.cfg.Audible.Threshold)
		return Rule{Threshold: least, Raised: least, Windows: max(firstWindows, m.cfg.Audible.Windows)}
	}
	return m.cfg.Audible
}

// threshold returns the probability at which a window counts.
func (m *marker) threshold(w window) float32 {
	if w.raised {
		return m.rule(w).Raised
	}
	return m.rule(w).Threshold
}

// counts reports whether w completes the number of windows that the rule requires. A
// window between nonVoice and the threshold neither counts nor resets the count.
func (m *marker) counts(w window) bool {
	threshold := m.threshold(w)
	if w.p < nonVoice(threshold) {
		m.count = 0
	}
	if w.p < threshold {
		return false
	}
	if m.count == 0 {
		m.begin = m.locate.begin(w)
	}
	m.count++
	if m.count < m.rule(w).Windows {
		return false
	}
	m.count = 0
	return true
}

// lost treats a gap in the captured audio as silence.
func (m *marker) lost(marks []Mark, from, to int64) []Mark {
	m.count, m.probe = 0, -1
	if m.phase == voiced {
		if m.still < 0 {
			m.still, m.until = from, from
		}
		if to-m.still >= m.hangover {
			marks = m.pause(marks)
		}
	}
	if m.phase == paused {
		marks = m.end(marks, to)
	}
	return marks
}
