package main

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// tone returns a voice: a tone of 200 Hz.
func tone(d time.Duration, amplitude float64) []int16 {
	out := make([]int16, audio.Samples(d))
	for i := range out {
		out[i] = int16(amplitude * math.Sin(2*math.Pi*200*float64(i)/audio.SampleRate))
	}
	return out
}

func silence(d time.Duration) []int16 { return noise(audio.Samples(d), -70, 1) }

const ms = time.Millisecond

// four words of equal length, with short gaps after the first and the third, and a longer one after
// the second.
func fourWords() []int16 {
	return slices.Concat(silence(300*ms), tone(250*ms, 8000), silence(30*ms), tone(250*ms, 8000), silence(60*ms),
		tone(250*ms, 8000), silence(30*ms), tone(250*ms, 8000), silence(600*ms))
}

func TestAPauseIsBetweenWords(t *testing.T) {
	in := fourWords()
	out, at, ok := insertPause(in, "open that file now", 800*ms, 7)
	from, to := audio.Samples(830*ms), audio.Samples(890*ms)
	if !ok || at < from || at > to {
		t.Fatalf("the pause begins at %v, %v; the gap is from %v to %v", audio.Duration(at), ok, audio.Duration(from), audio.Duration(to))
	}
	if got, want := int64(len(out)-len(in)), audio.Samples(800*ms); got != want {
		t.Errorf("%d samples were added, not %d", got, want)
	}
	if !slices.Equal(out[:at-fadeSamples], in[:at-fadeSamples]) || !slices.Equal(out[at+audio.Samples(800*ms)+fadeSamples:], in[at+fadeSamples:]) {
		t.Error("the words changed")
	}
	if before, after := out[at-1], out[at+audio.Samples(800*ms)]; before != 0 || after != 0 {
		t.Errorf("the voice is cut off, at samples of %d and %d", before, after)
	}
	if pause, floor := frameLevels(out[at:at+audio.Samples(800*ms)]), floorOf(in); math.Abs(slices.Max(pause)-floor) > 1 || math.Abs(slices.Min(pause)-floor) > 1 {
		t.Errorf("the pause has levels from %.1f to %.1f dBFS; the floor is %.1f", slices.Min(pause), slices.Max(pause), floor)
	}
}

// A dip within a word, such as the closure before a plosive, is no place for a pause if a gap
// between words is almost as deep.
func TestAPauseIsNotWithinAWord(t *testing.T) {
	in := slices.Concat(silence(300*ms), tone(500*ms, 8000), silence(60*ms), tone(250*ms, 8000),
		noise(audio.Samples(60*ms), -66, 1), tone(700*ms, 8000), silence(600*ms))
	_, at, ok := insertPause(in, "deliberating nevertheless", 500*ms, 7)
	if from, to := audio.Samples(1110*ms), audio.Samples(1170*ms); !ok || at < from || at > to {
		t.Errorf("the pause begins at %v; the words meet at 1.14 s", audio.Duration(at))
	}
}

func TestAPauseIsReproducible(t *testing.T) {
	in := fourWords()
	first, _, _ := insertPause(in, "open that file now", 300*ms, 7)
	again, _, _ := insertPause(in, "open that file now", 300*ms, 7)
	other, _, _ := insertPause(in, "open that file now", 300*ms, 8)
	if !slices.Equal(first, again) {
		t.Error("the same seed gives another recording")
	}
	if slices.Equal(first, other) {
		t.Error("another seed gives the same noise")
	}
}

func TestSomeRecordingsHaveNoPlaceForAPause(t *testing.T) {
	for name, c := range map[string]struct {
		pcm   []int16
		words string
	}{
		"one word": {fourWords(), "continue"},
		"no words": {fourWords(), ""},
		"silence":  {make([]int16, audio.SampleRate), "open that file now"},
		"nothing":  {nil, "open that file now"},
	} {
		if _, _, ok := insertPause(c.pcm, c.words, 500*ms, 7); ok {
			t.Errorf("%s: a pause was inserted", name)
		}
	}
}

func TestThePauseLeavesASilentFloorSilent(t *testing.T) {
	in := slices.Concat(make([]int16, audio.Samples(300*ms)), tone(400*ms, 8000), make([]int16, audio.Samples(60*ms)), tone(400*ms, 8000), make([]int16, audio.Samples(600*ms)))
	out, at, ok := insertPause(in, "open that", 300*ms, 7)
	if !ok {
		t.Fatal("no pause was inserted")
	}
	for i, v := range out[at : at+audio.Samples(300*ms)] {
		if v != 0 {
			t.Fatalf("sample %d of the pause is %d", i, v)
		}
	}
}
