package roomsim

import (
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// taped returns a tape that is loud, silent from a position on, and loud again.
func taped(first, from, to, end int64) *Tape {
	pcm := make([]int16, end)
	for i := range pcm {
		if k := int64(i); k < from || k >= to {
			pcm[i] = int16(2000 * (1 - 2*(i/24%2)))
		}
	}
	t := NewTape(first)
	t.Push(pcm)
	return t
}

func TestSilenceMustLast(t *testing.T) {
	const second = audio.SampleRate
	for _, c := range []struct {
		lasts time.Duration
		found bool
	}{{Hold - 2*time.Millisecond, false}, {Hold, true}, {time.Second / 4, true}} {
		from := int64(second / 2)
		tape := taped(0, from, from+audio.Samples(c.lasts), second)
		at, ok := tape.Silent(second/4, second)
		if ok != c.found || ok && at != from {
			t.Errorf("silence of %v: %v at %d, want %v at %d", c.lasts, ok, at, c.found, from)
		}
		if ok {
			// The first window of 10 ms in which more than a little is loud.
			again, ok := tape.Sounds(at, second)
			if want := from + audio.Samples(c.lasts); !ok || again > want || again < want-audio.Samples(10*time.Millisecond) {
				t.Errorf("audio again at %d, want %d", again, want)
			}
		}
	}
}

func TestTapeIncludesTheOutputDelay(t *testing.T) {
	tape := taped(480, 9600, 24000, 48000)
	if at, ok := tape.Silent(0, 48000); !ok || at != 9600+480 {
		t.Errorf("silent at %d %v, want %d", at, ok, 9600+480)
	}
	if _, ok := tape.Silent(0, 9600); ok {
		t.Error("silence was found after the limit")
	}
}
