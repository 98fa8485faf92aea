// Package voice synthesises speech locally.
//
// The caller makes one call per piece of text. Audio arrives through emit while the
// rest is still being synthesised, so playback starts within milliseconds:
//
//	s, err := factory()
//	defer s.Close()
//	err = s.Speak(ctx, tts.DefaultVoice, "All tests pass.", func(pcm []int16, rate int) error {
//		return play(pcm, rate) // pcm is only valid during the call
//	})
//
// Invariants: emit is called on Speak's goroutine and never after Speak returned; text
// without anything to speak emits nothing; text never reaches a log or an error.
package voice

import (
	"context"
	"errors"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Minimum and maximum speed of a voice.
const (
	MinRate = 0.5
	MaxRate = 3.0
)

// DefaultVoice is the voice used if no name is given.
const DefaultVoice = "slt"

// fliteVoices are the voices of Flite, the default first: slt is female; rms, awb (Scottish) and
// kal16 are male; kal16 is a diphone voice, fast and rough.
var fliteVoices = []string{DefaultVoice, "rms", "awb", "kal16"}

// IsFlite reports whether a voice is one of Flite's.
func IsFlite(name string) bool { return slices.Contains(fliteVoices, name) }

// SpokenName returns how a voice calls itself: "bf_emma" is Emma. The names of Flite's voices
// are initials.
func SpokenName(name string) string {
	if IsFlite(name) {
		return strings.ToUpper(name)
	}
	if kind, own, found := strings.Cut(name, "_"); found && len(kind) == 2 {
		name = own
	}
	first, size := utf8.DecodeRuneInString(name)
	return string(unicode.ToUpper(first)) + name[size:]
}

// ErrUnknownVoice is wrapped by Speak's error for a voice that the engine does not
// have.
var ErrUnknownVoice = errors.New("unknown voice")

// ErrClosed is returned by a Synthesizer that was closed.
var ErrClosed = errors.New("speech synthesiser is closed; make a new one")

// Synthesizer speaks text in pieces. It is not safe for concurrent use.
type Synthesizer interface {
	// Speak synthesises text and calls emit with consecutive pieces of mono PCM at rate
	// Hz. pcm is valid only during the call. Speak returns nil when everything was
	// emitted; if ctx is done or emit fails, it returns that error before the next
	// piece. An unknown voice is an error that wraps ErrUnknownVoice and lists the
	// known voices.
	Speak(ctx context.Context, voice, text string, emit func(pcm []int16, rate int) error) error
	// SetRate sets the speed for subsequent calls of Speak, from MinRate to MaxRate; 1
	// is normal.
	SetRate(rate float64)
	// Voices returns the names of the voices, the default first.
	Voices() []string
	// Close releases the engine. It is safe to call twice.
	Close() error
}

// Factory creates a Synthesizer, or fails with an error that names what is missing and
// the package that provides it.
type Factory func() (Synthesizer, error)
