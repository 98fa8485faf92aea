package live

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/csm"
)

// restingSink is a fake speaker that can rest.
type restingSink struct {
	nappingDevice
	mu      sync.Mutex
	resting bool
	rested  int
	sounded []time.Time // frames that were not silent
}

func (s *restingSink) Rest()       { s.set(true) }
func (s *restingSink) Wake()       { s.set(false) }
func (s *restingSink) set(on bool) { s.mu.Lock(); defer s.mu.Unlock(); s.resting = on }

func (s *restingSink) Rested() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.resting {
		n, s.rested = s.rested, 0
	}
	return n
}

func (s *restingSink) Run(ctx context.Context, render func(*audio.Frame)) error {
	return s.run(ctx, func(int64) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.resting {
			s.rested++
			return
		}
		var f audio.Frame
		for ; s.rested > 0; s.rested-- {
			render(&f)
		}
		if render(&f); f != (audio.Frame{}) {
			s.sounded = append(s.sounded, time.Now())
		}
	})
}

func (s *restingSink) atRest() bool { s.mu.Lock(); defer s.mu.Unlock(); return s.resting }

// frameCounter is a Tap that counts rendered frames.
type frameCounter struct{ rendered atomic.Int64 }

func (*frameCounter) User(int64, *audio.Frame)   {}
func (c *frameCounter) Assistant(f *audio.Frame) { c.rendered.Add(1) }

// TestSilentSpeakerRests: after a second of silence the speaker plays silence by itself,
// and the next sound, speech or a cue, is in its very next frame. Every played frame is
// rendered, because the echo canceller counts them.
func TestSilentSpeakerRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source, sink, count := &nappingSource{}, &restingSink{}, &frameCounter{}
		w := capturing(t, Config{Tap: count}, source, sink)
		rests := func(when string) {
			t.Helper()
			time.Sleep(1500 * time.Millisecond)
			synctest.Wait()
			if !sink.atRest() {
				t.Errorf("%s: the speaker does not rest", when)
			}
			time.Sleep(5 * time.Second)
			synctest.Wait()
			rendered := count.rendered.Load()
			if played := sink.frames.Load(); rendered < played-1 || rendered > played {
				t.Errorf("%s: %d frames rendered of %d played", when, rendered, played)
			}
		}
		sounds := func(what string, order func()) {
			t.Helper()
			sink.mu.Lock()
			sink.sounded = nil
			sink.mu.Unlock()
			begun := time.Now()
			order()
			time.Sleep(100 * time.Millisecond)
			synctest.Wait()
			sink.mu.Lock()
			defer sink.mu.Unlock()
			if len(sink.sounded) == 0 || sink.sounded[0].Sub(begun) > audio.FrameTime {
				t.Errorf("%s: sounded at %v, %v after its order", what, sink.sounded, begun)
			}
		}
		rests("listening")
		speech := make([]int16, audio.SampleRate/4)
		for i := range speech {
			speech[i] = 8000
		}
		sounds("speech", func() {
			seg := audio.SegmentID{Gen: 1, Seq: 1}
			w.voice.audio(seg, speech)
			w.voice.ended(seg)
			w.Execute(csm.StartPlayback{Gen: 1})
		})
		rests("after speech")
		sounds("an aside", func() {
			w.aside.audio(audio.SegmentID{Seq: w.aside.last}, speech)
			w.aside.ended(audio.SegmentID{Seq: w.aside.last})
		})
		rests("after an aside")
		w.Execute(csm.CloseAudio{Instance: 1})
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
}
