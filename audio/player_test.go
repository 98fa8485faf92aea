package audio

import (
	"errors"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// sampleOf returns the value of sample i of a segment: never zero, loud, and
// different from its neighbours.
func sampleOf(seg SegmentID, i int64) int16 {
	return int16(10000 + (int64(seg.Gen)*7919+int64(seg.Seq)*104729+i*31)%9973)
}

func audioOf(seg SegmentID, from, n int64) []int16 {
	pcm := make([]int16, n)
	for i := range pcm {
		pcm[i] = sampleOf(seg, from+int64(i))
	}
	return pcm
}

// rig is a player in a synctest bubble, where all events of a call have arrived when
// the call returns.
type rig struct {
	*Player
	t      *testing.T
	events []PlayerEvent
	output []PlayerEvent // Sounded and Silenced
}

func withRig(t *testing.T, cfg PlayerConfig, test func(r *rig)) {
	synctest.Test(t, func(t *testing.T) {
		r := &rig{t: t}
		r.Player = NewPlayer(cfg, func(ev PlayerEvent) {
			if late := time.Since(ev.Rendered); late != 0 { // the rig's clock stands still while it renders
				t.Errorf("%v was rendered %v ago", ev.Kind, late)
			}
			ev.Rendered = time.Time{}
			if ev.Kind == Sounded || ev.Kind == Silenced {
				r.output = append(r.output, ev)
				return
			}
			r.events = append(r.events, ev)
		})
		defer r.Close()
		test(r)
	})
}

func (r *rig) write(seg SegmentID, from, n int64) {
	r.t.Helper()
	if err := r.Write(seg, audioOf(seg, from, n)); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) end(seg SegmentID) {
	r.t.Helper()
	if err := r.EndSegment(seg); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) render(frames int) (pcm []int16) {
	for range frames {
		var f Frame
		f[0] = 1 // frames are reused, so Render must fill them
		r.Render(&f)
		pcm = append(pcm, f[:]...)
		synctest.Wait()
	}
	return pcm
}

// expect checks the events since the last call.
func (r *rig) expect(want ...PlayerEvent) {
	r.t.Helper()
	synctest.Wait()
	if len(want) != len(r.events) || len(want) > 0 && !reflect.DeepEqual(r.events, want) {
		r.t.Fatalf("events\n got %+v\nwant %+v", r.events, want)
	}
	r.events = nil
}

func (r *rig) expectAudio(got, want []int16) {
	r.t.Helper()
	for i := range want {
		if got[i] != want[i] {
			r.t.Fatalf("sample %d is %d, want %d", i, got[i], want[i])
		}
	}
}

func silent(pcm []int16) bool {
	for _, s := range pcm {
		if s != 0 {
			return false
		}
	}
	return true
}

var seg11, seg12, seg21 = SegmentID{1, 1}, SegmentID{1, 2}, SegmentID{2, 1}

// playing returns a rig that has played one of two seconds of segment 1.1.
func playing(r *rig) {
	r.t.Helper()
	r.write(seg11, 0, 2*SampleRate)
	r.expect(PlayerEvent{Kind: Buffered, Seg: seg11})
	r.Start(1)
	r.expectAudio(r.render(100), audioOf(seg11, 0, SampleRate))
	r.expect(PlayerEvent{Kind: SegmentStarted, Seg: seg11})
}

func TestPlayerPlaysWhatIsBufferedAfterStart(t *testing.T) {
	withRig(t, PlayerConfig{}, func(r *rig) {
		r.write(seg11, 0, Samples(60*time.Millisecond)-1)
		r.expect()
		r.write(seg11, 2879, 1)
		r.expect(PlayerEvent{Kind: Buffered, Seg: seg11})
		if !silent(r.render(3)) {
			t.Error("sound before Start")
		}
		r.expect()
		r.Start(1)
		r.end(seg11)
		out := r.render(7)
		r.expectAudio(out, audioOf(seg11, 0, 2880))
		if !silent(out[2880+fadeSamples:]) {
			t.Error("sound after the end")
		}
		r.expect(
			PlayerEvent{Kind: SegmentStarted, Seg: seg11, Of: 2880, At: 1440},
			PlayerEvent{Kind: SegmentPlayed, Seg: seg11, Samples: 2880, Of: 2880, At: 4320},
			PlayerEvent{Kind: Drained, Seg: seg11, Samples: 2880, Of: 2880, At: 4320},
		)
		if seg, n := r.Cursor(); seg != seg11 || n != 2880 || !r.Idle() {
			t.Errorf("cursor %v %d, idle %v", seg, n, r.Idle())
		}
	})
}

func TestPlayerWaitsForBufferAfterAnEarlyStart(t *testing.T) {
	withRig(t, PlayerConfig{Prebuffer: 20 * time.Millisecond}, func(r *rig) {
		r.Start(1)
		r.write(seg11, 0, 959)
		if !silent(r.render(2)) {
			t.Error("sound before enough audio was buffered")
		}
		r.write(seg11, 959, 1)
		r.expectAudio(r.render(1), audioOf(seg11, 0, 480))
		r.expect(PlayerEvent{Kind: Buffered, Seg: seg11, At: 960}, PlayerEvent{Kind: SegmentStarted, Seg: seg11, At: 960})
	})
}

func TestPlayerPlaysSegmentsWithoutAGap(t *testing.T) {
	withRig(t, PlayerConfig{}, func(r *rig) {
		r.write(seg11, 0, 700)
		r.write(seg12, 0, 300) // ends 1.1
		r.end(seg12)
		r.end(SegmentID{1, 3}) // empty
		r.Start(1)
		out := r.render(3)
		r.expectAudio(out, append(audioOf(seg11, 0, 700), audioOf(seg12, 0, 300)...))
		r.expect(
			PlayerEvent{Kind: Buffered, Seg: seg11, Of: 700},
			PlayerEvent{Kind: SegmentStarted, Seg: seg11, Of: 700},
			PlayerEvent{Kind: SegmentPlayed, Seg: seg11, Samples: 700, Of: 700, At: 700},
			PlayerEvent{Kind: SegmentStarted, Seg: seg12, Of: 300, At: 700},
			PlayerEvent{Kind: SegmentPlayed, Seg: seg12, Samples: 300, Of: 300, At: 1000},
			PlayerEvent{Kind: SegmentStarted, Seg: SegmentID{1, 3}, At: 1000},
			PlayerEvent{Kind: SegmentPlayed, Seg: SegmentID{1, 3}, At: 1000},
			PlayerEvent{Kind: Drained, Seg: SegmentID{1, 3}, At: 1000},
		)
	})
}

// TestPlayerHeldAfterDrained: audio after Drained waits for the controller again,
// because the user may be speaking.
func TestPlayerHeldAfterDrained(t *testing.T) {
	withRig(t, PlayerConfig{}, func(r *rig) {
		r.Start(1)
		r.write(seg11, 0, 480)
		r.end(seg11)
		r.render(2)
		r.events = nil
		r.write(seg12, 0, 480)
		r.end(seg12)
		if !silent(r.render(2)) {
			t.Error("sound before the second Start")
		}
		r.expect(PlayerEvent{Kind: Buffered, Seg: seg12, Of: 480, At: 960})
		r.Start(1)
		r.expectAudio(r.render(1), audioOf(seg12, 0, 480))
	})
}

func TestPlayerPausesAndResumes(t *testing.T) {
	withRig(t, PlayerConfig{}, func(r *rig) {
		playing(r)
		r.Pause(1)
		r.Pause(1) // a second call has no effect
		out := r.render(3)
		want := audioOf(seg11, SampleRate, 480)
		for i := range out {
			if i >= fadeSamples && out[i] != 0 {
				t.Fatalf("sample %d after the pause is %d", i, out[i])
			}
			if i > 0 && i < fadeSamples && (out[i] > want[i] || out[i] < 0) {
				t.Fatalf("sample %d of the fade is %d", i, out[i])
			}
		}
		paused := PlayerEvent{Kind: Paused, Seg: seg11, Samples: SampleRate + fadeSamples, At: SampleRate + fadeSamples}
		r.expect(paused)
		r.Resume(1)
		out = r.render(100)
		r.expectAudio(out[fadeSamples:], audioOf(seg11, SampleRate+2*fadeSamples, SampleRate-2*fadeSamples))
		if out[0] > 200 || out[0] == 0 {
			t.Errorf("resumes with a sample of %d", out[0])
		}
		r.expect(PlayerEvent{Kind: Underrun, Seg: seg11, Samples: 2 * SampleRate, At: 2*SampleRate + 3*480 - fadeSamples})
	})
}

func TestPauseThatFindsTheEndIsDrained(t *testing.T) {
	withRig(t, PlayerConfig{}, func(r *rig) {
		r.write(seg11, 0, 480+fadeSamples)
		r.end(seg11)
		r.Start(1)
		r.render(1)
		r.events = nil
		r.Pause(1)
		r.render(3)
		last := PlayerEvent{Kind: SegmentPlayed, Seg: seg11, Samples: 720, Of: 720, At: 720}
		drained := last
		drained.Kind = Drained
		r.expect(last, drained)
	})
}

func TestPauseBetweenFramesIsAnswered(t *testing.T) {
	withRig(t, PlayerConfig{}, func(r *rig) {
		playing(r)
		r.Pause(1)
		r.Resume(1)
		r.expectAudio(r.render(1), audioOf(seg11, SampleRate, 480))
		r.expect(PlayerEvent{Kind: Paused, Seg: seg11, Samples: SampleRate, At: SampleRate})
	})
}

func TestHold(t *testing.T) {
	withRig(t, PlayerConfig{}, func(r *rig) {
		playing(r)
		r.Hold(30 * time.Millisecond)
		if out := r.render(3); out[0] == 0 || !silent(out[fadeSamples:]) {
			t.Error("sound after the fade, or no fade")
		}
		if _, played := r.Cursor(); played != SampleRate+fadeSamples {
			t.Errorf("the cursor is at %d while it is held", played)
		}
		out := r.render(2) // resumes without a call
		r.expectAudio(out[fadeSamples:], audioOf(seg11, SampleRate+2*fadeSamples, 960-fadeSamples))
		if out[0] == sampleOf(seg11, SampleRate+fadeSamples) {
			t.Error("it resumes without fading in")
		}
		r.expect()
	})
}

func TestHoldIsEndedOrReplaced(t *testing.T) {
	withRig(t, PlayerConfig{}, func(r *rig) {
		playing(r)
		r.Hold(time.Hour)
		r.render(10)
		r.Hold(10 * time.Millisecond)
		if !silent(r.render(1)) {
			t.Error("the shorter hold ended at once")
		}
		if silent(r.render(1)) {
			t.Error("the longer hold is still active")
		}
		r.Hold(time.Hour)
		r.render(1)
		r.Hold(0)
		if silent(r.render(1)) {
			t.Error("held after its end")
		}
		r.expect()
	})
}

// Calls of the controller during a hold take effect and are answered.
func TestOrdersWhileHeld(t *testing.T) {
	withRig(t, PlayerConfig{}, func(r *rig) {
		playing(r)
		at := int64(SampleRate + fadeSamples)
		r.Hold(time.Hour)
		r.render(2)
		r.Pause(1)
		r.render(1)
		r.expect(PlayerEvent{Kind: Paused, Seg: seg11, Samples: at, At: SampleRate + 2*480})
		r.Resume(1)
		if !silent(r.render(2)) {
			t.Error("a resume ended the hold")
		}
		r.Flush(2)
		r.render(1)
		r.expect(PlayerEvent{Kind: Flushed, Seg: seg11, Samples: at, At: SampleRate + 5*480, NewGen: 2})
		r.write(seg21, 0, 4800)
		r.Start(2)
		if !silent(r.render(5)) {
			t.Error("a new generation plays while it is held")
		}
		r.Hold(0)
		r.expectAudio(r.render(5), audioOf(seg21, 0, 2400))
	})
}

func TestFlushEndsEverythingOlder(t *testing.T) {
	withRig(t, PlayerConfig{}, func(r *rig) {
		playing(r)
		r.Flush(2)
		r.write(seg11, 2*SampleRate, 480) // discarded
		r.end(seg11)
		r.Start(1)
		r.write(seg21, 0, 4800)
		r.Start(2)
		if out := r.render(1); !silent(out[fadeSamples:]) {
			t.Error("sound after the fade")
		}
		r.expect(
			PlayerEvent{Kind: Flushed, Seg: seg11, Samples: SampleRate + fadeSamples, At: SampleRate + fadeSamples, NewGen: 2},
			PlayerEvent{Kind: Buffered, Seg: seg21, At: SampleRate + 480},
		)
		r.expectAudio(r.render(10), audioOf(seg21, 0, 4800))
		r.Flush(2) // not newer
		r.Flush(1)
		r.render(1)
		r.expect(PlayerEvent{Kind: SegmentStarted, Seg: seg21, At: SampleRate + 480},
			PlayerEvent{Kind: Underrun, Seg: seg21, Samples: 4800, At: SampleRate + 480 + 4800})
	})
}

func TestEachFlushIsAnswered(t *testing.T) {
	withRig(t, PlayerConfig{}, func(r *rig) {
		r.Flush(4) // on an unused player
		r.write(SegmentID{4, 1}, 0, 4800)
		r.Flush(5)
		r.write(SegmentID{5, 1}, 0, 4800)
		r.Flush(9)
		r.expect()
		r.render(1)
		r.expect(
			PlayerEvent{Kind: Flushed, Seg: SegmentID{3, 0}, NewGen: 4},
			PlayerEvent{Kind: Flushed, Seg: SegmentID{4, 0}, NewGen: 5},
			PlayerEvent{Kind: Flushed, Seg: SegmentID{5, 0}, NewGen: 9},
		)
		if !r.Idle() {
			t.Error("not idle after the flush")
		}
	})
}

// TestControlWithoutADevice: every request is answered although the device is lost.
func TestControlWithoutADevice(t *testing.T) {
	withRig(t, PlayerConfig{}, func(r *rig) {
		playing(r)
		r.Pause(1)
		time.Sleep(deviceStall + time.Millisecond) // virtual time
		r.expect(PlayerEvent{Kind: Paused, Seg: seg11, Samples: SampleRate, At: SampleRate})
		r.Flush(2)
		time.Sleep(deviceStall + time.Millisecond)
		r.expect(PlayerEvent{Kind: Flushed, Seg: seg11, Samples: SampleRate, At: SampleRate, NewGen: 2})
		r.write(seg21, 0, 4800)
		r.expect(PlayerEvent{Kind: Buffered, Seg: seg21, At: SampleRate})
	})
}

// TestFrameDuringATakeOver: a device that resumes while the notifier applies an order
// in its place gets one frame of silence, which counts on the timeline.
func TestFrameDuringATakeOver(t *testing.T) {
	withRig(t, PlayerConfig{}, func(r *rig) {
		playing(r)
		r.rendering.Store(true)
		if !silent(r.render(1)) {
			t.Error("two goroutines rendered at the same time")
		}
		r.rendering.Store(false)
		r.expectAudio(r.render(1), audioOf(seg11, SampleRate, 480))
		r.Pause(1)
		r.render(1)
		n := int64(SampleRate + 480 + fadeSamples)
		r.expect(PlayerEvent{Kind: Paused, Seg: seg11, Samples: n, At: n + 480})
	})
}

func TestPlaybackResumesAfterUnderrun(t *testing.T) {
	withRig(t, PlayerConfig{}, func(r *rig) {
		r.write(seg11, 0, 2880+100)
		r.Start(1)
		out := r.render(9)
		r.expectAudio(out, audioOf(seg11, 0, 2980))
		if out[2980] > out[2979] || out[2980+fadeSamples/2] == 0 || !silent(out[2980+fadeSamples:]) {
			t.Error("the last sample does not decay")
		}
		r.expect(PlayerEvent{Kind: Buffered, Seg: seg11}, PlayerEvent{Kind: SegmentStarted, Seg: seg11},
			PlayerEvent{Kind: Underrun, Seg: seg11, Samples: 2980, At: 2980})
		r.write(seg11, 2980, 2880)
		r.expect(PlayerEvent{Kind: Buffered, Seg: seg11, Samples: 2980, At: 9 * 480})
		out = r.render(6)
		r.expectAudio(out[fadeSamples:], audioOf(seg11, 2980+fadeSamples, 2880-fadeSamples))
		r.end(seg11)
		r.render(1)
		r.expect(
			PlayerEvent{Kind: SegmentPlayed, Seg: seg11, Samples: 5860, Of: 5860, At: 15 * 480},
			PlayerEvent{Kind: Drained, Seg: seg11, Samples: 5860, Of: 5860, At: 15 * 480},
		)
	})
}

func TestWriteErrors(t *testing.T) {
	withRig(t, PlayerConfig{Capacity: time.Second}, func(r *rig) {
		r.write(SegmentID{3, 2}, 0, SampleRate)
		for _, c := range []struct {
			seg  SegmentID
			want error
		}{
			{SegmentID{3, 2}, ErrFull}, {SegmentID{3, 3}, ErrFull}, {SegmentID{2, 9}, nil}, {SegmentID{4, 1}, ErrGeneration},
		} {
			if err := r.Write(c.seg, make([]int16, 1)); !errors.Is(err, c.want) {
				t.Errorf("write to %v: %v, want %v", c.seg, err, c.want)
			}
		}
		r.Start(3)
		r.render(1)
		r.end(SegmentID{3, 2})
		r.end(SegmentID{3, 2})
		r.end(SegmentID{3, 1})
		for _, seq := range []uint32{1, 2} {
			if err := r.Write(SegmentID{3, seq}, make([]int16, 1)); !errors.Is(err, ErrSegment) {
				t.Errorf("write to 3.%d: %v", seq, err)
			}
		}
		r.Reset()
		r.render(1)
		r.write(SegmentID{1, 1}, 0, SampleRate) // a new conversation, with the buffer empty
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if err := r.Write(seg11, nil); !errors.Is(err, ErrClosed) {
			t.Errorf("write after Close: %v", err)
		}
		if !silent(r.render(2)[fadeSamples:]) {
			t.Error("sound after Close")
		}
	})
}

// TestBlockedListenerLosesNoEvents: playback waits instead of dropping events.
func TestBlockedListenerLosesNoEvents(t *testing.T) {
	const segments = 900
	release, done := make(chan struct{}), make(chan struct{})
	played := 0
	p := NewPlayer(PlayerConfig{}, func(ev PlayerEvent) {
		<-release
		switch ev.Kind {
		case SegmentPlayed:
			played++
		case Drained:
			close(done)
		}
	})
	for seq := uint32(1); seq <= segments; seq++ {
		if err := p.EndSegment(SegmentID{1, seq}); err != nil {
			t.Fatal(err)
		}
	}
	p.Start(1)
	var f Frame
	for range 100 {
		p.Render(&f)
	}
	close(release)
	for deadline := time.After(time.Minute); ; {
		p.Render(&f)
		select {
		case <-done:
			if played != segments {
				t.Errorf("%d segments were reported", played)
			}
			_ = p.Close()
			return
		case <-deadline:
			t.Fatal("not drained")
		default:
		}
	}
}

func TestRenderAllocatesNothing(t *testing.T) {
	p := NewPlayer(PlayerConfig{}, func(PlayerEvent) {})
	defer p.Close()
	pcm := make([]int16, FrameSamples)
	p.Start(1)
	var f Frame
	seq := uint32(0)
	if n := testing.AllocsPerRun(500, func() {
		seq++
		_ = p.Write(SegmentID{1, seq / 4}, pcm)
		p.Render(&f)
		p.Cursor()
	}); n != 0 {
		t.Errorf("%v allocations per frame", n)
	}
}

func BenchmarkPlayerRender(b *testing.B) {
	p := NewPlayer(PlayerConfig{}, func(PlayerEvent) {})
	defer p.Close()
	pcm := make([]int16, 119*SampleRate)
	p.Start(1)
	var f Frame
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if i%(len(pcm)/FrameSamples) == 0 {
			b.StopTimer()
			if err := p.Write(seg11, pcm); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
		}
		p.Render(&f)
	}
}

