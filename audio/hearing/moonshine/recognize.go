//go:build cgo

package moonshine

// Recognize returns what was said in mono audio of any length at SampleRate, preferring
// names, which can be nil. Long audio is cut at quiet points. A piece whose transcript was
// cut off is divided and recognised again, so that the words after it are not lost.
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
		return m.Transcribe(sound, names)
	})
}
