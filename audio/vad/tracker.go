package vad

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/turns"
)

// TrackerConfig configures a Tracker. ProfileConfig returns the usual ones.
type TrackerConfig struct {
	// Detectors is the number of interleaved detectors: with 1, 2 or 4 a window ends
	// every 32, 16 or 8 ms. In a room's noise only the first one runs, and none while
	// the level stays at the noise floor. Zero means 4.
	Detectors int
	// Silent applies while the assistant is silent. Audible applies while it is
	// audible and residual echo may be left in the captured audio.
	Silent, Audible Rule
	// Suspicious replaces Audible between Suspected and Dismissed. A zero Threshold
	// disables suspicion.
	Suspicious Rule
	// Hangover is how long windows without a voice must last before Paused. It
	// bridges the closures inside words. Zero means 96 ms.
	Hangover time.Duration
	// Silence is how much silence precedes Ended, unless SetSilence says otherwise. It must not
	// be shorter than Hangover. Zero means 700 ms.
	Silence time.Duration
}

// Rule defines what counts as a voice.
type Rule struct {
	// Threshold is the probability, above 0 and at most 1, at which a window
	// counts.
	Threshold float32
	// Raised replaces Threshold for windows whose end exceeds the noise floor by
	// RaisedBy: a sudden sound plus a moderate probability confirm a voice sooner
	// than the detector alone. Zero means Threshold.
	Raised float32
	// Windows is how many windows must count, without a window that is clearly not
	// a voice between them. Zero means 1.
	Windows int
}

// RaisedBy is by how much the end of a window must exceed the noise floor for
// Rule.Raised to apply.
const RaisedBy = 10.0 // dB

// Profile names a TrackerConfig. The interruption setting uses the same names.
type Profile string

// The profiles. Assertive detects a voice sooner, with more false triggers. Cautious
// has fewer false triggers, detects later, and disables suspicion. Off disables
// suspicion too, for conversations without interruptions.
const (
	ProfileDefault   Profile = "default"
	ProfileAssertive Profile = "assertive"
	ProfileCautious  Profile = "cautious"
	ProfileOff       Profile = "off"
)

// ProfileConfig returns the configuration of a profile, and the default configuration
// for unknown names. BenchmarkOnset prints the figures behind the values.
func ProfileConfig(p Profile) TrackerConfig {
	switch p {
	case ProfileAssertive:
		return TrackerConfig{
			Silent:     Rule{Threshold: 0.4, Raised: 0.25, Windows: 2},
			Audible:    Rule{Threshold: 0.5, Windows: 3},
			Suspicious: Rule{Threshold: 0.25, Raised: 0.15, Windows: 1},
		}
	case ProfileCautious:
		return TrackerConfig{
			Silent:   Rule{Threshold: 0.6, Windows: 4},
			Audible:  Rule{Threshold: 0.7, Windows: 6},
			Hangover: 128 * time.Millisecond,
		}
	case ProfileOff:
		cfg := ProfileConfig(ProfileDefault)
		cfg.Suspicious = Rule{}
		return cfg
	case ProfileDefault:
	}
	return TrackerConfig{
		Silent:     Rule{Threshold: 0.5, Raised: 0.3, Windows: 2},
		Audible:    Rule{Threshold: 0.7, Windows: 5},
		Suspicious: Rule{Threshold: 0.3, Raised: 0.2, Windows: 1},
	}
}

