package tts

import "context"

// Voices begin and end a text with a pause; Flite's takes 0.2 s before the first sound.
const (
	pauseLevel  = 100 // below it, -50 dBFS, is a pause
	pauseAtMost = 400 // ms of a pause that are moved
	pauseKept   = 20  // ms before the first sound: a soft consonant may be below the level
)

// SpeakPromptly has s speak a text, and moves the pause that the voice begins with behind
// it: the answer is heard sooner, and its sentences keep their distance.
func SpeakPromptly(ctx context.Context, s Synthesizer, voice, text string, emit func(pcm []int16, rate int) error) error {
	var begin []int16 // what was held back, until the first sound
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
	if !begun { // it was all silence
		return emit(begin, rate)
	}
	if moved == 0 {
		return nil
	}
	return emit(begin[:moved], rate)
}

// firstSound is the first sample from a position on that is none of a pause.
func firstSound(pcm []int16, from int) int {
	for i, v := range pcm[from:] {
		if v >= pauseLevel || v <= -pauseLevel {
			return from + i
		}
	}
	return len(pcm)
}
