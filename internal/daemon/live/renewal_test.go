//go:build cgo

package live

import (
	"errors"
	"flag"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime"
	"github.com/agentvoice/agentvoice-daemon/audio/realtime"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/connection"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// Flags of `make renewals`.
var (
	sessionLimit = flag.Duration("session-limit", 20*time.Second, "how long a session of the renewal test lasts")
	renewFor     = flag.Duration("renew-for", 0, "how long the renewal test talks at least; 0 is until three sessions were replaced")
)

// limited returns an embedded server whose sessions last that long.
func limited(limit time.Duration) func(SpeechChoice) (localrealtime.Config, error) {
	return func(v SpeechChoice) (localrealtime.Config, error) {
		cfg, err := engines(SpeechChoice{})
		cfg.SessionLimit = limit
		return cfg, err
	}
}

// gaps is a tap that measures the pauses within the assistant's speech: silence between
// two sounds of the same answer.
type gaps struct {
	mu      sync.Mutex
	quiet   int64   // samples of silence since the last sound; -1 before the first
	longest []int64 // per answer
}

func (g *gaps) User(int64, *audio.Frame) {}

func (g *gaps) Assistant(f *audio.Frame) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, s := range f {
		switch loud := s > 30 || s < -30; {
		case g.quiet < 0 && !loud:
		case loud:
			last := &g.longest[len(g.longest)-1]
			*last, g.quiet = max(*last, g.quiet), 0
		default:
			g.quiet++
		}
	}
}

// answer starts a new answer with the next sound.
func (g *gaps) answer() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.quiet, g.longest = -1, append(g.longest, 0)
}

func (g *gaps) all() (longest []time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, n := range g.longest {
		longest = append(longest, audio.Duration(n).Round(time.Millisecond))
	}
	return longest
}

// crossing is the replacement of one session by the next.
type crossing struct {
	expires              time.Time
	asked, stood, hungUp time.Time
	oldEpoch, nextEpoch  uint32
}

// watch records the crossings of a conversation.
func (tk *talk) watch() func() []crossing {
	var mu sync.Mutex
	var all []crossing
	done := make(chan struct{})
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			var e csm.Event
			select {
			case e = <-tk.events:
			case <-done:
				return
			}
			now := time.Now()
			mu.Lock()
			switch e := e.(type) {
			case csm.SessionExpiring:
				c := crossing{asked: now}
				if live := tk.w.link.live.Load(); live != nil {
					c.oldEpoch = live.epoch.Load()
					c.expires, _ = live.client.Expires()
				}
				all = append(all, c)
			case csm.ConnReady:
				if n := len(all); n > 0 && all[n-1].stood.IsZero() {
					all[n-1].stood, all[n-1].nextEpoch = now, e.Epoch
				}
			case csm.ConnClosed:
				if n := len(all); n > 0 && all[n-1].oldEpoch == e.Epoch {
					all[n-1].hungUp = now
				}
			default:
			}
			mu.Unlock()
		}
	}()
	tk.t.Cleanup(func() { close(done); <-stopped })
	return func() []crossing {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(all)
	}
}

