//go:build cgo

package live

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/vad"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// noting is a service that records the frames that it gets, identified by their first
// sample.
type noting struct {
	Hearing
	got []int16
	pos int64
}

func (d *noting) WriteFrame(f *audio.Frame)       { d.got = append(d.got, f[0]); d.pos += audio.FrameSamples }
func (d *noting) SkipFrame(f *audio.Frame)        { d.pos += audio.FrameSamples }
func (d *noting) Position() int64                 { return d.pos }
func (d *noting) CommitInput(uint64, int64, bool) {}
func (d *noting) ClearInput()                     {}
func (d *noting) HoldInput(string)                {}
func (d *noting) ForgetInput()                    {}

// gapped is an ear whose frames go to calls that record them.
type gapped struct {
	*ear
	warned int
	next   int64
	first  *call
}

func newGapped(t *testing.T) *gapped {
	g := &gapped{}
	w := &World{port: daemon.Port{
		Warn:         func(code protocol.ErrorCode, _ string) { g.warned++ },
		Post:         func(csm.Event) {},
		NewUtterance: func() uint64 { return 1 },
	}}
	w.devices, w.link = newDevices(w), &link{w: w}
	w.cues, w.service = newCues(func(*audio.Frame) {}, func() {}), &service{}
	w.grace = newGrace(w)
	g.ear = &ear{w: w}
	w.devices.ear.Store(g.ear)
	g.first = g.call(false)
	t.Cleanup(func() { w.devices.q.Close(); w.cues.shut() })
	return g
}

// call makes a new call live.
func (g *gapped) call(used bool) *call {
	c := &call{link: g.w.link, client: &noting{}, gate: &gate{used: used, hold: audio.Samples(2 * time.Second)}}
	c.hearer = &hearer{w: g.w, call: c}
	c.hearer.match = newMatcher(g.w.port, 1, true, func(int64, int64) bool { return false })
	g.w.link.live.Store(c)
	return c
}

// capture delivers n frames as the devices do.
func (g *gapped) capture(n int, possible bool, marks ...vad.Mark) {
	for range n {
		if !g.w.devices.held.Load() || g.keeps() {
			g.pass(g.next, &audio.Frame{0: int16(g.next / audio.FrameSamples)}, possible, possible, marks)
		}
		g.next += audio.FrameSamples
	}
}

func (g *gapped) onset() { g.capture(1, true, vad.Mark{Kind: vad.Onset, Pos: g.next, Decided: g.next}) }

// lose simulates the loss of the live call, which suspends the conversation.
func (g *gapped) lose(unheard time.Duration) (kept bool) {
	kept = g.lostCall(g.w.link.live.Load(), unheard)
	g.w.link.live.Store(nil)
	g.w.Held(csm.SuspendConnection)
	g.w.devices.hold(true)
	return kept
}

// resume establishes a new call.
func (g *gapped) resume() *noting {
	c := g.call(true)
	g.w.Held(0)
	g.w.devices.hold(false)
	return c.client.(*noting)
}

func wantFrames(t *testing.T, got []int16, from, to int) {
	t.Helper()
	if len(got) != to-from {
		t.Fatalf("%d frames %v, want those from %d to %d", len(got), got, from, to)
	}
	for i, f := range got {
		if int(f) != from+i {
			t.Fatalf("frame %d is number %d, want %d", i, f, from+i)
		}
	}
}

// What a lost call did not answer, and what was said without a call, goes to the next
// call once and in order, including the half second before it.
func TestBacklogOfAGap(t *testing.T) {
	for name, c := range map[string]struct {
		said    bool // the user was speaking from frame 200 on
		unheard time.Duration
		from    int // the first frame of the next call
	}{
		"silence":               {from: 250},
		"an outage":             {unheard: time.Second, from: 150},
		"in mid-sentence":       {said: true, from: 150},
		"both, a longer outage": {said: true, unheard: 2 * time.Second, from: 50},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGapped(t)
			g.capture(200, true)
			if c.said {
				g.onset()
			} else {
				g.capture(1, true)
			}
			g.capture(99, true)
			if !g.lose(c.unheard) {
				t.Error("what was said is not kept")
			}
			g.capture(300, true)
			next := g.resume()
			g.capture(200, true)
			wantFrames(t, next.got, c.from, 800)
			if g.warned != 0 {
				t.Error("the user was warned")
			}
			if spoken := len(g.w.link.live.Load().hearer.match.spoken); (spoken == 1) != c.said {
				t.Errorf("%d utterances are open over the next call", spoken)
			}
		})
	}
}

// A gap that lasts too long, or a pause by the user, ends it: the kept audio is wiped,
// and the user is told that words were lost.
func TestBacklogIsGivenUp(t *testing.T) {
	for name, end := range map[string]func(*gapped){
		"too long":           func(g *gapped) { g.backlog.gap.Load().until = time.Now().Add(-1) },
		"paused by the user": func(g *gapped) { g.w.Held(csm.SuspendConnection | csm.SuspendUser) },
		"the client is gone": func(g *gapped) { g.w.Held(csm.SuspendConnection | csm.SuspendHeartbeat) },
	} {
		t.Run(name, func(t *testing.T) {
			g := newGapped(t)
			g.onset()
			g.capture(100, true)
			g.lose(0)
			g.capture(100, true)
			end(g)
			g.capture(10, true)
			for i := range g.backlog.heard {
				if h := &g.backlog.heard[i]; h.frame != (audio.Frame{}) || h.pos != 0 {
					t.Fatal("audio is kept")
				}
			}
			next := g.resume()
			g.capture(5, true)
			wantFrames(t, next.got, 211, 216)
			if g.warned != 1 {
				t.Errorf("the user was warned %d times, want once", g.warned)
			}
		})
	}
}

