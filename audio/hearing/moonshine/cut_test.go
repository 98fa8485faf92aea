package moonshine

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// noise is loud audio with pauses of 300 ms around the given seconds.
func noise(length int, pauses ...int) []int16 {
	pcm := make([]int16, length)
	for i := range pcm {
		pcm[i] = int16(i*7919%4000 - 2000)
	}
	for _, p := range pauses {
		for i := max(0, p*SampleRate-2400); i < min(length, p*SampleRate+2400); i++ {
			pcm[i] = 0
		}
	}
	return pcm
}

// TestPiecesAreTheWhole: pieces in order are the utterance, none too long or a fragment.
func TestPiecesAreTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		length := rapid.IntRange(0, 60*SampleRate).Draw(t, "length")
		cut := rapid.Bool().Draw(t, "cut") // all transcripts that can be
		pcm, sum := noise(length), 0
		got, err := recognize(pcm, func(piece []int16) (Transcript, error) {
			if len(piece) > longestPiece || length >= SampleRate && len(piece) < SampleRate {
				t.Fatalf("a piece of %d samples, of %d", len(piece), length)
			}
			tr := Transcript{Words: []Word{{Text: fmt.Sprint(len(piece))}}, Tokens: 2, LogProb: -1, Cut: cut}
			if !cut || halfLength(piece) == 0 {
				sum += len(piece)
			}
			return tr, nil
		})
		if err != nil || sum != length || got.Text != textOf(got.Words) || got.Tokens != 2*len(got.Words) {
			t.Fatalf("%d samples of %d, %+v, %v", sum, length, got, err)
		}
	})
}

func TestCutsAreInPauses(t *testing.T) {
	pcm := noise(40*SampleRate, 3, 11, 23, 31)
	var at []string
	for sum := 0; sum < len(pcm); {
		sum += pieceLength(pcm[sum:])
		at = append(at, fmt.Sprintf("%.0f", float64(sum)/SampleRate))
	}
	if got := strings.Join(at, " "); got != "11 23 31 40" && got != "11 23 40" {
		t.Errorf("cuts at %s s", got)
	}
	if got := halfLength(noise(8*SampleRate, 5)); got < 5*SampleRate-2400 || got > 5*SampleRate+2400 {
		t.Errorf("half at %d", got)
	}
	if got := halfLength(noise(2 * SampleRate)); got != 0 {
		t.Errorf("two seconds are divided at %d", got)
	}
}

func TestTranscriptsAreJoined(t *testing.T) {
	a := Transcript{Text: "One two.", Words: []Word{{"One", 1}, {"two.", 0.5}}, Tokens: 4, LogProb: -1, Stop: 0.9}
	b := Transcript{Text: "Three", Words: []Word{{"Three", 1}}, Tokens: 2, LogProb: -2, Stop: 0.1, Cut: true}
	silence := Transcript{Tokens: 1, LogProb: -3}
	got := a.join(b).join(silence)
	if got.Text != "One two. Three" || len(got.Words) != 3 || got.Tokens != 7 || got.LogProb != -6 || got.Mean != -6.0/7 || got.Stop != 0.1 || !got.Cut {
		t.Errorf("%+v", got)
	}
	if len(a.Words) != 2 || len(b.Words) != 1 {
		t.Error("joining changes its parts")
	}
}

func TestErrorsEndRecognition(t *testing.T) {
	broken := errors.New("broken")
	calls := 0
	_, err := recognize(noise(20*SampleRate), func([]int16) (Transcript, error) {
		if calls++; calls == 3 {
			return Transcript{}, broken
		}
		return Transcript{Cut: true}, nil
	})
	if err != broken || calls != 3 {
		t.Errorf("%v after %d calls", err, calls)
	}
}
