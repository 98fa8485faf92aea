package sherpa

import "testing"

// A long utterance is cut at a quiet point.
func TestPieces(t *testing.T) {
	samples := make([]float32, 60*sampleRate)
	for i := range samples {
		samples[i] = 0.1
	}
	quiet := 25 * sampleRate
	clear(samples[quiet : quiet+sampleRate/4])
	if n := pieceLength(samples); n < quiet || n > quiet+sampleRate/4 {
		t.Errorf("cut at %d, want %d", n, quiet)
	}
	if n := pieceLength(samples[:maxPiece]); n != maxPiece {
		t.Errorf("cut at %d", n)
	}
}
