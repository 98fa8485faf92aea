//go:build cgo

package moonshine

import (
	"slices"
	"strings"
)

// Recognize returns what was said in mono audio of any length at SampleRate, preferring
// names, which can be nil. Long audio is cut at quiet points. A piece whose transcript was
// cut off is divided and recognised again, so that the words after it are not lost. A piece that is
// an invention says nothing.
func (m *Model) Recognize(pcm []int16, names *Names) (Transcript, error) {
	if m.encoder == nil {
		return Transcript{}, ErrClosed
	}
	if len(pcm) < shortestSound { // shorter than any word
		return Transcript{}, nil
	}
	return recognize(pcm, func(piece []int16) (Transcript, error) {
		sound, err := m.Encode(piece)
		if err != nil {
			return Transcript{}, err
		}
		t, err := m.Transcribe(sound, names)
		if invented(t.Text) {
			return Transcript{}, err
		}
		return t, err
	})
}

// inventions are what the model writes for a cough, a key stroke or an empty room, because
// its training heard them in films. Nobody says them to an assistant.
var inventions = []string{"you", "thank you for watching", "thank you so much for watching", "thanks for watching"}

// invented reports whether a transcript is nothing but an invention.
func invented(text string) bool {
	return slices.Contains(inventions, strings.ToLower(strings.TrimRight(text, ".!?")))
}