// One conversation outlives three sessions: each is replaced before the service ends
// it, while both sides keep speaking. Every utterance is heard and answered once, only
// the states of its turns are entered, and playback has no gap. It runs in real time.
//
//test:realtime
func TestRenewalCrossesThreeLimitsInOneConversation(t *testing.T) {
	const wanted = 3
	limit := *sessionLimit
	mouth, sound := &mouth{pace: 1}, &gaps{quiet: -1}
	quiet := func(s *protocol.Settings) { s.Cues.Enabled = false } // only the answers are audible
	tk := newTalkOver(t, quiet, Config{
		Source: func(protocol.Settings) (audio.Source, error) { return mouth, nil },
		Sink:   func(protocol.Settings) (audio.Sink, error) { return loudspeaker{pace: 1}, nil },
		Speed:  1, Tap: sound, Engines: limited(limit),
	})
	crossings := tk.watch()
	crossed := func() (n int) {
		for _, c := range crossings() {
			if !c.hungUp.IsZero() {
				n++
			}
		}
		return n
	}
	tk.agent.become(says("This comes over one session. The rest comes over the next."))
	turns := 0
	for began := time.Now(); crossed() < wanted || time.Since(began) < *renewFor; turns++ {
		if time.Since(began) > max(6*limit, *renewFor+2*limit) {
			t.Fatalf("%d sessions were replaced after %v and %d turns", crossed(), time.Since(began), turns)
		}
		tk.mouth = mouth
		tk.mouth.say(t, sentence)
		tk.want(protocol.StateProcessing) // by now the tap has the last frame of the answer before
		sound.answer()
		tk.want(protocol.StateWaitingForCopilot, protocol.StateProcessing, protocol.StateSpeaking, protocol.StateListening)
	}
	tk.mu.Lock()
	heard := 0
	for _, w := range tk.words {
		if w.Role == protocol.RoleUser && w.Text != "" {
			heard++
		}
	}
	for _, e := range tk.errors {
		t.Errorf("error %s", e.Code)
	}
	tk.mu.Unlock()
	if heard != turns || len(tk.agent.requests()) != turns || tk.d.State().Instance != 1 {
		t.Errorf("%d turns: %d were heard, %d were asked, in conversation %d; want each once, in the first", turns, heard, len(tk.agent.requests()), tk.d.State().Instance)
	}
	over := slices.DeleteFunc(crossings(), func(c crossing) bool { return c.hungUp.IsZero() })
	for i, c := range over {
		t.Logf("crossing %d: successor asked for %v before the limit, ready after %v, old session hung up %v before the limit",
			i+1, c.expires.Sub(c.asked).Round(time.Millisecond), c.stood.Sub(c.asked).Round(time.Millisecond), c.expires.Sub(c.hungUp).Round(time.Millisecond))
		if c.nextEpoch != c.oldEpoch+1 || !c.hungUp.Before(c.expires) {
			t.Errorf("crossing %d: %+v; want the next session before the old one ends", i+1, c)
		}
	}
	longest := slices.Max(sound.all())
	t.Logf("%d sessions of %v replaced, %d turns, %d heard, %d asked; longest gap in the playback of an answer %v, of each %v",
		len(over), limit, turns, heard, len(tk.agent.requests()), longest, sound.all())
	if longest > 200*time.Millisecond {
		t.Errorf("a gap of %v in playback", longest)
	}
}

// An answer longer than the margin reaches the end of the session: the conversation
// pauses for a forced renewal, and the rest of the answer is spoken over the next
// session.
//
//test:long
func TestForcedRenewalPausesAndFinishesTheAnswer(t *testing.T) {
	tk := newTalkOver(t, nil, Config{
		Source: func(protocol.Settings) (audio.Source, error) { return &mouth{}, nil },
		Sink:   func(protocol.Settings) (audio.Sink, error) { return loudspeaker{}, nil },
		Speed:  speed, Engines: limited(4 * time.Second),
	})
	const story = "This answer is longer than what is left of the session. "
	tk.agent.become(says(strings.Repeat(story, 4)))
	tk.sendText("tell me a story")
	tk.answered()
	pauses := 0
	// A busy machine takes longer than a session, perhaps even to resume.
	was := protocol.StateSpeaking
	for now := tk.next(); now.State != protocol.StateListening; now = tk.next() {
		if now.TurnID != "turn-1" {
			t.Fatalf("state %v (%v) in %v, want the rest of turn-1", now.State, now.Cause, now.TurnID)
		}
		switch {
		case now.State == protocol.StateSuspended && now.Cause == protocol.CauseSessionRenewal:
			pauses++
		case now.State == protocol.StateProcessing && was == protocol.StateSuspended: // the rest is synthesised again
		case now.State == protocol.StateSpeaking && was == protocol.StateProcessing:
		default:
			t.Fatalf("state %v (%v) after %v, want suspended by session.renewal, or a step towards speaking", now.State, now.Cause, was)
		}
		was = now.State
	}
	if pauses == 0 {
		t.Error("the answer met no end of a session")
	}
	tk.mu.Lock()
	defer tk.mu.Unlock()
	known := func(p protocol.SessionParams) bool {
		left := time.Until(p.ExpiresAt.Time)
		return p.State == protocol.SessionReady && left > -time.Minute && left < 4*time.Second
	}
	renewing := func(p protocol.SessionParams) bool { return p.Renewing }
	if !slices.ContainsFunc(tk.lives, known) || !slices.ContainsFunc(tk.lives, renewing) {
		t.Errorf("the session was published as %+v; want when it expires, and that it is renewed", tk.lives)
	}
	if len(tk.agent.requests()) != 1 || tk.d.State().Instance != 1 || len(tk.errors) != 0 {
		t.Errorf("%d requests in conversation %d, errors %+v; want 1 in the first", len(tk.agent.requests()), tk.d.State().Instance, tk.errors)
	}
}