// complete applies the defaults and validates the configuration.
func (c TrackerConfig) complete() (TrackerConfig, error) {
	if c.Detectors == 0 {
		c.Detectors = 4
	}
	if c.Hangover == 0 {
		c.Hangover = 96 * time.Millisecond
	}
	if c.Silence == 0 {
		c.Silence = 700 * time.Millisecond
	}
	if c.Detectors != 1 && c.Detectors != 2 && c.Detectors != 4 {
		return c, fmt.Errorf("voice tracker: invalid number of detectors %d; use 1, 2 or 4", c.Detectors)
	}
	if c.Hangover < 0 || c.Silence < c.Hangover {
		return c, fmt.Errorf("voice tracker: silence of %v is shorter than the hangover of %v; use a longer silence", c.Silence, c.Hangover)
	}
	for _, r := range []*Rule{&c.Silent, &c.Audible, &c.Suspicious} {
		if r == &c.Suspicious && *r == (Rule{}) {
			continue
		}
		if r.Raised == 0 {
			r.Raised = r.Threshold
		}
		r.Windows = max(r.Windows, 1)
		if r.Threshold <= 0 || r.Threshold > 1 || r.Raised < 0 || r.Raised > r.Threshold {
			return c, fmt.Errorf("voice tracker: invalid thresholds %v and %v (raised); use 0 < threshold <= 1 and raised <= threshold", r.Threshold, r.Raised)
		}
	}
	return c, nil
}

// Tracker follows the voice in captured audio; see the package doc. Only SetAudible is
// safe for concurrent use.
type Tracker struct {
	detectors []Detector
	hop       int64 // samples at SampleRate between the ends of consecutive windows
	resampler *audio.Resampler
	audible   atomic.Bool

	started bool
	base    int64 // capture position of the first sample since the last gap
	next    int64 // capture position of the next frame

	// pending holds samples at SampleRate, starting with sample number first since
	// base. The next window is number window and starts at window*hop. Earlier
	// windows are kept for the detectors that skipped them.
	pending []int16
	first   int64
	window  int64
	asked   [maxDetectors]int64 // the window after the last one that each detector processed
	always  bool                // no detector skips a window; for tests
	// memories holds the state of the first detector after its last windows, by window number.
	memories [recalled + 2]memory

	slight     bool           // a window of this frame reached slightVoice
	begins     bool           // and one counts towards the user's voice
	hint       bool           // the last window of the first detector reached slightVoice
	wasAudible bool           // in the last window
	cut        float64        // long; see SetEchoReduction
	foreign    func() bool    // nil: never; see SetForeign
	elsewhere  func(int) bool // nil: never; see SetEchoMayHaveMoved
	levels     levels
	loudness   turns.Loudness
	suspicion  suspicion
	marker     marker
	marks      []Mark // returned by Push
}

var errTrackerClosed = errors.New("voice tracker is closed; create a new one")

// maxDetectors is the maximum number of detectors.
const maxDetectors = 4

// memory is a state of the first detector.
type memory struct {
	Memory
	asked int64 // the window after the last one in the state, which can be older than its number
}

// A detector that skipped windows takes over the first detector's state and processes
// the last recalled windows itself before the next one, because its output depends on
// history. The first detector continues from its own state. After four seconds of a quiet
// room, 64 of 207 recordings had their onset in the same frame as without skipping, 131
// sooner and 12 later; on average it was 21 ms sooner. More recalled windows change little.
const (
	recalled      = 8
	recallSamples = (recalled + 1) * WindowSamples
)

// captureRatio is captured samples per detector sample.
const captureRatio = audio.SampleRate / SampleRate

// NewTracker returns a Tracker with cfg.Detectors detectors from the factory. It
// fails if cfg is invalid or the factory fails, and then closes what it opened.
func NewTracker(detector func() (Detector, error), cfg TrackerConfig) (*Tracker, error) {
	cfg, err := cfg.complete()
	if err != nil {
		return nil, err
	}
	resampler, err := audio.NewResampler(audio.SampleRate, SampleRate)
	if err != nil {
		return nil, err
	}
	t := &Tracker{
		resampler: resampler,
		hop:       WindowSamples / int64(cfg.Detectors),
		pending:   make([]int16, 0, 2*recallSamples),
		marks:     make([]Mark, 0, 8),
	}
	t.marker = newMarker(cfg, &t.levels)
	for range cfg.Detectors {
		d, err := detector()
		if err != nil {
			return nil, errors.Join(err, t.Close())
		}
		t.detectors = append(t.detectors, d)
	}
	t.Reset()
	return t, nil
}

