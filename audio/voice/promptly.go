package voice

import "context"

// Voices begin and end each text with a pause; Flite's lasts 0.2 s before the first
// sound.
const (
	pauseLevel  = 100 // -50 dBFS; anything below is a pause
	pauseAtMost = 400 // maximum length of a moved pause, in ms
	pauseKept   = 20  // ms kept before the first sound, because a soft consonant can be below pauseLevel
)

// SpeakPromptly speaks a text with s and moves the voice's leading pause to the end:
// the answer starts sooner, and the gaps between sentences stay the same.
func SpeakPromptly(ctx context.Context, s Synthesizer, voice, text string, emit func(pcm []int16, rate int) error) error {
	var begin []int16 // held back until the first sound
	var moved, rate int
	begun := false
	err := s.Speak(ctx, voice, text, func(pcm []int16, hz int) error {
		if begun {
			return emit(pcm, hz)
		}
		from := len(begin)
		begin, rate = append(begin, pcm...), hz
		sound := firstSound(begin, from)
		if sound == len(begin) && sound < rate*pauseAtMost/1000 {
			return nil
		}
		begun = true
		moved = max(0, min(sound, rate*pauseAtMost/1000)-rate*pauseKept/1000)
		return emit(begin[moved:], rate)
	})
	if err != nil || len(begin) == 0 {
		return err
	}
	if !begun { // all of it was silence
		return emit(begin, rate)
	}
	if moved == 0 {
		return nil
	}
	return emit(begin[:moved], rate)
}

// firstSound returns the index of the first sample, starting at from, that is not part
// of a pause.
func firstSound(pcm []int16, from int) int {
	for i, v := range pcm[from:] {
		if v >= pauseLevel || v <= -pauseLevel {
			return from + i
		}
	}
	return len(pcm)
}
