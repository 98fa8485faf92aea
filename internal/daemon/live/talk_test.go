//go:build cgo

package live

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
	"github.com/agentvoice/agentvoice-daemon/protocol"
	"github.com/agentvoice/agentvoice-daemon/session/usage"
)

// talk is a conversation under test.
type talk struct {
	t     *testing.T
	clock *talkClock
	d     *daemon.Daemon
	w     *World
	mouth *mouth
	agent *answers

	mu     sync.Mutex
	states []protocol.StateParams
	words  []protocol.TranscriptParams
	notes  []protocol.NotificationParams
	errors []protocol.ErrorParams
	turns  []protocol.TurnParams
	tools  []protocol.ToolParams
	lives  []protocol.SessionParams
	mics   []protocol.Microphone
	news   chan struct{}
	events chan csm.Event                  // of the World
	read   int                             // of states
	dry    bool                            // playback waits for the engine
	limit  time.Duration                   // of each wait; 0 means patience
	twice  atomic.Bool                     // every World event is delivered twice
	posted atomic.Pointer[func(csm.Event)] // called with each event before it is posted; may be nil
	uses   []usage.Use                     // that were recorded
	marks  []mark                          // every state and World event, with its time
}

func newTalk(t *testing.T, change func(*protocol.Settings)) *talk {
	t.Helper()
	mouth := &mouth{}
	tk := newTalkOver(t, change, Config{
		Source: func(protocol.Settings) (audio.Source, error) { return mouth, nil },
		Sink:   func(protocol.Settings) (audio.Sink, error) { return loudspeaker{}, nil },
		Speed:  speed,
	})
	tk.mouth = mouth
	return tk
}

// newTalkOver begins a conversation on the devices of cfg.
func newTalkOver(t *testing.T, change func(*protocol.Settings), cfg Config) *talk {
	t.Helper()
	tk := idleTalk(t, change, cfg)
	tk.d.Post(csm.UserStart{})
	tk.want(protocol.StatePreparing, protocol.StateListening)
	return tk
}

// idleTalk is a daemon on the devices of cfg without a conversation.
func idleTalk(t *testing.T, change func(*protocol.Settings), cfg Config) *talk {
	t.Helper()
	agent := &answers{send: says("Here is the answer.")}
	return talkTo(t, agent, agent, change, cfg)
}

// talkTo is a daemon whose adapter is the agent, or one around it with more
// capabilities.
func talkTo(t *testing.T, agent *answers, adapter copilot.Adapter, change func(*protocol.Settings), cfg Config) *talk {
	t.Helper()
	if _, err := os.Stat(recordings); err != nil {
		t.Fatalf("the recordings are missing; install pocketsphinx-testdata (make deps): %v", err)
	}
	set := protocol.DefaultSettings()
	set.TurnDetection.Mode = protocol.TurnServer
	set.Conversation.StartTimeout = patience // a busy machine loads the engines for longer than a user would wait
	if change != nil {
		change(&set)
	}
	tk := &talk{t: t, clock: &talkClock{}, agent: agent, news: make(chan struct{}, 1), events: make(chan csm.Event, 4096)}
	if cfg.Engines == nil {
		cfg.Engines = engines
	}
	if cfg.Detector == nil {
		cfg.Detector = detector
	}
	cfg.Log = zerolog.New(zerolog.NewTestWriter(t)).Level(zerolog.WarnLevel)
	world := New(cfg)
	tk.d = daemon.New(daemon.Config{
		Clock: tk.clock, Started: time.Now(), Settings: set, Adapter: adapter, Verify: true,
		Notify: tk.notify, Log: zerolog.New(zerolog.NewTestWriter(t)).Level(zerolog.WarnLevel),
		World: func(p daemon.Port) daemon.World {
			post := p.Post
			p.Post = func(e csm.Event) {
				tk.mark(csm.KindOf(e).String())
				if posted := tk.posted.Load(); posted != nil {
					(*posted)(e)
				}
				post(e)
				if tk.twice.Load() {
					post(e)
				}
				select {
				case tk.events <- e:
				default: // dropped; tests that read events are too short to get here
				}
			}
			used := p.Used
			p.Used = func(u usage.Use) {
				tk.mu.Lock()
				tk.uses = append(tk.uses, u)
				tk.mu.Unlock()
				used(u)
			}
			w := world(p)
			tk.w = w.(*World)
			return w
		},
	})
	ctx, stop := context.WithCancel(context.Background())
	finished := make(chan error, 1)
	go func() { finished <- tk.d.Run(ctx) }()
	var ticking sync.WaitGroup
	ticking.Go(func() { tk.clock.run(ctx, cfg.Speed) })
	t.Cleanup(func() {
		stop()
		ticking.Wait()
		if err := <-finished; err != nil {
			t.Errorf("closing: %v", err)
		}
		// 000.4.1: at most one answer is in progress at a time, in every test.
		if agent.most > 1 {
			t.Errorf("%d requests were under way at a time", agent.most)
		}
	})
	return tk
}

