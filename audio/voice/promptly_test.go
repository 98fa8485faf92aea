package voice

import (
	"context"
	"errors"
	"slices"
	"testing"
)

// spoken is a voice that emits scripted audio in pieces.
type spoken struct {
	pieces [][]int16
	err    error
}

func (spoken) SetRate(float64)  {}
func (spoken) Voices() []string { return nil }
func (spoken) Close() error     { return nil }
func (s spoken) Speak(_ context.Context, _, _ string, emit func([]int16, int) error) error {
	for _, p := range s.pieces {
		if err := emit(p, 1000); err != nil {
			return err
		}
	}
	return s.err
}

func of(n int, v int16) []int16 { return slices.Repeat([]int16{v}, n) }

func TestSpeakPromptly(t *testing.T) {
	pause, sound := of(150, 99), of(80, -100)
	failed := errors.New("failed")
	for name, c := range map[string]struct {
		pieces [][]int16
		err    error
		want   []int16
	}{
		"nothing":               {},
		"a sound at once":       {pieces: [][]int16{sound, pause}, want: slices.Concat(sound, pause)},
		"a short pause":         {pieces: [][]int16{of(20, 0), sound}, want: slices.Concat(of(20, 0), sound)},
		"a pause":               {pieces: [][]int16{slices.Concat(pause, sound), sound}, want: slices.Concat(of(20, 99), sound, sound, of(130, 99))},
		"a pause in pieces":     {pieces: [][]int16{pause, pause, sound}, want: slices.Concat(of(20, 99), sound, of(280, 99))},
		"a long pause":          {pieces: [][]int16{pause, pause, pause, pause, sound}, want: slices.Concat(of(70, 99), pause, sound, of(380, 99))},
		"silence":               {pieces: [][]int16{pause, pause}, want: of(300, 99)},
		"a voice that fails":    {pieces: [][]int16{pause, sound}, err: failed, want: slices.Concat(of(20, 99), sound)},
		"a failure before that": {pieces: [][]int16{pause}, err: failed},
	} {
		var got []int16
		err := SpeakPromptly(t.Context(), spoken{c.pieces, c.err}, "", "", func(pcm []int16, rate int) error {
			if len(pcm) == 0 || rate != 1000 {
				t.Errorf("%s: %d samples at %d Hz", name, len(pcm), rate)
			}
			got = append(got, pcm...)
			return nil
		})
		if !errors.Is(err, c.err) || !slices.Equal(got, c.want) {
			t.Errorf("%s: %d samples, want %d (%v)", name, len(got), len(c.want), err)
		}
	}
	err := SpeakPromptly(t.Context(), spoken{[][]int16{sound, sound}, nil}, "", "", func([]int16, int) error { return failed })
	if !errors.Is(err, failed) {
		t.Errorf("the listener's error became %v", err)
	}
}
