package wavio

import (
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

func frameOf(v int16) *audio.Frame {
	var f audio.Frame
	for i := range f {
		f[i] = v
	}
	return &f
}

// record runs feed with a recorder and returns both sides, one value per frame.
func record(t *testing.T, feed func(r *Recorder)) (left, right []int) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "both.wav")
	synctest.Test(t, func(t *testing.T) {
		r, err := NewRecorder(path)
		if err != nil {
			t.Fatal(err)
		}
		feed(r)
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if n := r.Dropped(); n != 0 {
			t.Errorf("%d frames were dropped", n)
		}
	})
	channels, pcm := readBack(t, path)
	if channels != 2 || len(pcm)%(2*audio.FrameSamples) != 0 {
		t.Fatalf("%d channels, %d samples", channels, len(pcm))
	}
	for i := 0; i < len(pcm); i += 2 * audio.FrameSamples {
		for k := 0; k < 2*audio.FrameSamples; k += 2 {
			if pcm[i+k] != pcm[i] || pcm[i+k+1] != pcm[i+1] {
				t.Fatalf("frame %d is not whole", i/(2*audio.FrameSamples))
			}
		}
		left, right = append(left, pcm[i]), append(right, pcm[i+1])
	}
	return left, right
}

func TestRecorderAlignsBothSides(t *testing.T) {
	left, right := record(t, func(r *Recorder) {
		for i := range 500 {
			r.User(int64(i)*audio.FrameSamples, frameOf(int16(1+i)))
			if i >= 100 {
				r.Assistant(frameOf(int16(1001 + i)))
			}
			synctest.Wait()
		}
	})
	if len(left) != 501 {
		t.Fatalf("%d frames", len(left))
	}
	for i := range 500 {
		want := 0
		if i >= 100 {
			want = 1001 + i
		}
		// The second side starts at the first one's position, one frame later.
		if left[i] != 1+i || i > 0 && right[i+1] != want {
			t.Fatalf("frame %d is %d and %d", i, left[i], right[i+1])
		}
	}
}

func TestRecorderContinuesWithoutASide(t *testing.T) {
	left, right := record(t, func(r *Recorder) {
		for i := range 1000 { // 10 s of the assistant; the user speaks in the first and last second
			r.Assistant(frameOf(int16(1 + i)))
			if i < 100 {
				r.User(int64(i)*audio.FrameSamples, frameOf(7))
			}
			if i >= 900 { // a new capture, whose positions restart
				r.User(int64(i-900)*audio.FrameSamples, frameOf(9))
			}
			synctest.Wait()
		}
	})
	if len(left) < 1000 || len(left) > 1001 {
		t.Fatalf("%d frames", len(left))
	}
	for i := range 1000 {
		if right[i] != 1+i {
			t.Fatalf("frame %d of the assistant is %d", i, right[i])
		}
		want := 0
		switch {
		case i >= 2 && i < 100:
			want = 7
		case i >= 902:
			want = 9
		case i < 2 || i >= 100 && i < 102 || i >= 900:
			continue // within the alignment of one frame
		}
		if left[i] != want {
			t.Fatalf("frame %d of the user is %d, want %d", i, left[i], want)
		}
	}
}

func TestRecorderAcceptsBursts(t *testing.T) {
	left, right := record(t, func(r *Recorder) {
		for burst := range 4 { // a device that delivers half a second at once
			for i := range 50 {
				r.User(int64(50*burst+i)*audio.FrameSamples, frameOf(3))
			}
			for range 50 {
				r.Assistant(frameOf(4))
			}
		}
	})
	if user, assistant := count(left, 3), count(right, 4); user != 200 || assistant != 200 {
		t.Errorf("%d frames of the user, %d of the assistant", user, assistant)
	}
}

func TestRecorderIsFedByTwoGoroutines(t *testing.T) {
	// Less than the window, so that a side that waits for the processor is not behind.
	const frames = 150
	left, right := record(t, func(r *Recorder) {
		var sides sync.WaitGroup
		sides.Go(func() {
			for i := range frames {
				r.User(int64(i)*audio.FrameSamples, frameOf(3))
			}
		})
		sides.Go(func() {
			for range frames {
				r.Assistant(frameOf(4))
			}
		})
		sides.Wait()
	})
	// The offset of the sides depends on the scheduler, their content does not.
	if user, assistant := count(left, 3), count(right, 4); user != frames || assistant != frames {
		t.Errorf("%d frames of the user, %d of the assistant", user, assistant)
	}
}

func count(values []int, v int) (n int) {
	for _, x := range values {
		if x == v {
			n++
		}
	}
	return n
}

func TestFeedingARecorderAllocatesNothing(t *testing.T) {
	r, err := NewRecorder(filepath.Join(t.TempDir(), "both.wav"))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	f, pos := frameOf(1), int64(0)
	r.User(0, f)
	// More than fits, so that the writer does not affect the measurement.
	if n := testing.AllocsPerRun(2*trackFrames, func() {
		pos += audio.FrameSamples
		r.User(pos, f)
	}); n >= 1 {
		t.Errorf("%v allocations per frame", n)
	}
}
