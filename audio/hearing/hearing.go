// Package hearing recognises speech locally.
//
// There is one engine per stream of utterances, owned by one goroutine, because a chunk
// can keep the engine busy for more than 100 ms, which would stall a media path:
//
//	r, err := factory()
//	defer r.Close()
//	for each utterance {
//		r.Start()
//		for each chunk { r.Write(chunk); show(r.Partial()) }
//		result, err := r.Finish()
//	}
//
// Invariants: a Recognizer is used by one goroutine at a time; recognised text leaves
// it only as return values, never in a log or an error; an utterance without words is a
// Result with an empty Text, not an error.
package hearing

import (
	"errors"

	"github.com/agentvoice/agentvoice-daemon/audio/engine"
)

// SampleRate is the input sample rate of recognizers, in Hz.
const SampleRate = 16000

// LongestUtterance is what the embedded server ends a turn after, in samples: 12 minutes, 23 MB.
// Services accept no more in a request.
const LongestUtterance = 12 * 60 * SampleRate

// ErrClosed is returned by a Recognizer that was closed.
var ErrClosed = errors.New("speech recogniser is closed; make a new one")

// ErrNoUtterance is returned by Write and Finish outside Start and Finish.
var ErrNoUtterance = errors.New("speech recogniser has no utterance; call Start first")

// Recognizer is one streaming recognition engine. It is not safe for
// concurrent use and runs on its caller's goroutine.
type Recognizer interface {
	// Start begins an utterance and drops an unfinished one.
	Start() error
	// Write appends mono 16 kHz audio of any length to the utterance. It does not
	// retain pcm. It may take more than 100 ms.
	Write(pcm []int16) error
	// Partial returns the best hypothesis so far. It is empty if there is no hypothesis
	// or utterance, and always with engines that only produce finals.
	Partial() string
	// Finish ends the utterance and returns its result.
	Finish() (Result, error)
	// Close releases the engine. It is safe to call twice.
	Close() error
}

// Streamer is a Recognizer that keeps working for a while after the end of an
// utterance, such as a remote service.
type Streamer interface {
	// FinishStreaming is like Finish, but calls partial with the text so far.
	FinishStreaming(partial func(text string)) (Result, error)
}

// Settler is a Recognizer whose final text takes time, so that it is computed in a pause that
// may be the end.
type Settler interface {
	// Settle returns what Finish will return unless the voice goes on. Audio that is written
	// afterwards is taken for silence until Resume.
	Settle() (Result, error)
	// Resume says that the voice goes on.
	Resume() error
}

// WordTaker is a Recognizer that can be biased towards words that the user is likely to
// say.
type WordTaker interface {
	// SetWords sets the words for all utterances started afterwards, in spoken form:
	// each entry is one or several words in lower case.
	SetWords(words []string)
}

// AnswerTaker is a Recognizer that compares short sounds with the answers that are expected.
type AnswerTaker interface {
	// SetExpected sets them for all utterances started afterwards, as people write them, in
	// groups of one meaning. Nil compares with none.
	SetExpected(groups [][]string)
}

// Joiner is a Recognizer that recognises an utterance also together with those before, whose
// sentence it may continue: a pause in a sentence spoils the words on both sides.
type Joiner interface {
	// Join says that the next utterance follows the last one after so many samples of silence. It
	// reports whether Result.Joined can be expected; not if both are too long together.
	Join(pause int) bool
	// Forget drops the audio of the last utterance, which is kept for Join.
	Forget()
}

// Answer says how well a short sound fits the expected answers.
type Answer = engine.Answer

// Result is the recognition result of one utterance.
type Result struct {
	// Text has the engine's format: some engines produce case and punctuation,
	// PocketSphinx neither. It is empty if no word was recognised.
	Text string
	// Probs is the probability of each word of Text, as separated by spaces: of the word, or
	// the mean where the engine reports no more. It is empty if the engine reports none.
	Probs []float64
	// Stop is the probability that the sentence is finished, by the full stop that the engine
	// hears after the last word. It is nil if the engine reports none.
	Stop *float64
	// Answer is set if the sound was short and answers were expected, by an engine that is an
	// AnswerTaker.
	Answer *Answer
	// Joined is the text of the utterances that were joined and of this one, recognised as one
	// sound; "" without Joiner.Join.
	Joined string
}

// Factory creates a Recognizer. It loads models, which takes up to a second. Its error
// names the missing model or library and the package that provides it.
type Factory func() (Recognizer, error)
