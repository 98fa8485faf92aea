// Package vad detects speech.
//
// A Detector returns the probability of speech for each window of 32 ms. An
// Endpointer, which is pure, turns these probabilities into the start and end of
// utterances, with sample positions, as described for server_vad turn detection in
// the realtime protocol. The caller's loop:
//
//	for each window of WindowSamples samples {
//		p, err := detector.Process(window)
//		if edge, ok := endpointer.Push(p); ok { ... }
//	}
//
// Invariants: edges alternate, starting with a start; positions never go back; the
// pushed windows are consecutive, so a window's position is its number times
// WindowSamples.
//
// # The Tracker
//
// A Tracker follows a voice that may interrupt the assistant. It minimizes the delay
// of both onset and end. It takes captured frames with their positions. Up to four
// interleaved detectors make a window end every 8 ms instead of every 32, and two
// windows that count confirm a voice; a window that ends suddenly louder than the
// noise floor counts at a lower probability. While nothing exceeds the background
// only one detector runs; the others copy its state at the first sound. The Tracker
// then locates the start and end of the voice by energy. While the assistant is
// audible, stricter rules apply, because residual echo may be left in the captured
// audio. The caller's loop:
//
//	for each captured frame {
//		marks, err := tracker.Push(pos, &frame)
//		for _, m := range marks { ... } // m.Kind, m.Pos; m.Decided-m.Pos is how late
//	}
//
// SetAudible may be called from any goroutine.
//
// # Suspicion
//
// An echo canceller leaves little of the assistant, and the residual is steady. A sound
// that rises above it is reported as Suspected within 50 ms of its onset, before any
// detector can confirm a voice. A caller that holds playback until Dismissed or Onset
// falls silent sooner, and lets the detectors judge the person alone, at a lower
// threshold.
//
// While the canceller is still learning the echo path, levels prove nothing. A
// possible voice is then suspected, and confirmed if it is still present after
// playback fell silent, or at once if it is shown not to be an echo (SetForeign). At
// any time, a sound that the canceller reduces strongly is treated the same way,
// because it removes little of a person's voice. Where the echo is predicted
// (SetPredicted), sound above the prediction is judged as in silence from the first
// word, and any other sound is echo.
//
// A voice counts only if it exceeds the background, which includes noise and other
// people talking. Somebody far below the user's own voice does not keep an utterance
// open (turns.Loudness). The caller holds playback:
//
//	case vad.Suspected: player.Hold(2 * vad.SuspicionLasts)
//	case vad.Dismissed: player.Hold(0)
//
// Invariants: the marks of an utterance are Onset, Paused, then any number of Resumed
// and Paused, and Ended; their positions are capture positions and never go back;
// Push does not allocate; lost audio counts as silence.
package vad

import "time"

// The input of a Detector: mono, 16-bit, 16 kHz, in windows of 32 ms.
const (
	SampleRate    = 16000
	WindowSamples = 512
	WindowTime    = time.Second * WindowSamples / SampleRate
)

// Detector returns the probability of speech of consecutive windows of 512 samples
// (32 ms) at 16 kHz. It is not safe for concurrent use.
type Detector interface {
	// Process returns the probability (0 to 1) that the next window contains speech.
	// window has exactly WindowSamples samples and is not retained.
	Process(window []int16) (float32, error)
	// Reset discards the history, for audio that does not continue the last window.
	Reset()
	// Close releases the model. It is safe to call twice.
	Close() error
}

// Memory is a detector's state after the audio it has processed.
type Memory struct {
	known   bool // it holds a state
	state   [256]float32
	context [contextSamples]float32
}

// Rememberer is a Detector whose state can be copied to another of its kind.
type Rememberer interface {
	Detector
	Remember(to *Memory)
	Recall(from *Memory)
}

// Remember stores the state of a detector, or none if it is not a Rememberer.
func Remember(d Detector, to *Memory) {
	if r, ok := d.(Rememberer); ok {
		r.Remember(to)
		return
	}
	to.known = false
}

// Recall restores a state that Remember stored. It does nothing if there is none, or if the
// detector is not a Rememberer.
func Recall(d Detector, from *Memory) {
	if r, ok := d.(Rememberer); ok && from.known {
		r.Recall(from)
	}
}

// The last contextSamples of the previous window precede each window. Without them
// version 6 of the Silero model returns 0 for everything.
const contextSamples = 64