// SetAudible sets whether the assistant is audible, which selects the Audible rule. It
// takes effect with the next window and is safe for concurrent use.
func (t *Tracker) SetAudible(audible bool) { t.audible.Store(audible) }

// SetSilence sets how much silence ends the utterance, and for how long all voices must have been in
// the background to end it. It holds until the next Reset. Call it from Push's goroutine.
func (t *Tracker) SetSilence(silence, faint time.Duration) {
	t.marker.silence, t.marker.faint = audio.Samples(silence), audio.Samples(faint)
}

// CancellerRestarted resets the trust in the echo canceller, which relearns the echo
// path: voices over the assistant are verified as at the start, and a suspicion is
// dismissed. Call it from Push's goroutine.
func (t *Tracker) CancellerRestarted() { t.suspicion.cancellerRestarted() }

// SetFound sets whether the echo canceller has found the echo's delay. Until then,
// for at most 6 s, voices over the assistant are verified as at the start. Call it
// from Push's goroutine.
func (t *Tracker) SetFound(found bool) { t.suspicion.found = found }

// SetEchoReduction sets how many dB the echo canceller removed from the last 30 ms and from the
// last 120 ms, 0 without a canceller. A voice over the assistant with a high
// reduction is verified in silence before it counts. Call it from Push's goroutine.
func (t *Tracker) SetEchoReduction(short, long float64) { t.suspicion.cut, t.cut = short, long }

// SetPredicted sets whether the echo is predicted, and whether the captured sound
// exceeds the prediction. Sound that exceeds it is judged by the Silent rule;
// everything else is echo. Call it from Push's goroutine.
func (t *Tracker) SetPredicted(predicted, person bool) {
	t.suspicion.predicted, t.suspicion.person = predicted, person
}

// SetForeign sets a function that reports whether the last captured sound is not an
// echo of the assistant. Such a sound is judged by the Silent rule even during the
// assistant's first words. It is called only for possible voices during those. Set it
// before the first frame; nil (the default) means never.
func (t *Tracker) SetForeign(foreign func() bool) { t.foreign = foreign }

// SetEchoMayHaveMoved sets a function that reports whether the last frames may contain an
// echo whose delay has jumped, so that the canceller does not reduce it. Meanwhile a
// suspicion does not become an onset, and a paused utterance does not resume. Set it
// before the first frame; nil (the default) means never.
func (t *Tracker) SetEchoMayHaveMoved(elsewhere func(frames int) bool) { t.elsewhere = elsewhere }

// Reset discards all state for a restarted capture: the next frame may have any
// position. It returns no marks, because the caller knows that the utterance is over.
func (t *Tracker) Reset() {
	t.started = false
	t.marker.reset()
	t.levels, t.loudness, t.suspicion = levels{}, turns.Loudness{}, suspicion{}
	t.restart(0)
}

// restart starts at a new capture position and keeps the marker's state.
func (t *Tracker) restart(pos int64) {
	t.base, t.next = pos, pos
	t.pending, t.first, t.window = t.pending[:0], 0, 0
	t.resampler.Reset()
	t.levels.reset(pos)
	t.suspicion = suspicion{heard: t.suspicion.heard, found: t.suspicion.found, moved: t.suspicion.moved, works: t.suspicion.works, predicted: t.suspicion.predicted, person: t.suspicion.person, cut: t.suspicion.cut}
	t.resetDetectors()
}

// resetDetectors discards the history of the detectors.
func (t *Tracker) resetDetectors() {
	t.hint = false
	for i, d := range t.detectors {
		d.Reset()
		t.asked[i] = t.window
	}
}

