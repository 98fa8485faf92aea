package pulse

import (
	"math"
	"testing"
	"time"
)

// TestLateAudioIsMadeUpFor: a stalled machine makes the server underrun, but soon
// afterwards the delay to the microphone is as before.
//
//test:realtime
func TestLateAudioIsMadeUpFor(t *testing.T) {
	const (
		every = 4  // frames between two marks, which are never dropped
		stall = 25 // the mark at which the room stalls
	)
	s, ctx := ForTest(t), bounded(t)
	var frames int64
	s.Connect(func(_, _, label *Frame) {
		clear(label[:])
		if frames%every == 0 {
			label[0] = int16(1 + frames/every)
			if frames == stall*every {
				time.Sleep(400 * time.Millisecond) // the stall itself
			}
		}
		frames++
	})
	var before, last int64 = math.MaxInt64, 0 // delay of marks to the microphone, up to a constant
	var underran, madeUp bool
	pcm := make([]int16, FrameSamples)
	// The machine may stall as well, before and after.
	for begin, pos := s.Tape().Len(), s.Tape().Len(); !madeUp; pos += FrameSamples {
		if err := s.Tape().Wait(ctx, pos+FrameSamples); err != nil {
			t.Fatalf("underrun: %v; the delay to the microphone remains %d samples longer: %v", underran, last-before, err)
		}
		s.Tape().Copy(Label, pos, pcm)
		for i, sample := range pcm {
			if sample == 0 {
				continue
			}
			mark := int64(sample - 1)
			last = pos + int64(i) - begin - mark*every*FrameSamples
			if mark < stall {
				before = min(before, last)
				continue
			}
			underran = underran || last-before >= FrameSamples
			madeUp = underran && last >= before && last-before < FrameSamples
		}
	}
	if s.LeftOut() == 0 {
		t.Error("nothing was dropped")
	}
}

// TestDelay: as many frames are dropped as came too late, however many.
func TestDelay(t *testing.T) {
	const way = 5 // frames
	var d delay
	queue := make([]Frame, way)
	dry, leftOut := 0, 0
	for i := range 2000 {
		for range map[int]int{100: 1, 101: 1, 102: 1, 400: 1, 600: 20, 900: 200}[i] { // the server underruns
			queue = append([]Frame{{}}, queue...)
			dry++
		}
		if len(queue) == 0 {
			t.Fatalf("after %d frames everything was dropped", i)
		}
		heard := queue[0]
		queue = queue[1:]
		if d.heard(&heard) {
			d.leaveOut()
			leftOut++
			continue
		}
		var now Frame
		for k := range now {
			now[k] = int16(d.stamp(k))
		}
		queue = append(queue, now)
	}
	if leftOut != dry || len(queue) != way {
		t.Errorf("%d frames came too late, %d were dropped, and the delay is %d frames instead of %d", dry, leftOut, len(queue), way)
	}
}
