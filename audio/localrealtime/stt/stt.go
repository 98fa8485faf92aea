// Package stt turns speech into words on this machine.
//
// The model is one engine per stream of utterances. Its owner is one
// goroutine, because a chunk can take the engine more than 100 ms, which no
// media path can wait for:
//
//	r, err := factory()
//	defer r.Close()
//	for each utterance {
//		r.Start()
//		for each chunk { r.Write(chunk); show(r.Partial()) }
//		result, err := r.Finish()
//	}
//
// Invariants: a Recognizer is used by one goroutine at a time; what is heard
// leaves it only as return values, never in a log or an error; an utterance
// without words is a Result with an empty Text, not an error.
package stt

import "errors"

// SampleRate is the rate of the audio that recognizers take, in samples a
// second.
const SampleRate = 16000

// ErrClosed is returned by a Recognizer that was closed.
var ErrClosed = errors.New("speech recogniser is closed; make a new one")

// ErrNoUtterance is returned by Write and Finish outside Start and Finish.
var ErrNoUtterance = errors.New("speech recogniser has no utterance; call Start first")

// Recognizer is one streaming recognition engine. It is not safe for
// concurrent use and runs on its caller's goroutine.
type Recognizer interface {
	// Start begins an utterance. An utterance that was not finished is
	// dropped.
	Start() error
	// Write takes the next piece of the utterance, 16 kHz mono, of any length.
	// It does not keep pcm. It may take more than 100 ms.
	Write(pcm []int16) error
	// Partial is the best hypothesis so far; empty when there is none or no
	// utterance, and with engines that have none before Finish.
	Partial() string
	// Finish ends the utterance and returns what was said.
	Finish() (Result, error)
	// Close releases the engine. It is safe to call twice.
	Close() error
}

// Streamer is a Recognizer that is at work for a while after the end of an utterance,
// such as a service.
type Streamer interface {
	// FinishStreaming is Finish. Meanwhile, partial is called with the text so far, at
	// least once a second, and also when it has not grown.
	FinishStreaming(partial func(text string)) (Result, error)
}

// WordTaker is a Recognizer that prefers words that the user is likely to say.
type WordTaker interface {
	// SetWords sets the words for the utterances that Start begins from now on, as they
	// are said: each is one or several words in lower case.
	SetWords(words []string)
}

// Result is what was heard in one utterance.
type Result struct {
	// Text is as the engine writes it: some give case and punctuation,
	// PocketSphinx neither. It is empty when no word was heard.
	Text string
	// Confidence is the engine's own estimate, 0 to 1; 0 also when the engine
	// has none.
	Confidence float64
}

// Factory makes a Recognizer. It loads models, which takes up to a second, and
// fails with an error that names the missing model or library and the package
// that brings it.
type Factory func() (Recognizer, error)

// PocketSphinxConfig says where the models of PocketSphinx are. The zero value
// finds them by itself.
type PocketSphinxConfig struct {
	// ModelDir is the folder that holds en-us/. When empty, the environment
	// variable AGENTVOICE_POCKETSPHINX_MODELS, the folder that the build took
	// from pkg-config and the usual folder of the system are tried, in this
	// order.
	ModelDir string
}
