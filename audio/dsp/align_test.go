//go:build cgo && !race

package dsp

import (
	"math"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// streams is a renderer, whose frames are filled with their number, from 1 on, and a
// capturer.
type streams struct {
	t    *testing.T
	ring ring
	a    aligner
	k    int
	got  audio.Frame
}

func newStreams(t *testing.T, delay int64) *streams {
	s := &streams{t: t}
	s.a.ring = &s.ring
	s.a.reset()
	s.a.setDelay(delay)
	return s
}

func (s *streams) render(frames int) {
	for range frames {
		var f audio.Frame
		s.k++
		for i := range f {
			f[i] = int16(s.k) // unique for the first 32767 frames
		}
		s.ring.write(&f)
	}
}

// capture captures frames, and returns the number of the rendered frame in the middle
// of the last one; 0 is silence.
func (s *streams) capture(frames int) int {
	for range frames {
		s.a.next(&s.got)
	}
	return int(s.got[frame/2])
}

func (s *streams) both(frames int) (last int) {
	for range frames {
		s.render(1)
		last = s.capture(1)
	}
	return last
}

// frame is a frame of delay beyond the lead.
const frame = audio.FrameSamples

func TestAlignerAppliesTheDelay(t *testing.T) {
	for _, frames := range []int64{1, 7, 60} {
		s := newStreams(t, lead+frames*frame)
		if got := s.both(100); got != 100-int(frames) {
			t.Errorf("with a delay of %d frames, frame %d is aligned with 100", frames, got)
		}
	}
}

// TestAlignerKeepsHeadroom: with fast devices the lead shrinks, so that a frame may be late.
func TestAlignerKeepsHeadroom(t *testing.T) {
	for _, tt := range [][2]int64{{0, 0}, {minResidual, 0}, {minResidual + frame/2, frame / 2}, {minResidual + frame, frame}, {lead, frame}, {lead + frame, frame}, {lead + 2*frame, 2 * frame}} {
		s := newStreams(t, tt[0])
		if s.a.age != tt[1] {
			t.Errorf("delay of %d samples: age %d, want %d", tt[0], s.a.age, tt[1])
		}
	}
}

// TestAlignerToleratesStalls: a machine that stalls for a moment causes no realignment,
// however long the stall, and regular late frames are absorbed by a longer lag.
func TestAlignerToleratesStalls(t *testing.T) {
	for _, frames := range []int{1, 3, 20} {
		s := newStreams(t, lead)
		s.both(220)
		s.capture(frames)
		s.render(frames)
		if s.both(220); s.a.resyncs != 0 {
			t.Errorf("after %d late frames in a row the streams were realigned %d times", frames, s.a.resyncs)
		}
	}
	s := newStreams(t, lead)
	s.both(200)
	for range 40 {
		s.capture(2)
		s.render(2)
		s.both(18)
	}
	if late := s.a.underruns; s.a.resyncs != 1 || late > 2*lateBlocks*blockFrames/20 {
		t.Errorf("with a late frame every 200 ms the streams were realigned %d times, and %d frames came too late", s.a.resyncs, late)
	}
}

func TestAlignerIsSilentBeforeTheFirstFrame(t *testing.T) {
	s := newStreams(t, lead+3*frame)
	if got := s.capture(5); got != 0 {
		t.Errorf("read frame %d before any was rendered", got)
	}
	if got := s.both(3); got != 0 {
		t.Errorf("read frame %d too early", got)
	}
	if got := s.both(1); got != 1 {
		t.Errorf("read frame %d first", got)
	}
}

func TestAlignerFollowsANewDelay(t *testing.T) {
	s := newStreams(t, lead+10*frame)
	s.both(100)
	s.a.setDelay(lead + 30*frame)
	if got := s.both(1); got != 101-30 {
		t.Errorf("with a longer delay frame %d is aligned with 101", got)
	}
	s.a.setDelay(lead)
	if got := s.both(1); got != 101 {
		t.Errorf("with a shorter delay frame %d is aligned with 102", got)
	}
}

// TestAlignerRecoversFromDisruptions within half a second.
func TestAlignerRecoversFromDisruptions(t *testing.T) {
	for name, accident := range map[string]func(s *streams){
		"microphone lost frames":      func(s *streams) { s.render(30) },
		"few":                         func(s *streams) { s.render(4) },
		"microphone reported the gap": func(s *streams) { s.render(30); s.a.skip(30 * frame) },
		"nothing captured":            func(s *streams) { s.render(3000) },
		"speaker lost frames":         func(s *streams) { s.capture(3) },
		"loudspeaker stopped":         func(s *streams) { s.capture(300) },
		"speaker stopped":             func(s *streams) { s.capture(300); s.a.reset() },
		"a burst":                     func(s *streams) { s.capture(4); s.render(4) },
	} {
		for _, frames := range []int64{0, 2, 20} {
			s := newStreams(t, lead+frames*frame)
			s.both(200)
			accident(s)
			written := s.ring.written.Load() / frame // dropped frames have no position
			beside := int64(s.k) - written
			got := int64(s.both(110))
			spare := int64(1)
			if frames == 0 {
				spare = 2
			}
			if want := int64(s.k) - frames; got < want-spare || got > want {
				t.Errorf("%s: with a delay of %d frames, frame %d is aligned with %d (%d dropped)", name, frames, got, s.k, beside)
			}
		}
	}
}

func TestAlignerStopsWithTheSink(t *testing.T) {
	s := newStreams(t, lead+5*frame)
	s.both(50)
	if got := s.capture(5); got != 50 {
		t.Errorf("the rendered audio ends with frame %d", got)
	}
	if got := s.capture(1); got != 0 {
		t.Errorf("frame %d was read twice", got)
	}
	before := s.a.underruns
	s.capture(1000)
	if n := s.a.underruns - before; n > stalled {
		t.Errorf("a stopped sink counts as %d late frames", n)
	}
}

// TestAlignerToleratesJitter: frames that arrive in bursts of up to three are neither
// late nor repeated once the aligner has adapted.
func TestAlignerToleratesJitter(t *testing.T) {
	for _, frames := range []int64{0, 5} {
		s := newStreams(t, lead+frames*frame)
		var last int
		for round := range 400 {
			s.render(3)
			for range 3 {
				got := s.capture(1)
				if round > 40 && got != last+1 && got != last {
					t.Fatalf("with a delay of %d frames, frame %d follows %d", frames, got, last)
				}
				last = got
			}
		}
		if s.a.resyncs > 2 {
			t.Errorf("with a delay of %d frames, %d jumps", frames, s.a.resyncs)
		}
	}
}

// TestAlignerFollowsDrift reports the echo's position every half second. From the
// second minute on it stays within 50 microseconds, and the speeds agree to 2 ppm.
func TestAlignerFollowsDrift(t *testing.T) {
	for _, ppm := range []float64{200, -30} {
		s := newStreams(t, lead+4*frame)
		step := frame * (1 + ppm*1e-6)
		worst := 0.0
		for i := range 12000 { // 2 min
			for float64(s.ring.written.Load()) < float64(i+1)*step-0.5 {
				s.render(1)
			}
			heard := float64(i)*step - 7*frame // position of the echo
			echo := float64(s.a.read) + s.a.part - heard
			if i%51 == 50 {
				s.a.hold(echo, true)
			}
			s.capture(1)
			if i > 6000 {
				worst = max(worst, math.Abs(echo-s.a.anchor))
			}
		}
		if worst > 2.4 || s.a.resyncs > 0 {
			t.Errorf("at %v ppm the streams are up to %.1f samples apart, and jump %d times", ppm, worst, s.a.resyncs)
		}
		if got := s.a.speed / frame * 1e6; math.Abs(got-ppm) > 2 {
			t.Errorf("a drift of %v ppm was measured as %.0f", ppm, got)
		}
	}
}

// TestAlignerToleratesUnknownDrift: without an echo, realignments keep the streams
// within four frames of their target.
func TestAlignerToleratesUnknownDrift(t *testing.T) {
	for _, ppm := range []float64{200, -200} {
		for _, frames := range []int64{0, 10} {
			s := newStreams(t, lead+frames*frame)
			for i := range 40000 {
				for float64(s.ring.written.Load()) < float64(i+1)*frame*(1+ppm*1e-6)-0.5 {
					s.render(1)
				}
				s.capture(1)
				if lag := s.ring.written.Load() - s.a.read; i > 100 && abs(lag-s.a.target()) > 4*frame {
					t.Fatalf("at %v ppm with a delay of %d frames, after %d frames the lag is %d", ppm, frames, i, lag)
				}
			}
			// Half a second for each frame that is missing permanently.
			if s.a.underruns > 13*blockFrames {
				t.Errorf("at %v ppm with a delay of %d frames, %d frames came too late", ppm, frames, s.a.underruns)
			}
		}
	}
}

// TestSlipsAreSmooth reads a tone with one sample too many and one too few per frame,
// and checks that there are no clicks.
func TestSlipsAreSmooth(t *testing.T) {
	for _, rate := range []float64{1, -1} {
		s := newStreams(t, lead+10*frame)
		pcm := make([]int16, 60*frame)
		for i := range pcm {
			pcm[i] = int16(10000 * math.Sin(2*math.Pi*500*float64(i)/audio.SampleRate))
		}
		var out []int16
		for i := range 60 {
			s.ring.write((*audio.Frame)(pcm[i*frame : (i+1)*frame]))
			s.a.rate = rate
			s.a.next(&s.got)
			out = append(out, s.got[:]...)
		}
		steepest := 0
		for i := 15 * frame; i < len(out)-1; i++ {
			d := int(out[i+1]) - int(out[i])
			steepest = max(steepest, d, -d)
		}
		// 2 pi 500/48000 of the amplitude, plus a margin.
		if steepest > 680 {
			t.Errorf("with %v the steepest step is %d", rate, steepest)
		}
		if s.a.slipped == 0 {
			t.Error("nothing slipped")
		}
	}
}

// Frames that were captured earlier and come at once get no far end, and cost no realignment.
func TestLateFramesAreNotAligned(t *testing.T) {
	s := newStreams(t, lead+3*frame)
	for range 100 {
		s.render(1)
		for range 8 {
			s.a.reset() // see Processor.Late
			if got := s.capture(1); got != 0 {
				t.Fatalf("a late frame gets the far end of frame %d", got)
			}
		}
	}
	s.both(200)
	if s.a.resyncs != 0 {
		t.Errorf("%d realignments", s.a.resyncs)
	}
}
