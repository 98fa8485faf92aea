package vad

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// TrackerConfig is how a Tracker listens. ProfileConfig has the usual ones.
type TrackerConfig struct {
	// Detectors is how many detectors take turns, 1, 2 or 4, so that a window
	// ends every 32, 16 or 8 ms. In silence only the first one works. Zero stands
	// for 4.
	Detectors int
	// Silent counts while nothing else is to be heard, and Audible while the
	// assistant is, whose echo may be left in what is captured.
	Silent, Audible Rule
	// Suspicious takes the place of Audible from Suspected to Dismissed. Nothing is
	// suspected where its Threshold is 0.
	Suspicious Rule
	// Hangover is how long windows without a voice come in until Paused is
	// marked. It bridges the closures inside words. Zero stands for 96 ms.
	Hangover time.Duration
	// Silence is how long the voice is gone when Ended is marked. It is not
	// shorter than Hangover. Zero stands for 700 ms.
	Silence time.Duration
}

// Rule says what a voice is.
type Rule struct {
	// Threshold is the probability, above 0 and at most 1, at which a window
	// counts.
	Threshold float32
	// Raised replaces Threshold for windows whose end is louder than the noise
	// by RaisedBy: a sudden sound and a somewhat sure detector make a voice
	// sooner than the detector alone. Zero stands for Threshold.
	Raised float32
	// Windows is how many windows must count, with none between them that
	// surely holds no voice. Zero stands for 1.
	Windows int
}

// RaisedBy is how much louder than the noise a window ends when Rule.Raised
// counts for it.
const RaisedBy = 10.0 // dB

// Profile names a TrackerConfig, as the setting of interruptions does.
type Profile string

// The profiles. Assertive hears a voice sooner, and mistakes more for one; Cautious
// the other way round, and suspects nothing; nor does Off, which is for an assistant
// that nothing interrupts.
const (
	ProfileDefault   Profile = "default"
	ProfileAssertive Profile = "assertive"
	ProfileCautious  Profile = "cautious"
	ProfileOff       Profile = "off"
)

// ProfileConfig is the configuration of a profile; of the default one for names
// that are none. BenchmarkOnset has the figures that chose them.
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

// complete fills in the defaults, and says what cannot be.
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
		return c, fmt.Errorf("a voice tracker cannot have %d detectors; use 1, 2 or 4", c.Detectors)
	}
	if c.Hangover < 0 || c.Silence < c.Hangover {
		return c, fmt.Errorf("a voice tracker cannot end after %v of silence with a hangover of %v; use a silence that is not shorter", c.Silence, c.Hangover)
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
			return c, fmt.Errorf("a voice tracker cannot use the thresholds %v and %v; use one above 0 and at most 1, and a raised one not above it", r.Threshold, r.Raised)
		}
	}
	return c, nil
}

// Tracker follows the voice in captured audio, as package doc says. All methods
// but SetAudible are for one goroutine.
type Tracker struct {
	detectors []Detector
	hop       int64 // samples at SampleRate between the ends of two windows
	resampler *audio.Resampler
	audible   atomic.Bool

	started bool
	base    int64 // capture position of the first sample since the last gap
	next    int64 // capture position of the next frame

	// pending are samples at SampleRate from number first since base on; the next
	// window is number window and begins at its hop. Windows before it stay for the
	// detectors that skipped them.
	pending []int16
	first   int64
	window  int64
	asked   [mostDetectors]int64 // the window after the last that each detector heard
	always  bool                 // no detector skips a window; for tests
	// memories are those of the first detector after its last windows, by their numbers.
	memories [recalled + 2]Memory

	slight     bool           // a window of this frame had slightVoice
	hint       bool           // the last window of the first detector had it
	wasAudible bool           // in the last window
	cut        float64        // long; see SetCut
	foreign    func() bool    // nil: never; see SetForeign
	elsewhere  func(int) bool // nil: never; see SetElsewhere
	levels     levels
	suspicion  suspicion
	marker     marker
	marks      []Mark // what Push returns
}

var errTrackerClosed = errors.New("voice tracker is closed; make a new one")

// mostDetectors is how many detectors a Tracker can have.
const mostDetectors = 4

