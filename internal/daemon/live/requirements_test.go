//go:build cgo

package live

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/wavio"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// Requirements that the core has proofs of, and that a live daemon keeps too.

// lateMouth is a mouth that opens and delivers when the test lets it.
type lateMouth struct {
	mouth
	open, run      chan struct{}
	opened, closed int // of the devices' queue
}

func (g *lateMouth) Open(ctx context.Context) error {
	<-g.open
	g.opened++
	return g.mouth.Open(ctx)
}

func (g *lateMouth) Close() error {
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

// now is the state that was published last.
func (tk *talk) now() protocol.State {
	tk.mu.Lock()
	defer tk.mu.Unlock()
	if len(tk.states) == 0 {
		return protocol.StateIdle
	}
	return tk.states[len(tk.states)-1].State
}

// TestREQ002REQ003StartWaitsForTheMicrophone: without an open device there is no
// Preparing, and without a frame of it no Listening. At the end everything that was
// opened is closed, once (000.4.10).
func TestREQ002REQ003StartWaitsForTheMicrophone(t *testing.T) {
	m := &lateMouth{open: make(chan struct{}), run: make(chan struct{})}
	tk := idleTalk(t, nil, Config{
		Source: func(protocol.Settings) (audio.Source, error) { return m, nil },
		Sink:   func(protocol.Settings) (audio.Sink, error) { return wavio.Null{Speed: speed}, nil },
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

// TestREQ010ATurnNamesItsCauses follows one turn of a live daemon: each transition
// has its cause (REQ-010), Speaking comes after the first audio (REQ-006), waiting is
// shown as such (GUD-003), a second start is refused (CON-002), and the last
// transitions are remembered (CON-003).
func TestREQ010ATurnNamesItsCauses(t *testing.T) {
	tk := newTalk(t, nil)
	refused := make(chan csm.Code, 1)
	tk.d.Call(func(c csm.Call) csm.Event { return csm.UserStart{Call: c} }, func(r csm.Reply, _ protocol.Snapshot) { refused <- r.Code })
	if code := <-refused; code != csm.CodeConversationActive {
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
	buffered, started := -1, -1
	for i := 0; len(tk.events) > 0; i++ {
		switch (<-tk.events).(type) {
		case csm.SpeechBuffered:
			if buffered < 0 {
				buffered = i
			}
		case csm.SpeechPlayed:
			started = i
		default: // of no segment's beginning or end
		}
	}
	if buffered < 0 || buffered > started {
		t.Errorf("buffered is event %d, and played event %d", buffered, started)
	}
}

// TestAC007RapidTurnsLive: two questions in a row are answered in their order, each
// in a turn of its own, with Listening between them.
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
	if len(turns) != 2 || len(tk.agent.sent) != 2 {
		t.Fatalf("%d turns and %d requests, want 2 and 2", len(turns), len(tk.agent.sent))
	}
	for i, want := range []string{"the first question", "the second question"} {
		m := tk.agent.sent[i].Messages
		if got := m[len(m)-1].Content; got != want {
			t.Errorf("request %d asks %q, want %q", i+1, got, want)
		}
	}
}

// safeBuffer takes a log from several goroutines.
type safeBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

// TestSEC001TheLiveLogHoldsNoWords: the log of a conversation, at its most talkative,
// is JSON (GUD-002) and holds nothing that was said.
func TestSEC001TheLiveLogHoldsNoWords(t *testing.T) {
	var text safeBuffer
	log := zerolog.New(&text).Level(zerolog.TraceLevel)
	tk := &talk{t: t, agent: &answers{send: says("It is a canary answer.")}, news: make(chan struct{}, 1)}
	tk.d = daemon.New(daemon.Config{
		Clock: dispatch.NewClock(speed), Started: time.Now(), Settings: protocol.DefaultSettings(), Adapter: tk.agent, Verify: true,
		Notify: tk.notify, Log: log,
		World: New(Config{
			Source: func(protocol.Settings) (audio.Source, error) { return &mouth{}, nil },
			Sink:   func(protocol.Settings) (audio.Sink, error) { return wavio.Null{Speed: speed}, nil },
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