// Push processes the next captured frame, whose first sample has position pos, and
// returns the marks that it decided, in order. The slice is valid until the next
// Push. Lost audio before pos counts as silence. Push fails if pos precedes the end
// of the last frame, and then ignores the frame. If a detector fails, its window
// counts as silence and the next frame can be pushed. Push does not allocate and does
// not retain f.
func (t *Tracker) Push(pos int64, f *audio.Frame) ([]Mark, error) {
	t.marks, t.slight, t.begins = t.marks[:0], false, false
	switch {
	case len(t.detectors) == 0:
		return nil, errTrackerClosed
	case !t.started:
		t.started = true
		t.restart(pos)
		t.marker.last = pos
	case pos < t.next:
		return nil, fmt.Errorf("captured audio jumps back from %d to %d; reset the voice tracker first", t.next, pos)
	case pos > t.next:
		t.marks = t.marker.lost(t.marks, t.next, pos)
		t.restart(pos)
	}
	t.next = pos + int64(len(f))
	before := len(t.pending)
	t.pending = t.resampler.Process(t.pending, f[:])
	t.suspect(t.pending[before:])
	var failed error
	for ; t.first+int64(len(t.pending)) >= t.window*t.hop+WindowSamples; t.window++ {
		end := t.base + captureRatio*(t.window*t.hop+WindowSamples)
		faint := t.suspicion.belowBackground(&t.levels, end)
		if faint && t.skips(end) {
			t.judge(0, faint)
			continue
		}
		p, err := t.ask()
		if err != nil {
			p, failed = 0, err
		}
		t.judge(p, faint)
	}
	t.trim()
	for i := range t.marks {
		t.marks[i].Decided = t.next
	}
	return t.marks, failed
}

// skips reports whether no detector needs to process the next window, which is below the
// background and ends at a capture position. Outside an utterance it never counts as a
// voice, so only the first detector runs; its output decides what is kept for the service
// and for the ceiling. At the noise floor there is nothing to decide.
func (t *Tracker) skips(end int64) bool {
	if t.always || t.hint || t.levels.audible || t.suspicion.open || t.marker.probing() || t.marker.speaking() {
		return false
	}
	return t.window%int64(len(t.detectors)) != 0 || t.levels.atNoise(end)
}

// ask runs the next detector in turn on the next window, after the windows that it
// skipped.
func (t *Tracker) ask() (p float32, err error) {
	n := int64(len(t.detectors))
	turn, number := t.window%n, t.window/n
	missed := (t.window - t.asked[turn]) / n
	detector, remembers := t.detectors[turn].(Rememberer)
	if missed > recalled {
		missed = recalled
		// The first detector may have skipped the windows before the recalled ones, too.
		before := min(number-missed, (t.asked[0]+n-1)/n) - 1
		if m := t.memory(before); remembers && turn > 0 && m.asked > t.asked[turn] {
			detector.Recall(&m.Memory)
		}
	}
	remember := func(w int64) {
		m := t.memory(w)
		m.asked = t.asked[0]
		detector.Remember(&m.Memory)
	}
	for w := number - missed; w <= number; w++ {
		if remembers && turn == 0 {
			remember(w - 1)
		}
		from := (n*w+turn)*t.hop - t.first
		if p, err = t.detectors[turn].Process(t.pending[from : from+WindowSamples]); err != nil {
			break
		}
		t.asked[turn] = n*w + turn + 1
	}
	t.asked[turn] = t.window + 1
	if turn == 0 {
		t.hint = p >= slightVoice
		if remembers {
			remember(number)
		}
	}
	return p, err
}

// memory returns the first detector's state after its window n, one of the most recent.
func (t *Tracker) memory(n int64) *memory {
	kept := int64(len(t.memories))
	return &t.memories[(n+kept)%kept]
}

// trim drops the samples that no later window needs.
func (t *Tracker) trim() {
	if len(t.pending)+2*WindowSamples <= cap(t.pending) {
		return
	}
	if used := t.window*t.hop + WindowSamples - recallSamples - t.first; used > 0 {
		t.pending = t.pending[:copy(t.pending, t.pending[used:])]
		t.first += used
	}
}

