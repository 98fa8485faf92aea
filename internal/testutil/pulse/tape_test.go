package pulse

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestTape compares a tape with a reference slice per channel.
func TestTape(t *testing.T) {
	const seconds = 5
	tape := newTape()
	var want [channels][]int16
	random := rand.New(rand.NewPCG(1, 2))
	for range seconds * SampleRate / FrameSamples {
		var frames [channels]Frame
		for c := range frames {
			for i := range frames[c] {
				frames[c][i] = int16(random.Uint32())
			}
			want[c] = append(want[c], frames[c][:]...)
		}
		tape.add(&frames)
	}
	length := int64(len(want[0]))
	from := int64(0)
	for _, drop := range []int64{0, 100, SampleRate, 3*SampleRate + 7, 2 * SampleRate, length, length + 9} {
		tape.Drop(drop)
		from = min(max(from, drop), length)
		if n := tape.Len(); n != length {
			t.Fatalf("the tape has length %d, want %d", n, length)
		}
		for range 200 {
			c, at := Channel(random.IntN(int(channels))), random.Int64N(length+2)
			dst := make([]int16, random.IntN(2*SampleRate))
			n := tape.Copy(c, at, dst)
			if at < from || at > length {
				if n != 0 {
					t.Fatalf("got %d samples from %d, with %d to %d kept", n, at, from, length)
				}
				continue
			}
			if rest := want[c][at:]; n != min(len(dst), len(rest)) || !slices.Equal(dst[:n], rest[:n]) {
				t.Fatalf("channel %d differs from %d on", c, at)
			}
		}
	}
	if n := tape.Find(Label, 0, want[Label][length-FrameSamples:]); n != -1 {
		t.Errorf("dropped audio was found at %d", n)
	}
	tape.add(&[channels]Frame{})
	if n := tape.Find(Label, 0, make([]int16, FrameSamples)); n != length {
		t.Errorf("added audio was found at %d, want %d", n, length)
	}
}