func BenchmarkPlayerWrite(b *testing.B) {
	p := NewPlayer(PlayerConfig{}, func(PlayerEvent) {})
	defer p.Close()
	pcm := make([]int16, FrameSamples)
	p.Start(1)
	var f Frame
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if err := p.Write(seg11, pcm); err != nil {
			b.Fatal(err)
		}
		if i%1000 == 999 {
			b.StopTimer()
			for range 1000 {
				p.Render(&f)
			}
			b.StartTimer()
		}
	}
}

// Prebuffer delays the start of playback, within the limits of the configuration and
// the capacity.
func TestPrebufferIsSet(t *testing.T) {
	for _, c := range []struct {
		set    time.Duration
		frames int
	}{{0, 6}, {20 * time.Millisecond, 6}, {100 * time.Millisecond, 10}, {time.Hour, 50}} {
		p := NewPlayer(PlayerConfig{Capacity: time.Second}, func(PlayerEvent) {})
		p.Prebuffer(c.set)
		p.Flush(1)
		p.Start(1)
		var pcm, out Frame
		for i := range pcm {
			pcm[i] = 1000
		}
		written := 0
		for out == (Frame{}) && written < 100 {
			if err := p.Write(SegmentID{Gen: 1, Seq: 1}, pcm[:]); err != nil {
				t.Fatal(err)
			}
			written++
			p.Render(&out)
		}
		if written != c.frames {
			t.Errorf("with %v playback starts after %d frames, want %d", c.set, written, c.frames)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}
