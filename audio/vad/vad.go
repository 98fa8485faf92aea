// Package vad tells speech from everything else.
//
// A Detector gives the probability of speech of each window of 32 ms. An
// Endpointer, which is pure, turns these probabilities into the onset and the end
// of an utterance, with sample positions, in the way that the server_vad turn
// detection of the realtime protocol describes. The caller's loop:
//
//	for each window of WindowSamples samples {
//		p, err := detector.Process(window)
//		if edge, ok := endpointer.Push(p); ok { ... }
//	}
//
// Invariants: edges alternate, a start before each end; their positions never
// go back; the windows pushed are consecutive, so that the position of a
// window is its number times WindowSamples.
//
// # The Tracker
//
// A Tracker follows the voice of somebody who may interrupt: what counts is how
// soon a voice is noticed, and how soon it is noticed to be gone again. It takes
// captured frames with their positions. Up to four detectors take turns, so that
// a window ends every 8 ms instead of every 32, and two windows that count make a
// voice; a window that ends suddenly louder than the noise counts at a lower
// probability. While nothing is louder than the background, one detector works, and the
// others take over what it remembers with the first sound. Where the voice began and ended is found afterwards, by energy.
// While the assistant is audible, whose echo may be left in what is captured,
// stricter rules count. The caller's loop:
//
//	for each captured frame {
//		marks, err := tracker.Push(pos, &frame)
//		for _, m := range marks { ... } // m.Kind, m.Pos; m.Decided-m.Pos is how late
//	}
//
// with SetAudible from wherever it is known.
//
// # Suspicion
//
// An echo canceller leaves little of the assistant, and that is steady. So a sound
// that rises out of it is told within 50 ms of its onset, before any detector can
// say that it is a voice: Suspected. Who holds the assistant then, until Dismissed or
// an Onset, has it silent sooner, and gives the detectors the person alone to judge,
// at a lower threshold. While the canceller still learns where the echo is and what
// it is like, a level tells nothing: there, what sounds like a voice is suspected, and
// it is one when it is heard after the assistant fell silent, or at once when it proves
// to be no echo (SetForeign). So is, at any time, what
// the canceller takes most of: of a person it takes little. Where the echo is predicted
// (SetPredicted), a sound that is louder than the prediction is judged as in silence, from
// the first word on, and any other is the echo. The same background, of
// noise and of others who talk, is what a voice must be louder than to count. It is
// the caller's to hold:
//
//	case vad.Suspected: player.Hold(2 * vad.SuspicionLasts)
//	case vad.Dismissed: player.Hold(0)
//
// Invariants: the marks of an utterance
// are Onset, Paused, then Resumed and Paused any number of times, and Ended; their
// positions never go back, and are capture positions; between two frames nothing
// is allocated; audio that was lost counts as silence.
package vad

import "time"

// The audio that a Detector takes: mono, 16-bit, 16 kHz, in windows of 32 ms.
const (
	SampleRate    = 16000
	WindowSamples = 512
	WindowTime    = time.Second * WindowSamples / SampleRate
)

// Detector gives the probability of speech of consecutive windows of 512
// samples (32 ms) at 16 kHz. It is not safe for concurrent use.
type Detector interface {
	// Process takes the next window, of exactly WindowSamples samples, and
	// returns the probability, 0 to 1, that it holds speech. It keeps nothing
	// of window.
	Process(window []int16) (float32, error)
	// Reset forgets the past, for audio that does not continue the last.
	Reset()
	// Close releases the model. It is safe to call twice.
	Close() error
}

// Memory is what a detector knows of the audio that it heard.
type Memory struct {
	state   [256]float32
	context [contextSamples]float32
}

// Rememberer is a Detector whose memory another one of its kind can take over.
type Rememberer interface {
	Detector
	Remember(to *Memory)
	Recall(from *Memory)
}

// contextSamples of the last window precede each window. Without them version
// 6 of the Silero model answers 0 to everything.
const contextSamples = 64
