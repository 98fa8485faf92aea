package kokoro

import "errors"

// SampleRate is the rate of the audio in Hz.
const SampleRate = 24000

// DefaultVoice is the voice used if no name is given.
const DefaultVoice = "af_heart"

// Minimum and maximum speed of a voice.
const (
	MinSpeed = 0.5
	MaxSpeed = 3.0
)

// ErrUnknownVoice is wrapped by Speak's error for a voice that the model does not have.
var ErrUnknownVoice = errors.New("unknown voice")

// ErrClosed is returned by a Model that was closed.
var ErrClosed = errors.New("voice model is closed; load it again")

// Piece is the audio of a part of the text.
type Piece struct {
	// Start and End are the bytes of the text that the piece speaks, with the blanks after
	// them.
	Start, End int
	// PCM is mono audio at SampleRate.
	PCM []int16
	// Pause is the number of samples at the end of PCM that are silence.
	Pause int
}
