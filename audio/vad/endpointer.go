package vad

import "time"

// EdgeKind says which end of an utterance an Edge is.
type EdgeKind uint8

// The two edges of an utterance.
const (
	SpeechStart EdgeKind = iota + 1
	SpeechEnd
)

// Edge is the start or the end of an utterance. Positions count samples at SampleRate
// since the Endpointer was created.
type Edge struct {
	Kind EdgeKind
	// Pos is where the utterance's audio starts or ends: a start includes the prefix
	// padding (audio_start_ms), an end includes the silence that ended the utterance
	// (audio_end_ms).
	Pos int64
	// Speech is where the voice itself started or ended, without padding or silence.
	Speech int64
}

// EndpointerConfig holds the parameters of server_vad.
type EndpointerConfig struct {
	// Threshold is the probability (0 to 1) at which speech starts. Speech ends below
	// Threshold-0.15. Zero means 0.5.
	Threshold float32
	// PrefixPadding is how much audio before the onset is part of the utterance.
	PrefixPadding time.Duration
	// Silence is how much silence ends the utterance.
	Silence time.Duration
	// MinSpeech is how much speech it takes to start an utterance, so that a click
	// does not. With zero, one window is enough.
	MinSpeech time.Duration
}

// hysteresis is how far below the threshold speech ends, as in Silero's own iterator.
// Without it a voice near the threshold is split into pieces.
const hysteresis = 0.15

// Endpointer finds the edges of utterances from the speech probabilities of consecutive
// windows. It has no clock and holds no audio.
type Endpointer struct {
	enter, exit                 float32
	padding, silence, minSpeech int64 // samples

	pos      int64 // end of the last window
	previous int64 // Pos of the last end: padding does not extend past it
	speaking bool
	onset    int64 // start of the candidate's first window, or -1
	voiced   int64 // samples of the candidate at or above enter
	quiet    int64 // start of the silence, or -1
	voicedTo int64 // end of the last window of the utterance at or above exit
}

// NewEndpointer returns an Endpointer at position 0. Negative durations count as zero.
func NewEndpointer(cfg EndpointerConfig) *Endpointer {
	if cfg.Threshold == 0 {
		cfg.Threshold = 0.5
	}
	return &Endpointer{
		enter: cfg.Threshold,
		// Silero's floor: speech must end with thresholds below 0.15 too.
		exit:      max(cfg.Threshold-hysteresis, 0.01),
		padding:   samples(cfg.PrefixPadding),
		silence:   samples(cfg.Silence),
		minSpeech: samples(cfg.MinSpeech),
		onset:     -1,
		quiet:     -1,
	}
}

// Push processes the probability of the next window. It returns an edge and true if
// this window completed one. Speech ends with the first window that completes the
// configured silence.
func (e *Endpointer) Push(p float32) (Edge, bool) {
	start := e.pos
	e.pos += WindowSamples
	if e.speaking {
		return e.pushSpeaking(start, p)
	}
	return e.pushQuiet(start, p)
}

// PushFaint is Push for a window whose voice is probably not the user's. The utterance also ends
// when all voices for that long were such ones.
func (e *Endpointer) PushFaint(p float32, silence time.Duration) (Edge, bool) {
	voiced := e.voicedTo
	edge, ok := e.Push(p)
	e.voicedTo = voiced
	if ok || !e.speaking || e.pos-voiced < samples(silence) {
		return edge, ok
	}
	return e.end(voiced), true
}

// Voiced returns the end of the last window with a voice that was not faint.
func (e *Endpointer) Voiced() int64 { return e.voicedTo }

// SetSilence changes how much silence ends the utterance, from the next window on.
func (e *Endpointer) SetSilence(d time.Duration) { e.silence = samples(d) }

// Quiet returns the start of the current silence within an utterance. ok is false while
// the user speaks, and outside an utterance.
func (e *Endpointer) Quiet() (since int64, ok bool) { return e.quiet, e.speaking && e.quiet >= 0 }

// Speaking reports whether an utterance is open.
func (e *Endpointer) Speaking() bool { return e.speaking }

// MayBeVoice reports whether a probability is too high for silence.
func (e *Endpointer) MayBeVoice(p float32) bool { return p >= e.exit }

// pushQuiet waits for minSpeech of speech. A window between the two thresholds neither
// counts nor resets the candidate; one below both resets it.
func (e *Endpointer) pushQuiet(start int64, p float32) (Edge, bool) {
	if p < e.exit {
		e.onset, e.voiced = -1, 0
		return Edge{}, false
	}
	if p < e.enter {
		return Edge{}, false
	}
	if e.onset < 0 {
		e.onset = start
	}
	e.voiced += WindowSamples
	if e.voiced < e.minSpeech {
		return Edge{}, false
	}
	e.speaking = true
	edge := Edge{Kind: SpeechStart, Pos: max(e.onset-e.padding, e.previous), Speech: e.onset}
	e.onset, e.voiced, e.voicedTo = -1, 0, e.pos
	return edge, true
}

// pushSpeaking waits for silence. A window between the thresholds neither starts nor
// ends a silence.
func (e *Endpointer) pushSpeaking(start int64, p float32) (Edge, bool) {
	if p >= e.exit {
		e.voicedTo = e.pos
	}
	if p >= e.enter {
		e.quiet = -1
		return Edge{}, false
	}
	if p < e.exit && e.quiet < 0 {
		e.quiet = start
	}
	if e.quiet < 0 || e.pos-e.quiet < e.silence {
		return Edge{}, false
	}
	return e.end(e.quiet), true
}

// end ends the utterance, whose voice ended at a position.
func (e *Endpointer) end(speech int64) Edge {
	e.speaking, e.quiet, e.previous = false, -1, e.pos
	return Edge{Kind: SpeechEnd, Pos: e.pos, Speech: speech}
}

// samples rounds up, so that a configured duration is never shortened.
func samples(d time.Duration) int64 {
	return (int64(max(d, 0))*SampleRate + int64(time.Second) - 1) / int64(time.Second)
}
