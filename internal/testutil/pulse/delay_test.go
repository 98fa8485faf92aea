package pulse

import (
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
		marks = 100
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
	begin := s.Tape().Len()
	if err := s.Tape().Wait(ctx, begin+(marks+10)*every*FrameSamples); err != nil {
		t.Fatal(err)
	}
	pcm := make([]int16, s.Tape().Len()-begin)
	s.Tape().Copy(Label, begin, pcm)
	ways := map[int]int{} // delay of each mark to the microphone, up to a constant
	for i, sample := range pcm {
		if sample != 0 {
			ways[int(sample)-1] = i - int(sample-1)*every*FrameSamples
		}
	}
	before, during, after := ways[stall-1], 0, ways[marks-1]
	for i := stall; i < stall+10; i++ { // the one that restarts the stream may be lost
		during = max(during, ways[i])
	}
	if during-before < FrameSamples {
		t.Errorf("the server did not underrun: marks came after %d and %d samples", before, during)
	}
	if late := after - before; late < 0 || late >= FrameSamples {
		t.Errorf("after the underrun the delay to the microphone is %d samples longer", late)
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
