package vad

import (
	"fmt"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// MarkKind says what a Mark is.
type MarkKind uint8

// The marks. Each Onset is followed by its Ended, and between the two Paused and
// Resumed alternate, beginning with Paused; Ended follows a Paused. Each Suspected is
// followed by an Onset or by Dismissed, unless the audio is lost or the Tracker reset
// before; it comes while nobody speaks and the assistant is audible. SuspicionLasts
// says how long that takes.
const (
	Onset     MarkKind = iota + 1 // a voice began
	Paused                        // the voice is gone, for the time being
	Resumed                       // it is there again, in the same utterance
	Ended                         // it was gone for the configured silence
	Suspected                     // a sound that is not an echo: a voice, maybe
	Dismissed                     // it was none
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

// Mark is a change that a Tracker noticed. Positions are captured samples, at
// audio.SampleRate.
type Mark struct {
	Kind MarkKind
	// Pos is where it happened, as well as can be told afterwards: where the
	// voice began or ended. For Ended it is where the silence was long enough.
	Pos int64
	// Decided is the end of the frame that told it: Decided-Pos is how late.
	Decided int64
}

// window is what a detector says of 32 ms, in captured samples.
type window struct {
	start, end int64
	p          float32
	cut        float64 // dB that the canceller took while the assistant is audible
	raised     bool    // it ends louder than the noise
	audible    bool    // the assistant is to be heard
	suspicious bool    // what is heard is not an echo
	first      bool    // the assistant was hardly heard yet
	foreign    bool    // what is heard is not an echo of the assistant: it was compared
	elsewhere  bool    // what is heard may be an echo whose delay jumped
	found      bool    // the canceller knows where the echo is
}

// locator finds where a sound began or ended; package levels does it by energy.
// What it answers need not be in order: the marker sees to that.
type locator interface {
	// begin is where the sound in a window began, or its start.
	begin(w window) int64
	// end is where the sound ended of which a window was the first without.
	end(w window) int64
}

// surely is how far below the threshold a window surely holds no voice. It is the
// hysteresis of Endpointer, bounded below likewise.
func surely(threshold float32) float32 { return max(threshold-hysteresis, 0.05) }

// gone is the probability below which a voice is gone; below the threshold that
// made it come, where that is lower. A detector's answer falls over a tenth of a
// second: lower values wait for its end, and higher ones tear words apart.
const gone = 0.35

// An utterance that was suspected is young for youngLasts: the detectors restarted
// with it, and are not sure of it for as long. The voice is gone below goneYoung.
const (
	goneYoung  = 0.15
	youngLasts = 500 * audio.SampleRate / 1000 // captured samples
)

// phase is where in an utterance the marker is.
type phase uint8

const (
	quiet phase = iota
	voiced
	paused
)

// marker makes marks of windows. It is pure: no clock, no audio, no detector.
type marker struct {
	cfg               TrackerConfig
	hangover, silence int64 // captured samples
	locate            locator

	phase phase
	count int   // windows that counted, while waiting for a voice
	begin int64 // where the first of them says that the sound began
	still int64 // end of the first window without a voice, -1 for none
	until int64 // where the voice ended before it
	last  int64 // Pos of the last mark
	young int64 // until when the utterance is

	probe   int64 // end of the window that began a probe, -1 for none
	settled int64 // from when on what is heard in a probe counts
	probes  int   // in a row that came to nothing
}

func newMarker(cfg TrackerConfig, l locator) marker {
	return marker{cfg: cfg, hangover: audio.Samples(cfg.Hangover), silence: audio.Samples(cfg.Silence), locate: l, still: -1, probe: -1}
}

func (m *marker) reset() {
	*m = marker{cfg: m.cfg, hangover: m.hangover, silence: m.silence, locate: m.locate, still: -1, probe: -1}
}

func (m *marker) speaking() bool { return m.phase != quiet }

// mark appends a mark; positions do not go back.
func (m *marker) mark(marks []Mark, kind MarkKind, pos int64) []Mark {
	m.last = max(m.last, pos)
	return append(marks, Mark{Kind: kind, Pos: m.last})
}

// push takes the next window and appends what it decides.
func (m *marker) push(marks []Mark, w window) []Mark {
	switch m.phase {
	case quiet:
		switch {
		case m.probe >= 0:
			marks = m.verify(marks, w)
		case w.suspicious && w.cut >= echoCut && !w.foreign && m.suspects(): // it is held, and less will be taken of a person soon
			m.count = 0
		case w.elsewhere:
			m.count = 0
		case !m.counts(w):
		case w.audible && !w.suspicious && !w.foreign && (w.first || w.cut >= echoCut) && m.suspects():
			m.probe = w.end
			marks = m.mark(marks, Suspected, min(m.begin, w.end))
		default:
			marks = m.onset(marks, w)
		}
	case voiced:
		if w.p >= min(m.gone(w), m.threshold(w)) {
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
	m.young = w.end
	if w.suspicious {
		m.young += youngLasts
	}
	return m.mark(marks, Onset, min(m.begin, w.end))
}

// gone is below which probability the voice is gone with a window.
func (m *marker) gone(w window) float32 {
	if w.end < m.young {
		return goneYoung
	}
	return gone
}

// verify continues with a probe: the assistant is held, and a voice that is there when
// nothing of it is audible any more is a person's.
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

// suspects says whether a sound may be suspicious.
func (m *marker) suspects() bool { return m.cfg.Suspicious.Threshold > 0 }

// pause marks that the voice is gone since m.until.
func (m *marker) pause(marks []Mark) []Mark {
	m.phase = paused
	marks = m.mark(marks, Paused, m.until)
	m.until = m.last
	return marks
}

// end marks the end when the voice is gone for long enough.
func (m *marker) end(marks []Mark, now int64) []Mark {
	if now-m.until < m.silence {
		return marks
	}
	m.phase = quiet
	return m.mark(marks, Ended, m.until+m.silence)
}

// rule is what counts for a window.
func (m *marker) rule(w window) Rule {
	switch {
	case !w.audible || w.foreign:
		return m.cfg.Silent
	case w.suspicious && m.suspects() && w.cut < personCut:
		return m.cfg.Suspicious
	case w.suspicious && m.suspects():
		return m.cfg.Silent
	case w.first && m.suspects() && m.probes < mostProbes:
	case w.first:
		least := max(firstThreshold, m.cfg.Audible.Threshold)
		return Rule{Threshold: least, Raised: least, Windows: max(firstWindows, m.cfg.Audible.Windows)}
	}
	return m.cfg.Audible
}

// threshold is the probability at which a window counts.
func (m *marker) threshold(w window) float32 {
	if w.raised {
		return m.rule(w).Raised
	}
	return m.rule(w).Threshold
}

// counts says whether the window completes what the rule asks for. A dip between
// the threshold and what surely is no voice neither counts nor breaks.
func (m *marker) counts(w window) bool {
	threshold := m.threshold(w)
	if w.p < surely(threshold) {
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

// lost takes a stretch of captured audio that never came for silence.
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