// A detector that skipped windows takes over what the first one remembers, and hears
// the last recalled of them itself before the next one: its answer depends on what it
// heard before. With 8 the onsets of 24 recordings in a quiet room were decided at the
// same frame as without skipping; with 2, of 23.
const (
	recalled      = 8
	recallSamples = (recalled + 1) * WindowSamples
)

// captureRatio is how many captured samples one of a detector's is.
const captureRatio = audio.SampleRate / SampleRate

// NewTracker makes a Tracker with as many detectors of the factory as cfg says. It
// fails when cfg makes no sense or the factory fails, and then keeps nothing open.
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

// SetAudible says whether the assistant is to be heard, which makes Audible the
// rule. It may be called from any goroutine, and counts from the next window on.
func (t *Tracker) SetAudible(audible bool) { t.audible.Store(audible) }

// CancellerRestarted says that the echo canceller has to relearn the echo: what sounds
// like a voice over the assistant is doubted as it is at first, and a suspicion is
// dismissed. It is for the goroutine of Push.
func (t *Tracker) CancellerRestarted() { t.suspicion.restarted() }

// SetFound says whether the echo canceller knows where the echo is. Until then, and
// for 6 s at most, what sounds like a voice over the assistant is doubted as it is at
// first. It is for the goroutine of Push.
func (t *Tracker) SetFound(found bool) { t.suspicion.found = found }

// SetCut says how many dB the echo canceller took off the last 30 ms and off the last
// 120, 0 where there is none. Of many, a voice over the assistant is heard in silence
// before it counts. It is for the goroutine of Push.
func (t *Tracker) SetCut(short, long float64) { t.suspicion.cut, t.cut = short, long }

// SetPredicted says whether the assistant's echo is predicted, and whether a person, or
// something else in the room, is louder than the prediction. What is louder is judged as in
// silence, and the rest is the echo. It is for the goroutine of Push.
func (t *Tracker) SetPredicted(predicted, person bool) {
	t.suspicion.predicted, t.suspicion.person = predicted, person
}

// SetForeign sets what reports whether the sound that was captured last is not an echo of
// the assistant. Such a sound is judged as in silence, also over the assistant's first
// words. It is asked only about what may be a voice there. It is for before the first
// frame; nil, which counts as never, is the default.
func (t *Tracker) SetForeign(foreign func() bool) { t.foreign = foreign }

// SetElsewhere sets what reports whether the sound of the last frames, so many, may be
// an echo whose delay jumped, of which the canceller takes nothing. A suspicion does not
// become a voice meanwhile, and an utterance does not go on. It is for before the first frame; nil, which counts as never,
// is the default.
func (t *Tracker) SetElsewhere(elsewhere func(frames int) bool) { t.elsewhere = elsewhere }

// Reset forgets the past, for a capture that restarts: the next frame may have
// any position. It marks nothing: who resets knows that the voice is gone.
func (t *Tracker) Reset() {
	t.started = false
	t.marker.reset()
	t.levels, t.suspicion = levels{}, suspicion{}
	t.restart(0)
}

// restart starts over at a capture position, but keeps what the marker knows.
func (t *Tracker) restart(pos int64) {
	t.base, t.next = pos, pos
	t.pending, t.first, t.window = t.pending[:0], 0, 0
	t.resampler.Reset()
	t.levels.reset(pos)
	t.suspicion = suspicion{heard: t.suspicion.heard, found: t.suspicion.found, moved: t.suspicion.moved, works: t.suspicion.works, predicted: t.suspicion.predicted, person: t.suspicion.person, cut: t.suspicion.cut}
	t.forget()
}

// forget resets the detectors: what they heard no longer counts.
func (t *Tracker) forget() {
	t.hint = false
	for i, d := range t.detectors {
		d.Reset()
		t.asked[i] = t.window
	}
}

