package portaudio

import (
	"math"
	"runtime"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

func TestRingDropsFramesWhenFull(t *testing.T) {
	var r captureRing
	for i := range 100 {
		r.push(&audio.Frame{int16(i)})
	}
	var got []int64
	r.drain(func(pos int64, f *audio.Frame) {
		if int64(f[0])*audio.FrameSamples != pos {
			t.Errorf("frame %d is at %d", f[0], pos)
		}
		got = append(got, pos)
	})
	r.push(&audio.Frame{100})
	r.drain(func(pos int64, _ *audio.Frame) { got = append(got, pos) })
	if len(got) != 65 || got[64] != 100*audio.FrameSamples || r.lost.Load() != 36 {
		t.Errorf("%d frames, the last at %d, %d lost", len(got), got[len(got)-1], r.lost.Load())
	}
}

// sine returns a 500 Hz tone at a rate, from sample n on, in one of several channels.
func sine(pcm []int16, channels, in, rate, n int) {
	for i := range len(pcm) / channels {
		pcm[i*channels+in] = int16(12000 * math.Sin(2*math.Pi*500*float64(n+i)/float64(rate)))
	}
}

func level500(pcm []int16, rate int) float64 {
	re, im := 0.0, 0.0
	for i, s := range pcm {
		a := 2 * math.Pi * 500 * float64(i) / float64(rate)
		re, im = re+float64(s)*math.Cos(a), im+float64(s)*math.Sin(a)
	}
	return 2 * math.Hypot(re, im) / float64(len(pcm))
}

// TestConverter: captured and played audio is the same at any rate, number of channels
// and buffer size.
func TestConverter(t *testing.T) {
	for _, c := range []struct{ rate, channels, buffer int }{
		{48000, 1, 240}, {48000, 2, 480}, {44100, 1, 220}, {44100, 2, 441}, {16000, 1, 80}, {96000, 4, 2048}, {192000, 2, 5000},
	} {
		in, err := newConverter(capture, c.rate, c.channels)
		if err != nil {
			t.Fatal(err)
		}
		out, err := newConverter(playback, c.rate, c.channels)
		if err != nil {
			t.Fatal(err)
		}
		var ring captureRing
		var heard, played []int16
		buffer, rendered := make([]int16, c.buffer*c.channels), 0
		for n := 0; n < c.rate; n += c.buffer {
			clear(buffer)
			sine(buffer, c.channels, c.channels-1, c.rate, n) // the last one only
			in.captured(buffer, &ring)
			ring.drain(func(_ int64, f *audio.Frame) { heard = append(heard, f[:]...) })
			out.play(buffer, func(f *audio.Frame) {
				sine(f[:], 1, 0, audio.SampleRate, rendered)
				rendered += len(f)
			}, 0)
			for i := 0; i < len(buffer); i += c.channels {
				if buffer[i] != buffer[i+c.channels-1] {
					t.Fatalf("%+v: the channels differ", c)
				}
				played = append(played, buffer[i])
			}
		}
		half := audio.SampleRate / 2
		if len(heard) < audio.SampleRate*97/100 {
			t.Fatalf("%+v: one second gave %d samples", c, len(heard))
		}
		if want, got := 12000/float64(c.channels), level500(heard[4800:4800+half], audio.SampleRate); math.Abs(got-want) > want/50 {
			t.Errorf("%+v: captured with %.0f, want %.0f", c, got, want)
		}
		if got := level500(played[c.rate/10:c.rate/10+c.rate/2], c.rate); math.Abs(got-12000) > 240 {
			t.Errorf("%+v: played with %.0f", c, got)
		}
	}
}

// TestGate: silence is held back only until the first sound, and means denied access
// after one second.
func TestGate(t *testing.T) {
	var silent, sound audio.Frame
	sound[7] = 1
	var g gate
	for i := range zerosDenied {
		if deliver, refused := g.pass(&silent); deliver || refused != (i == zerosDenied-1) {
			t.Fatalf("frame %d of zeros: delivered %v, refused %v", i, deliver, refused)
		}
	}
	g = gate{}
	g.pass(&silent)
	for range 2 * zerosDenied {
		if deliver, refused := g.pass(&sound); !deliver || refused {
			t.Fatalf("sound: delivered %v, refused %v", deliver, refused)
		}
		sound = audio.Frame{} // silence after sound
	}
}

func TestDenied(t *testing.T) {
	e := &hostError{code: -2147024891, text: "Access is denied."}
	for _, c := range []struct {
		goos string
		dir  direction
		err  error
		want bool
	}{
		{"windows", capture, e, true},
		{"windows", playback, e, false},
		{"linux", capture, e, false},
		{"darwin", capture, &hostError{code: 0x6e6f7065}, true},
		{"darwin", capture, &hostError{code: -10851}, false},
		{runtime.GOOS, capture, errOnlyZeros, true},
	} {
		if got := denied(c.goos, c.dir, c.err); got != c.want {
			t.Errorf("%s, %s: denied(%v) = %v", c.goos, c.dir, c.err, got)
		}
	}
}