func (tk *talk) notify(_ string, params any) {
	tk.mu.Lock()
	defer tk.mu.Unlock()
	switch p := params.(type) {
	case protocol.StateParams:
		tk.marks = append(tk.marks, mark{string(p.State), time.Now()})
		tk.state(p)
	case protocol.TranscriptParams:
		if p.Final {
			tk.words = append(tk.words, p)
		}
	case protocol.NotificationParams:
		tk.notes = append(tk.notes, p)
	case protocol.Microphone:
		tk.mics = append(tk.mics, p)
	case protocol.SessionParams:
		tk.lives = append(tk.lives, p)
	case protocol.TurnParams:
		tk.turns = append(tk.turns, p)
	case protocol.ToolParams:
		tk.tools = append(tk.tools, p)
	case protocol.ErrorParams:
		tk.errors = append(tk.errors, p)
		tk.t.Logf("error %s: %s", p.Code, p.Message)
	}
	select {
	case tk.news <- struct{}{}:
	default:
	}
}

// state records a state. It skips underruns, because whether playback waits for the
// engine in the middle of an answer depends on the machine's load. The caller holds mu.
func (tk *talk) state(p protocol.StateParams) {
	resumed := tk.dry && p.State == protocol.StateSpeaking
	if tk.dry = p.Cause == protocol.CauseTTSUnderrun; !tk.dry && !resumed {
		tk.states = append(tk.states, p)
	}
}

// mark is the time of an occurrence.
type mark struct {
	what string
	at   time.Time
}

func (tk *talk) mark(what string) {
	tk.mu.Lock()
	defer tk.mu.Unlock()
	tk.marks = append(tk.marks, mark{what, time.Now()})
}

// took returns the durations from each mark from to the next mark to.
func (tk *talk) took(from, to string) (times []time.Duration) {
	tk.mu.Lock()
	defer tk.mu.Unlock()
	var begin time.Time
	for _, m := range tk.marks {
		switch {
		case m.what == from:
			begin = m.at
		case m.what == to && !begin.IsZero():
			times = append(times, m.at.Sub(begin))
			begin = time.Time{}
		}
	}
	return times
}

// patience returns the limit of a wait.
func (tk *talk) patience() time.Duration {
	if tk.limit == 0 {
		return patience
	}
	return tk.limit
}

// next waits for the next state.
func (tk *talk) next() protocol.StateParams {
	tk.t.Helper()
	for limit := time.After(tk.patience()); ; {
		tk.mu.Lock()
		if tk.read < len(tk.states) {
			defer tk.mu.Unlock()
			tk.read++
			return tk.states[tk.read-1]
		}
		tk.mu.Unlock()
		select {
		case <-tk.news:
		case <-limit:
			tk.t.Fatalf("no state within %v; the core is in %v", tk.patience(), tk.d.State().Phase())
		}
	}
}

// want waits for the next states, in this order, with only underruns in between.
func (tk *talk) want(states ...protocol.State) {
	tk.t.Helper()
	for _, want := range states {
		if got := tk.next(); got.State != want {
			tk.t.Fatalf("state %v (%v), want %v\n%s", got.State, got.Cause, want, tk.history())
		}
	}
}

// history lists the states so far.
func (tk *talk) history() string {
	tk.mu.Lock()
	defer tk.mu.Unlock()
	var b strings.Builder
	for _, p := range tk.states {
		fmt.Fprintf(&b, "%v by %v\n", p.State, p.Cause)
	}
	return b.String()
}

// ended waits for the end of a turn, which is published after the resulting state.
func (tk *talk) ended() protocol.TurnParams {
	tk.t.Helper()
	limit := time.After(patience)
	for {
		tk.mu.Lock()
		i := slices.IndexFunc(tk.turns, func(p protocol.TurnParams) bool { return p.Event != protocol.TurnStarted })
		var end protocol.TurnParams
		if i >= 0 {
			end = tk.turns[i]
		}
		tk.mu.Unlock()
		if i >= 0 {
			return end
		}
		select {
		case <-tk.news:
		case <-limit:
			tk.t.Fatalf("no turn ended within %v; the core is in %v", patience, tk.d.State().Phase())
		}
	}
}

func (tk *talk) sendText(text string) {
	tk.t.Helper()
	if err := tk.d.SendText(text, func(csm.Reply, protocol.Snapshot) {}); err != nil {
		tk.t.Fatal(err)
	}
}

// answered waits for a whole turn up to its first word.
func (tk *talk) answered() {
	tk.t.Helper()
	tk.want(protocol.StateProcessing, protocol.StateWaitingForCopilot, protocol.StateProcessing, protocol.StateSpeaking)
}

func (tk *talk) lastUserWords() string {
	tk.mu.Lock()
	defer tk.mu.Unlock()
	for i := len(tk.words) - 1; i >= 0; i-- {
		if tk.words[i].Role == protocol.RoleUser {
			return tk.words[i].Text
		}
	}
	return ""
}