// Push takes the next captured frame, whose first sample has the position pos, and
// returns what it decided, in order. The slice is the Tracker's, until the next
// Push. Audio that was lost before pos counts as silence. It fails when pos is
// behind the last frame's end, and takes nothing of that frame then; and when a
// detector fails: that window counts as silence, and the next frame can be pushed.
// Push allocates nothing and does not keep f.
func (t *Tracker) Push(pos int64, f *audio.Frame) ([]Mark, error) {
	t.marks, t.slight = t.marks[:0], false
	switch {
	case len(t.detectors) == 0:
		return nil, errTrackerClosed
	case !t.started:
		t.started = true
		t.restart(pos)
		t.marker.last = pos
	case pos < t.next:
		return nil, fmt.Errorf("captured audio goes back from %d to %d; reset the voice tracker first", t.next, pos)
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
		faint := t.suspicion.faint(&t.levels, end)
		if t.skips(faint) {
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

// skips says whether no detector has to hear the next window. While nobody speaks, a
// faint window does not count as a voice, whatever a detector says, so that the first detector alone
// looks for one: what it hears decides what is kept for the service and for the ceiling.
func (t *Tracker) skips(faint bool) bool {
	return faint && !t.always && !t.hint && t.window%int64(len(t.detectors)) != 0 &&
		!t.levels.audible && !t.suspicion.open && !t.marker.probing() && !t.marker.speaking()
}

// ask has the detector whose turn it is hear the next window, after those that it
// skipped.
func (t *Tracker) ask() (p float32, err error) {
	n := int64(len(t.detectors))
	turn := t.window % n
	missed := (t.window - t.asked[turn]) / n
	if missed > recalled {
		missed = recalled
		before := t.window/n - missed - 1 // it ends before the first window that is recalled
		if m, ok := t.detectors[turn].(Rememberer); ok && n*before >= t.asked[turn] {
			m.Recall(t.memory(before))
		}
	}
	for w := t.window - n*missed; w <= t.window; w += n {
		from := w*t.hop - t.first
		if p, err = t.detectors[turn].Process(t.pending[from : from+WindowSamples]); err != nil {
			break
		}
	}
	t.asked[turn] = t.window + 1
	if turn == 0 {
		t.hint = p >= slightVoice
		if m, ok := t.detectors[0].(Rememberer); ok {
			m.Remember(t.memory(t.window / n))
		}
	}
	return p, err
}

// memory is that after a window of the first detector, one of its last.
func (t *Tracker) memory(n int64) *Memory { return &t.memories[n%int64(len(t.memories))] }

// trim drops the samples that no window needs any more.
func (t *Tracker) trim() {
	if len(t.pending)+2*WindowSamples <= cap(t.pending) {
		return
	}
	if used := t.window*t.hop + WindowSamples - recallSamples - t.first; used > 0 {
		t.pending = t.pending[:copy(t.pending, t.pending[used:])]
		t.first += used
	}
}

// suspect takes the next samples, and marks what becomes suspicious.
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
			t.forget() // or what the detectors heard of the echo would count
			t.marks = append(t.marks, Mark{Kind: Suspected, Pos: pos - (suspectLevels-1)*captureRatio*levelSamples})
		}
		if dismissed {
			t.marks = append(t.marks, Mark{Kind: Dismissed, Pos: pos})
		}
	}
}

// judge hands the next window to the marker.
func (t *Tracker) judge(p float32, faint bool) {
	t.slight = t.slight || p >= slightVoice
	was := t.wasAudible
	t.wasAudible = t.levels.audible
	start := t.base + captureRatio*t.window*t.hop
	end := start + captureRatio*WindowSamples
	if p >= maybeVoice {
		t.suspicion.maybe(&t.levels)
	}
	if faint {
		p = 0
	}
	w := window{
		start: start, end: end, p: p, raised: t.levels.raised(end), audible: t.levels.audible, suspicious: t.suspicion.open,
		first: t.suspicion.first(), found: t.suspicion.found,
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
		w.foreign = t.foreign != nil && p >= foreignVoice && (w.first || w.cut >= echoCut) && t.foreign()
	}
	t.marks = t.marker.push(t.marks, w)
	if t.marker.probing() && was && !w.audible {
		t.forget()
	}
	// What is said is no noise.
	t.levels.hold = t.marker.speaking()
}

// MaybeVoice says whether the frame that was pushed last may hold a voice, however
// faint, or belongs to an utterance.
func (t *Tracker) MaybeVoice() bool { return t.slight || t.suspicion.open || t.marker.speaking() }

// Speaking says whether an utterance is open: between Onset and Ended.
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