// renewing is a conversation in the middle of an answer, with an established successor.
func renewing(t *testing.T) (tk *talk, old, next *call) {
	t.Helper()
	tk = newTalk(t, nil)
	tk.agent.become(says("This answer is under way when the session ends and its rest is spoken over the next one."))
	tk.sendText("tell me a story")
	tk.answered()
	old = tk.w.link.live.Load()
	tk.d.Post(csm.SessionExpiring{Instance: old.instance})
	tk.await("successor", func(e csm.Event) bool {
		ready, ok := e.(csm.ConnReady)
		return ok && ready.Epoch == connection.Epoch(tk.d.State().Conn)+1
	})
	tk.w.link.mu.Lock()
	defer tk.w.link.mu.Unlock()
	if next = tk.w.link.next; next == nil {
		t.Fatal("the successor took over while the assistant spoke")
	}
	return tk, old, next
}

// An answer longer than the margin finishes on the successor that has been established
// by then: nothing is dialled while the conversation pauses.
//
//test:long
func TestAForcedRenewalTakesTheSuccessorThatStands(t *testing.T) {
	tk, old, next := renewing(t)
	old.hearer.Lost(realtime.CodeSessionExpired, errors.New("the session reached its limit"))
	tk.want(protocol.StateSuspended, protocol.StateProcessing, protocol.StateSpeaking, protocol.StateListening)
	if now := tk.w.link.live.Load(); now != next {
		t.Errorf("the answer was finished over %p, want the successor %p", now, next)
	}
	tk.mouth.say(t, sentence)
	tk.answered()
	tk.want(protocol.StateListening)
	if tk.lastUserWords() == "" || len(tk.errors) != 0 {
		t.Errorf("heard %q over the successor, errors %+v", tk.lastUserWords(), tk.errors)
	}

	// Its loss is noticed like any other.
	next.hearer.Lost(realtime.CodeConnectionLost, errors.New("gone"))
	tk.want(protocol.StateSuspended, protocol.StateListening)
	if now := tk.w.link.live.Load(); now == nil || now == next {
		t.Errorf("after the loss of %p the call is %p", next, now)
	}
}

// A successor that is lost while it waits is not used.
func TestASuccessorThatIsGoneIsNotTaken(t *testing.T) {
	tk, old, next := renewing(t)
	next.hearer.Lost(realtime.CodeConnectionLost, errors.New("gone"))
	old.hearer.Lost(realtime.CodeSessionExpired, errors.New("the session reached its limit"))
	tk.want(protocol.StateSuspended, protocol.StateProcessing, protocol.StateSpeaking, protocol.StateListening)
	if now := tk.w.link.live.Load(); now == nil || now == next || now == old {
		t.Errorf("the answer was finished over %p, after %p and %p were lost", now, old, next)
	}
}

// The preroll replays only frames sent to another call, without those before a gap in
// the captured positions.
func TestPrerollIsWhatWasSentToTheCallBefore(t *testing.T) {
	var p preroll
	first, next := &call{}, &call{}
	at := int64(0)
	push := func(c *call, n int) {
		for range n {
			p.push(c, at, &audio.Frame{0: int16(at / audio.FrameSamples)})
			at += audio.FrameSamples
		}
	}
	replayed := func(c *call, pos int64) (first int16, n int) {
		p.replay(c, pos, func(f *audio.Frame) {
			if n == 0 {
				first = f[0]
			}
			n++
		})
		return first, n
	}
	if _, n := replayed(first, 0); n != 0 {
		t.Errorf("%d frames before there were any", n)
	}
	push(first, 100)
	if _, n := replayed(first, at); n != 0 {
		t.Errorf("%d frames again to the call that has them", n)
	}
	if f, n := replayed(next, at); n != prerollFrames || f != 100-prerollFrames {
		t.Errorf("%d frames from %d, want the last %d", n, f, prerollFrames)
	}
	if _, n := replayed(next, at+audio.FrameSamples); n != 0 {
		t.Errorf("%d frames from before a hole", n)
	}
	at += 50 * audio.FrameSamples
	push(first, 3)
	if f, n := replayed(next, at); n != 3 || f != 150 {
		t.Errorf("%d frames from %d after a hole, want 3 from 150", n, f)
	}
}

func TestRenewalMarginLeavesTheSessionMostOfItsLife(t *testing.T) {
	for life, want := range map[time.Duration]time.Duration{
		time.Hour: 3 * time.Minute, 30 * time.Minute: 3 * time.Minute, 4 * time.Minute: time.Minute, -time.Second: 0,
	} {
		if got := renewalMargin(life); got != want {
			t.Errorf("a session of %v is replaced %v before its end, want %v", life, got, want)
		}
	}
}
