//go:build cgo

package kokoro

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// secondsPerSymbol is how long a symbol takes at normal speed, on average, and slack the
// factor above which a piece is taken for noise.
const (
	secondsPerSymbol = 0.075
	slack            = 3
)

// Speak speaks text in pieces. "" is the default voice; speed is from MinSpeed to MaxSpeed
// and 1 is normal; ahead is how much audio the listener has yet to hear before it. Speak
// returns nil when everything was emitted. If ctx is done it stops
// computing and returns ctx's error; an error of emit ends it as well. An unknown voice is
// an error that wraps ErrUnknownVoice and lists the voices.
func (m *Model) Speak(ctx context.Context, voice, text string, speed float64, ahead time.Duration, emit func(Piece) error) error {
	if voice == "" {
		voice = m.voices[0]
	}
	if !slices.Contains(m.voices, voice) {
		return fmt.Errorf("%w %q; use one of %s", ErrUnknownVoice, voice, strings.Join(m.voices, ", "))
	}
	speed = min(max(speed, MinSpeed), MaxSpeed)
	p := plan{text: text, tokens: m.dictionaries[variantOf(voice)].Tokens(text)}
	limit := m.pace.limit(ahead)
	played := m.now().Add(ahead) // when a listener who plays at once has heard everything
	for {
		next, ok := p.next(limit)
		if !ok {
			return ctx.Err()
		}
		audio, err := m.speech(ctx, voice, text, next, speed)
		if err != nil {
			return err
		}
		if now := m.now(); played.Before(now) {
			played = now
		}
		pause := pauseAfter(next.mark, speed)
		pcm := samples(audio, pause)
		if err := emit(Piece{Start: next.start, End: next.end, PCM: pcm, Pause: pause}); err != nil {
			return err
		}
		played = played.Add(time.Duration(len(pcm)) * time.Second / SampleRate)
		limit = m.pace.limit(played.Sub(m.now()))
	}
}

// speech computes the audio of a piece without the silence around it.
func (m *Model) speech(ctx context.Context, voice, text string, p piece, speed float64) ([]float32, error) {
	select {
	case m.turn <- struct{}{}:
		defer func() { <-m.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if m.session == nil {
		return nil, ErrClosed
	}
	begin := m.now()
	audio, err := m.run(ctx, voice, p.phonemes, speed)
	if err != nil {
		return nil, err
	}
	m.pace.learn(p.symbols, m.now().Sub(begin))
	audio = trim(audio)
	if len(audio) <= longest(p, speed) {
		return audio, nil
	}
	first, second, ok := p.halves(text)
	if !ok {
		return audio[:longest(p, speed)], nil
	}
	audio = nil
	for _, half := range []piece{first, second} {
		part, err := m.run(ctx, voice, half.phonemes, speed)
		if err != nil {
			return nil, err
		}
		part = trim(part)
		audio = append(audio, part[:min(len(part), longest(half, speed))]...)
	}
	return audio, nil
}

// longest returns the number of samples above which the audio of a piece is taken for
// noise.
func longest(p piece, speed float64) int {
	const least = 8 // symbols; a short word can be slow
	return int(slack * secondsPerSymbol * SampleRate * float64(max(p.symbols, least)) / speed)
}
