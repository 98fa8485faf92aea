//go:build cgo

package live

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// Requirements that are proved for the core and that a live daemon must also meet.

// lateMouth is a mouth that opens and delivers when the test allows it.
type lateMouth struct {
	mouth
	open, run      chan struct{}
	opened, closed int // used by the devices' queue only
}

func (g *lateMouth) Open(ctx context.Context) error {
	<-g.open
	g.opened++
	return g.mouth.Open(ctx)
}

func (g *lateMouth) Close() error {
	time.Sleep(100 * time.Millisecond) // 000.4.8: the end waits for it
	g.closed++
	return g.mouth.Close()
}

func (g *lateMouth) Run(ctx context.Context, deliver func(int64, *audio.Frame)) error {
	select {
	case <-g.run:
		return g.mouth.Run(ctx, deliver)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// now returns the last published state.
func (tk *talk) now() protocol.State {
	tk.mu.Lock()
	defer tk.mu.Unlock()
	if len(tk.states) == 0 {
		return protocol.StateIdle
	}
	return tk.states[len(tk.states)-1].State
}

// TestREQ002REQ003StartWaitsForTheMicrophone: without an open device there is no
// Preparing, and without one of its frames no Listening. At the end everything that was
// opened is closed once (000.4.10).
func TestREQ002REQ003StartWaitsForTheMicrophone(t *testing.T) {
	m := &lateMouth{open: make(chan struct{}), run: make(chan struct{})}
	tk := idleTalk(t, nil, Config{
		Source: func(protocol.Settings) (audio.Source, error) { return m, nil },
		Sink:   func(protocol.Settings) (audio.Sink, error) { return loudspeaker{}, nil },
		Speed:  speed,
	})
	until := func(what string, is func(csm.State) bool) {
		t.Helper()
		for limit := time.After(patience); !is(tk.d.State()); {
			select {
			case <-tk.events:
			case <-time.After(10 * time.Millisecond):
			case <-limit:
				t.Fatalf("%s: not within %v", what, patience)
			}
		}
	}
	tk.d.Post(csm.UserStart{})
	until("the session is ready", func(s csm.State) bool { return s.Resources.Session == csm.Opened })
	if got := tk.now(); got != protocol.StateIdle {
		t.Errorf("%v without an open microphone", got)
	}
	close(m.open)
	tk.want(protocol.StatePreparing)
	until("recognition is ready", func(s csm.State) bool { return s.Resources.Conn == csm.Opened })
	if got := tk.now(); got != protocol.StatePreparing {
		t.Errorf("%v without a frame of the microphone", got)
	}
	close(m.run)
	tk.want(protocol.StateListening)
	tk.d.Post(csm.UserStop{})
	tk.want(protocol.StateTerminating, protocol.StateIdle)
	if m.opened != 1 || m.closed != 1 {
		t.Errorf("the microphone was opened %d times and closed %d times", m.opened, m.closed)
	}
}

// startAgain starts a running conversation and returns why that is refused.
func (tk *talk) startAgain() csm.Code {
	refused := make(chan csm.Code, 1)
	tk.d.Call(func(c csm.Call) csm.Event { return csm.UserStart{Call: c} }, func(r csm.Reply, _ protocol.Snapshot) { refused <- r.Code })
	return soon(tk.t, refused, "the answer to a second start")
}

// executed waits until the effects of the core's current state are executed.
func (tk *talk) executed() { tk.startAgain() }

// TestREQ010ATurnNamesItsCauses follows one turn of a live daemon: each transition has
// its cause (REQ-010), Speaking follows the first audio (REQ-006), waiting is shown as
// such (GUD-003), a second start is refused (CON-002), and the last transitions are
// kept (CON-003).
func TestREQ010ATurnNamesItsCauses(t *testing.T) {
	tk := newTalk(t, nil)
	if code := tk.startAgain(); code != csm.CodeConversationActive {
		t.Errorf("a second start is answered with %q", code)
	}
	tk.sendText("hello there")
	tk.answered()
	tk.want(protocol.StateListening)
	tk.mu.Lock()
	defer tk.mu.Unlock()
	want := []protocol.Cause{
		protocol.CauseSessionReady, protocol.CauseAudioReady, protocol.CauseUserCommit, protocol.CauseCopilotRequest,
		protocol.CauseCopilotResponse, protocol.CauseTTSBufferReady, protocol.CauseTTSComplete,
	}
	for i, s := range tk.states {
		if s.Cause != want[i] {
			t.Errorf("%v is because of %v, want %v", s.State, s.Cause, want[i])
		}
		if s.State == protocol.StateWaitingForCopilot && s.Label != "⋯ Waiting for Copilot" {
			t.Errorf("waiting is shown as %q", s.Label)
		}
	}
	if n := len(tk.d.History()); n != len(tk.states) || n > 20 {
		t.Errorf("%d transitions are remembered of %d", n, len(tk.states))
	}
	// REQ-006: "triggered only when TTS confirms the first audio chunk has buffered".
	first := func(what string) int {
		return slices.IndexFunc(tk.marks, func(m mark) bool { return m.what == what })
	}
	buffered, speaking := first(csm.KindSpeechBuffered.String()), first(string(protocol.StateSpeaking))
	if buffered < 0 || speaking < buffered {
		t.Errorf("buffered is number %d of what happened, and Speaking number %d", buffered, speaking)
	}
}

// TestAC007RapidTurnsLive: two questions in a row are answered in order, each in its
// own turn, with Listening between them.
func TestAC007RapidTurnsLive(t *testing.T) {
	tk := newTalk(t, nil)
	tk.sendText("the first question")
	tk.sendText("the second question")
	tk.answered()
	tk.want(protocol.StateListening)
	tk.answered()
	tk.want(protocol.StateListening)
	tk.mu.Lock()
	defer tk.mu.Unlock()
	turns := map[string]bool{}
	for _, s := range tk.states {
		if s.State == protocol.StateSpeaking {
			turns[s.TurnID] = true
		}
	}
	if len(turns) != 2 || len(tk.agent.requests()) != 2 {
		t.Fatalf("%d turns and %d requests, want 2 and 2", len(turns), len(tk.agent.requests()))
	}
	for i, want := range []string{"the first question", "the second question"} {
		m := tk.agent.requests()[i].Messages
		if got := m[len(m)-1].Content; got != want {
			t.Errorf("request %d asks %q, want %q", i+1, got, want)
		}
	}
}

// TestGUD004EverythingTwiceLive: "state transitions are idempotent". Every report of
// the devices and the service arrives twice, and the conversation is unaffected.
//
//test:long
func TestGUD004EverythingTwiceLive(t *testing.T) {
	m := &mouth{}
	tk := idleTalk(t, nil, Config{
		Source: func(protocol.Settings) (audio.Source, error) { return m, nil },
		Sink:   func(protocol.Settings) (audio.Sink, error) { return loudspeaker{}, nil },
		Speed:  speed, Engines: newTape("these are the words").engines,
	})
	tk.twice.Store(true)
	const answer = "This is the first sentence of it. And this is the second sentence of it."
	tk.agent.become(says(answer))
	tk.d.Post(csm.UserStart{})
	tk.want(protocol.StatePreparing, protocol.StateListening)
	m.utter(voiceOf(t, sentence))
	tk.answered()
	tk.want(protocol.StateListening)
	tk.endOf("turn-1", protocol.OutcomeAnswered)
	tk.heardWhole(answer)
	tk.d.Post(csm.UserStop{})
	tk.want(protocol.StateTerminating, protocol.StateIdle)
	if len(tk.agent.requests()) != 1 || len(tk.errors) != 0 {
		t.Errorf("%d requests, errors %+v; want one request", len(tk.agent.requests()), tk.errors)
	}
}

// TestREQ008DiagnosticsHoldEverything: "pausing timers and audio services without
// losing context". Diagnostics start during the wait for an answer and last longer than
// the whole wait. Speech meanwhile is ignored, and the wait then has the rest of its
// time. The question can be asked again.
func TestREQ008DiagnosticsHoldEverything(t *testing.T) {
	const threshold = 2 * time.Second
	const cut = 2 * time.Millisecond // of a difference of times that are published in whole milliseconds
	m, tape := &mouth{}, newTape("these are the words")
	tk := newTalkOver(t, func(s *protocol.Settings) { s.Copilot.Timeout = threshold }, Config{
		Source: func(protocol.Settings) (audio.Source, error) { return m, nil },
		Sink:   func(protocol.Settings) (audio.Sink, error) { return loudspeaker{}, nil },
		Speed:  speed, Engines: tape.engines,
	})
	tk.agent.become(func(ctx context.Context, _ copilot.Request, _ func(string)) error { <-ctx.Done(); return ctx.Err() })
	in := func(want protocol.State) time.Time {
		t.Helper()
		p := tk.next()
		if p.State != want {
			t.Fatalf("state %v (%v), want %v", p.State, p.Cause, want)
		}
		return p.Since.Time
	}
	tk.clock.hold()
	tk.sendText("hello there")
	tk.want(protocol.StateProcessing)
	waits := in(protocol.StateWaitingForCopilot)
	tk.clock.pass(threshold / 2)
	tk.d.Post(csm.Suspend{Reason: csm.SuspendDiagnostics})
	held := in(protocol.StateSuspended)
	m.utter(voiceOf(t, sentence)[:2*audio.SampleRate])
	m.wait(t)
	tk.clock.pass(2 * threshold)
	tk.d.Post(csm.Resume{Reason: csm.SuspendDiagnostics})
	again := in(protocol.StateWaitingForCopilot)
	rest := tk.left(csm.TimerResponse)
	tk.clock.pass(rest)
	given := in(protocol.StateListening)
	if waited := held.Sub(waits) + given.Sub(again); rest != threshold/2 || waited < threshold-cut || waited > threshold+cut {
		t.Errorf("waited %v and, after diagnostics, %v of %v; want %v in all", held.Sub(waits), given.Sub(again), rest, threshold)
	}
	tk.clock.release()
	tk.want(protocol.StateSpeaking, protocol.StateListening) // the explanation
	tk.agent.become(says("Here it is."))
	tk.d.Retry(copilot.StageNone, func(csm.Reply, protocol.Snapshot) {})
	tk.answered()
	tk.want(protocol.StateListening)
	if m := tk.agent.last().Messages; m[len(m)-1].Content != "hello there" {
		t.Errorf("asked again with %+v", m)
	}
	tape.mu.Lock()
	defer tape.mu.Unlock()
	if len(*tape.said) != 0 {
		t.Errorf("%d utterances were heard under diagnostics", len(*tape.said))
	}
}

// safeBuffer collects a log from several goroutines.
type safeBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

// TestSEC001TheLiveLogHoldsNoWords: the log of a conversation, at its most verbose
// level, is JSON (GUD-002) and contains nothing that was said.
func TestSEC001TheLiveLogHoldsNoWords(t *testing.T) {
	var text safeBuffer
	log := zerolog.New(&text).Level(zerolog.TraceLevel)
	tk := &talk{t: t, agent: &answers{send: says("It is a canary answer.")}, news: make(chan struct{}, 1)}
	set := protocol.DefaultSettings()
	set.Conversation.StartTimeout = patience
	tk.d = daemon.New(daemon.Config{
		Clock: dispatch.NewClock(speed), Started: time.Now(), Settings: set, Adapter: tk.agent, Verify: true,
		Notify: tk.notify, Log: log,
		World: New(Config{
			Source: func(protocol.Settings) (audio.Source, error) { return &mouth{}, nil },
			Sink:   func(protocol.Settings) (audio.Sink, error) { return loudspeaker{}, nil },
			Speed:  speed, Engines: engines, Detector: detector, Log: log,
		}),
	})
	ctx, stop := context.WithCancel(context.Background())
	finished := make(chan error, 1)
	go func() { finished <- tk.d.Run(ctx) }()
	tk.d.Post(csm.UserStart{})
	tk.want(protocol.StatePreparing, protocol.StateListening)
	tk.sendText("a canary question")
	tk.answered()
	tk.want(protocol.StateListening)
	log.Info().Msg("the end of the test")
	stop()
	if err := <-finished; err != nil {
		t.Error(err)
	}
	lines := 0
	for s := bufio.NewScanner(&text.Buffer); s.Scan(); lines++ {
		if !json.Valid(s.Bytes()) {
			t.Errorf("not JSON: %s", s.Text())
		}
		if strings.Contains(s.Text(), "canary") {
			t.Errorf("the log holds words: %s", s.Text())
		}
	}
	if lines == 0 {
		t.Error("nothing was logged")
	}
}
