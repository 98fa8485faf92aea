// Package tts turns text into speech on this machine.
//
// The caller's loop is one call a piece of text; audio arrives through emit
// while the rest is still being synthesised, so playback starts after
// milliseconds:
//
//	s, err := factory()
//	defer s.Close()
//	err = s.Speak(ctx, tts.DefaultVoice, "All tests pass.", func(pcm []int16, rate int) error {
//		return play(pcm, rate) // pcm is only valid during the call
//	})
//
// Invariants: emit is called on Speak's goroutine and never after Speak
// returned; text that has nothing to say emits nothing; no text, however odd,
// reaches a log or an error.
package tts

import (
	"context"
	"errors"
)

// The slowest and the fastest speed of a voice.
const (
	MinRate = 0.5
	MaxRate = 3.0
)

// DefaultVoice is the voice that an empty name stands for.
const DefaultVoice = "slt"

// ErrUnknownVoice is wrapped by Speak's error for a voice that the engine does
// not have.
var ErrUnknownVoice = errors.New("unknown voice")

// ErrClosed is returned by a Synthesizer that was closed.
var ErrClosed = errors.New("speech synthesiser is closed; make a new one")

// Synthesizer speaks text in pieces. It is safe for sequential use only.
type Synthesizer interface {
	// Speak synthesises text and calls emit with consecutive pieces of mono
	// PCM at rate Hz. pcm is valid only during the call. It returns nil when
	// all was emitted, ctx's error when ctx is done and emit's error when emit
	// failed, both before the next piece; an unknown voice is an error that
	// wraps ErrUnknownVoice and lists the known ones.
	Speak(ctx context.Context, voice, text string, emit func(pcm []int16, rate int) error) error
	// SetRate sets the speed of what Speak is called for from now on: 1 is normal,
	// MinRate to MaxRate are possible.
	SetRate(rate float64)
	// Voices names the voices, the default first.
	Voices() []string
	// Close releases the engine. It is safe to call twice.
	Close() error
}

// Factory makes a Synthesizer, or fails with an error that names what is
// missing and the package that brings it.
type Factory func() (Synthesizer, error)