// suspect processes the next samples and marks the start and end of a suspicion.
func (t *Tracker) suspect(pcm []int16) {
	t.levels.setAudible(t.audible.Load())
	n := t.levels.count
	t.levels.push(pcm)
	for ; n < t.levels.count; n++ {
		suspected, dismissed := t.suspicion.push(&t.levels, n, t.marker.phase, t.marker.probing())
		if t.marker.cfg.Suspicious.Threshold == 0 {
			continue
		}
		pos := t.levels.base + n*captureRatio*levelSamples
		if suspected {
			t.resetDetectors() // the echo in their history must not count
			t.marks = append(t.marks, Mark{Kind: Suspected, Pos: pos - (suspectLevels-1)*captureRatio*levelSamples})
		}
		if dismissed {
			t.marks = append(t.marks, Mark{Kind: Dismissed, Pos: pos})
		}
	}
}

// wordEnds is for how long the end of the user's last word may be as quiet as a voice in the background,
// in captured samples.
const wordEnds = audio.SampleRate / 5

// judge passes the next window to the marker.
func (t *Tracker) judge(p float32, faint bool) {
	t.slight = t.slight || p >= slightVoice
	was := t.wasAudible
	t.wasAudible = t.levels.audible
	start := t.base + captureRatio*t.window*t.hop
	end := start + captureRatio*WindowSamples
	if p >= maybeVoice {
		t.suspicion.markPossibleVoice(&t.levels)
	}
	background, surely := t.inBackground(p, end)
	if faint || background && (!t.marker.speaking() || surely && end-t.marker.own > wordEnds) {
		p = 0
	}
	w := window{
		start: start, end: end, p: p, raised: t.levels.raised(end), audible: t.levels.audible, suspicious: t.suspicion.open,
		adapting: t.suspicion.adapting(), found: t.suspicion.found, background: background,
	}
	switch {
	case w.audible && t.suspicion.predicted:
		w.foreign = !w.suspicious
		if !t.suspicion.person {
			w.p = 0
		}
	case w.audible:
		w.cut = t.cut
		w.elsewhere = t.elsewhere != nil && (w.suspicious || t.marker.phase == paused) && p >= maybeVoice && t.elsewhere(t.suspicion.frames(&t.levels))
		w.foreign = t.foreign != nil && p >= foreignVoice && (w.adapting || w.cut >= echoCut) && t.foreign()
	}
	counted := t.marker.count
	t.marks = t.marker.push(t.marks, w)
	t.begins = t.begins || t.marker.count > counted
	if t.marker.probing() && was && !w.audible {
		t.resetDetectors()
	}
	// Speech must not raise the noise floor.
	t.levels.hold = t.marker.speaking()
}

// inBackground reports whether a voice in the next window, which ends at a capture position, is
// far below the user's, and whether it is so far below that it cannot be the user's. While the assistant
// is audible that is not known, because the canceller attenuates the user too.
func (t *Tracker) inBackground(p float32, end int64) (background, surely bool) {
	level := t.levels.window(end)
	if t.window%int64(len(t.detectors)) == 0 && !t.levels.audible {
		t.loudness.Hear(level, p >= silentBelow, t.marker.speaking())
	}
	if t.levels.audible || t.loudness.Counts(level) {
		return false, false
	}
	return true, !t.loudness.Faint(level)
}

// Beginning reports whether the last frame may contain the beginning of the user's voice, or is part of
// an utterance. A talker in the background does not count.
func (t *Tracker) Beginning() bool {
	return t.begins || t.marker.speaking() || t.marker.probing()
}

// MaybeVoice reports whether the last frame may contain a voice, even a weak one, or is
// part of an utterance.
func (t *Tracker) MaybeVoice() bool { return t.slight || t.suspicion.open || t.marker.speaking() }

// Speaking reports whether an utterance is open, from Onset to Ended.
func (t *Tracker) Speaking() bool { return t.marker.speaking() }

// Close closes the detectors. It is safe to call twice.
func (t *Tracker) Close() error {
	var errs []error
	for _, d := range t.detectors {
		errs = append(errs, d.Close())
	}
	t.detectors = nil
	return errors.Join(errs...)
}