// A conversation that was already suspended keeps nothing.
func TestNothingIsKeptWhilePaused(t *testing.T) {
	g := newGapped(t)
	g.capture(50, true)
	g.w.Held(csm.SuspendUser)
	g.w.devices.hold(true)
	if g.lose(time.Second) || g.backlog.gap.Load() != nil {
		t.Error("a gap began under the user's pause")
	}
	g.capture(50, true)
	if g.backlog.n != 0 {
		t.Errorf("%d frames are kept", g.backlog.n)
	}
}

// An utterance that began before the kept audio is lost as a whole, and the core
// reports it. Speech within the gap is not lost.
func TestAnUtteranceOlderThanTheBacklog(t *testing.T) {
	g := newGapped(t)
	g.onset()
	g.capture(backlogFrames, true)
	if g.lose(0) {
		t.Error("it counts as kept")
	}
	g.capture(20, true)
	next := g.resume()
	g.capture(10, true)
	wantFrames(t, next.got, backlogFrames+1-50, backlogFrames+1+30)
}

// With a service that accepts audio only in real time, the backlog catches up in
// pauses: one frame per captured frame, and a silence longer than the end of a turn is
// skipped.
func TestCatchingUpInPauses(t *testing.T) {
	g := newGapped(t)
	g.capture(100, true)
	g.lose(0)
	g.capture(100, true)  // speech
	g.capture(600, false) // then silence
	g.resume()
	next := g.call(false).client.(*noting)
	const hold = 200 // frames
	g.capture(150+hold, false)
	sent := 150 + hold // half a second before the gap, the speech, and the pause after it
	wantFrames(t, next.got[:sent], 50, 50+sent)
	g.capture(1, false)
	if late := g.backlog.n - g.backlog.sent; late > 50 {
		t.Errorf("%d frames are still to be sent after the pause", late)
	}
	g.capture(100, true)
	if last := next.got[len(next.got)-1]; int64(last) < g.next/audio.FrameSamples-52 {
		t.Errorf("the service is at frame %d of %d", last, g.next/audio.FrameSamples)
	}
}

func TestUnanswered(t *testing.T) {
	const silent, now = 5000, 9000
	for name, c := range map[string]struct {
		spoken     []*utterance
		heardTo    int64
		from       int64
		owes, kept bool
	}{
		"nothing said":               {from: silent, kept: true},
		"an answered utterance":      {heardTo: 6000, from: 6000, kept: true},
		"one is awaited":             {spoken: []*utterance{{from: 4000}}, heardTo: 3000, from: 4000, owes: true, kept: true},
		"one in the outage":          {spoken: []*utterance{{from: 7000}}, from: silent, owes: true, kept: true},
		"one that is not kept":       {spoken: []*utterance{{from: 100}, {from: 7000}}, from: now, owes: true},
		"one that was begun by hand": {spoken: []*utterance{{from: 7000, pressed: true}}, from: now, owes: true},
	} {
		m := &matcher{spoken: c.spoken, heardTo: c.heardTo}
		if from, owes, kept := m.unanswered(silent, now, 1000); from != c.from || owes != c.owes || kept != c.kept {
			t.Errorf("%s: from %d, owes %v, kept %v; want %d, %v, %v", name, from, owes, kept, c.from, c.owes, c.kept)
		}
	}
}

// TestKeptSpeechCountsFromItsTime: the delay of an onset counts from when the microphone
// had it, whether it is sent at once or after a gap.
func TestKeptSpeechCountsFromItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGapped(t)
		g.w.cfg.Speed, g.w.began = 1, time.Now()
		var delays []time.Duration
		g.w.port.Post = func(e csm.Event) {
			s, ok := e.(csm.SpeechStarted)
			if !ok {
				return
			}
			// The microphone had the sample at a position as long after began.
			if want := time.Since(g.w.began) - audio.Duration(s.Pos); s.Late != want {
				t.Errorf("the onset at %d is %v late, want %v", s.Pos, s.Late, want)
			}
			delays = append(delays, s.Late)
		}
		frames := func(n int, marks ...vad.Mark) {
			for range n {
				time.Sleep(audio.FrameTime)
				g.clock.delivered(g.next+audio.FrameSamples, g.w.now())
				g.capture(1, true, marks...)
			}
		}
		onset := func() { frames(1, vad.Mark{Kind: vad.Onset, Pos: g.next, Decided: g.next + audio.FrameSamples}) }
		frames(100)
		onset()
		frames(99)
		if g.lose(0); len(delays) != 1 || delays[0] != audio.FrameTime {
			t.Errorf("before the gap, onsets are late by %v, want one by %v", delays, audio.FrameTime)
		}
		frames(300)
		g.resume()
		frames(100)
		if len(delays) != 2 || delays[1] < 4*time.Second {
			t.Errorf("after the gap, onsets are late by %v, want another by at least 4 s", delays)
		}
	})
}
