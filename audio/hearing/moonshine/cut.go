package moonshine

import "math"

// SampleRate is the sample rate of the model's audio, in Hz.
const SampleRate = 16000

const (
	longestPiece  = 15 * SampleRate // the model repeats itself on audio of more than 30 s
	cutWindow     = 8 * SampleRate  // the end of a piece in which it may be cut
	shortestPiece = longestPiece - cutWindow
	shortestHalf  = SampleRate // a piece is not divided into shorter ones
	cutStep       = SampleRate / 50
	cutQuiet      = SampleRate / 5 // what is quiet around a cut
)

// pieceLength returns how much of the audio to recognise at once: all of it, or up to the
// quietest point near the end of the longest piece.
func pieceLength(pcm []int16) int {
	if len(pcm) <= longestPiece {
		return len(pcm)
	}
	// The rest should not be a fragment of a word.
	end := min(longestPiece, len(pcm)-shortestHalf)
	return quietest(pcm, shortestPiece, end)
}

// halfLength returns where to divide a piece in two, or 0 if it is too short.
func halfLength(pcm []int16) int {
	if len(pcm) < 3*shortestHalf {
		return 0
	}
	return quietest(pcm, max(shortestHalf, len(pcm)/4), min(len(pcm)-shortestHalf, len(pcm)*3/4))
}

// quietest returns the middle of the quietest 200 ms of pcm[from:to].
func quietest(pcm []int16, from, to int) int {
	best, least := to, math.Inf(1)
	for at := from; at+cutQuiet <= to; at += cutStep {
		energy := 0.0
		for _, s := range pcm[at : at+cutQuiet] {
			energy += float64(s) * float64(s)
		}
		if energy < least {
			best, least = at+cutQuiet/2, energy
		}
	}
	return best
}

// recognize joins the transcripts of the pieces of an utterance.
func recognize(pcm []int16, transcribe func(piece []int16) (Transcript, error)) (Transcript, error) {
	var all Transcript
	for len(pcm) > 0 {
		length := pieceLength(pcm)
		t, err := divided(pcm[:length], transcribe)
		if err != nil {
			return Transcript{}, err
		}
		all, pcm = all.join(t), pcm[length:]
	}
	return all, nil
}

// divided transcribes a piece, in two parts if the transcript of the whole was cut off.
func divided(piece []int16, transcribe func([]int16) (Transcript, error)) (Transcript, error) {
	whole, err := transcribe(piece)
	half := halfLength(piece)
	if err != nil || !whole.Cut || half == 0 {
		return whole, err
	}
	first, err := divided(piece[:half], transcribe)
	if err != nil {
		return Transcript{}, err
	}
	second, err := divided(piece[half:], transcribe)
	if err != nil {
		return Transcript{}, err
	}
	return first.join(second), nil
}
