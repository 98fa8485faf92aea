package kokoro

import (
	"math"
	"testing"
)

// tone makes silence, a tone and silence, of the given lengths.
func tone(before, during, after int) []float32 {
	audio := make([]float32, before+during+after)
	for i := range during {
		audio[before+i] = 0.3 * float32(math.Sin(float64(i)*2*math.Pi*440/SampleRate))
	}
	for i := range audio {
		audio[i] += 0.0005 * float32(i%2) // the model's silence is not zero
	}
	return audio
}

func TestTrimKeepsTheSoundAndShortEdges(t *testing.T) {
	const second = SampleRate
	got := trim(tone(second/3, second/2, second*2/3))
	if most := second/2 + keepBefore + keepAfter + 2*window; len(got) < second/2 || len(got) > most {
		t.Errorf("%d samples, want %d to %d", len(got), second/2, most)
	}
	if got[0] != 0 || got[len(got)-1] != 0 {
		t.Error("the edges are not faded")
	}
	if n := len(trim(tone(0, second/2, 0))); n != second/2 {
		t.Errorf("a sound without silence around it has %d samples, want %d", n, second/2)
	}
	clicked := append(tone(0, second/2, second/5), tone(0, second/50, second/10)...)
	if n := len(trim(clicked)); n > second/2+keepAfter+window {
		t.Errorf("a click at the end stays: %d samples", n)
	}
	plosive := append(tone(0, second/2, second/20), tone(0, second/50, second/10)...)
	if n := len(trim(plosive)); n < second/2+second/20+second/50 {
		t.Errorf("a plosive at the end is lost: %d samples", n)
	}
	if n := len(trim(make([]float32, second))); n != 0 {
		t.Errorf("silence has %d samples", n)
	}
	if trim(nil) != nil {
		t.Error("nothing became something")
	}
}

func TestSamplesAreClippedAndPadded(t *testing.T) {
	pcm := samples([]float32{2, -2, 0}, 2)
	if len(pcm) != 5 || pcm[0] != math.MaxInt16 || pcm[1] != -math.MaxInt16 || pcm[2]|pcm[3]|pcm[4] != 0 {
		t.Error(pcm)
	}
}
