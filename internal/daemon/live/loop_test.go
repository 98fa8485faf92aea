//go:build cgo

package live

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/hearing"
	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime"
	"github.com/agentvoice/agentvoice-daemon/audio/realtime"
	"github.com/agentvoice/agentvoice-daemon/audio/vad"
	"github.com/agentvoice/agentvoice-daemon/audio/voice"
	"github.com/agentvoice/agentvoice-daemon/audio/wavio"
	"github.com/agentvoice/agentvoice-daemon/copilot"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/internal/assets"
	"github.com/agentvoice/agentvoice-daemon/internal/wer"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(afterLoads{m}) }

// afterLoads runs the tests, and then waits for engines that they left loading.
type afterLoads struct{ *testing.M }

func (a afterLoads) Run() int {
	code := a.M.Run()
	replaced.Wait()
	for _, server := range left.servers {
		if err := server.Close(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	return code
}

// Tests of the whole loop use the real engines, codec and connection. speed keeps them
// short; the engines keep up with it on a slow machine.
const speed = 2

func engines(SpeechChoice) (localrealtime.Config, error) {
	return localrealtime.Config{
		Recognizer: hearing.PocketSphinx(assets.PocketSphinx), Synthesizer: voice.Flite(), Detector: detector,
	}, nil
}

func detector() (vad.Detector, error) {
	model, err := assets.Silero()
	if err != nil {
		return nil, err
	}
	runtime, err := assets.ONNXRuntime()
	if err != nil {
		return nil, err
	}
	return vad.NewSilero(model, runtime)
}

// mouth is a microphone that delivers silence until a test speaks into it. A machine that
// is too busy for its pace slows it down: it does not deliver frames in bursts.
type mouth struct {
	mu     sync.Mutex
	pcm    []int16
	pace   float64       // 0 means speed
	steady bool          // it keeps its pace on a busy machine, as a real device does
	next   int64         // position of the next frame
	quiet  chan struct{} // closed when everything was said; nil if nothing waits
	stall  time.Duration // how long nothing is delivered from the next speech on
	began  time.Time     // when the device had position 0
}

// arrived returns when a steady device had the sample at pos.
func (m *mouth) arrived(pos int64) time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.began.Add(time.Duration(float64(audio.Duration(pos)) / cmp.Or(m.pace, speed)))
}

// undelivered is a frame that the device has and the daemon does not.
type undelivered struct {
	pos int64
	f   audio.Frame
}

// wait waits until everything was said.
func (m *mouth) wait(t *testing.T) {
	t.Helper()
	quiet := make(chan struct{})
	m.mu.Lock()
	m.quiet = quiet
	m.mu.Unlock()
	select {
	case <-quiet:
	case <-time.After(patience):
		t.Fatal("it takes too long to say")
	}
}

func (m *mouth) say(t *testing.T, name string) {
	t.Helper()
	pcm, err := wavio.ReadAll(filepath.Join(recordings, name))
	if err != nil {
		t.Fatal(err)
	}
	m.utter(pcm)
}

// utter appends speech and returns the position of its first sample.
func (m *mouth) utter(pcm []int16) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pcm = append(m.pcm, pcm...)
	return m.next + int64(len(m.pcm)-len(pcm))
}

// loudspeaker plays to nobody. Like a mouth, it is slowed down by a busy machine, so that
// the assistant is not ahead of the user and of the clock.
type loudspeaker struct {
	wavio.Null
	pace float64 // 0 means speed
}

// Run implements audio.Sink.
func (l loudspeaker) Run(ctx context.Context, render func(f *audio.Frame)) error {
	next, stop := (&mouth{pace: l.pace}).ticks()
	defer stop()
	var f audio.Frame
	for {
		if err := next(ctx); err != nil {
			return err
		}
		render(&f)
	}
}

// ticks returns a function that waits for the time of the next frame.
func (m *mouth) ticks() (next func(context.Context) error, stop func()) {
	pace := cmp.Or(m.pace, speed)
	if m.steady {
		return audio.NewPacer(pace).Wait, func() {}
	}
	ticker := time.NewTicker(time.Duration(float64(audio.FrameTime) / pace))
	return func(ctx context.Context) error {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
			return nil
		}
	}, ticker.Stop
}

func (m *mouth) Open(ctx context.Context) error { return ctx.Err() }
func (m *mouth) Close() error                   { return nil }
func (m *mouth) Run(ctx context.Context, deliver func(int64, *audio.Frame)) error {
	next, stop := m.ticks()
	defer stop()
	var ring []undelivered
	var until time.Time
	m.mu.Lock()
	m.began = time.Now()
	m.mu.Unlock()
	for pos := int64(0); ; pos += audio.FrameSamples {
		if err := next(ctx); err != nil {
			return err
		}
		var f audio.Frame
		m.mu.Lock()
		if len(m.pcm) > 0 && m.stall > 0 {
			until, m.stall = time.Now().Add(m.stall), 0
		}
		m.pcm = m.pcm[copy(f[:], m.pcm):]
		m.next = pos + audio.FrameSamples
		if len(m.pcm) == 0 && m.quiet != nil {
			close(m.quiet)
			m.quiet = nil
		}
		m.mu.Unlock()
		if ring = append(ring, undelivered{pos, f}); time.Now().Before(until) {
			continue
		}
		for i := range ring {
			deliver(ring[i].pos, &ring[i].f)
		}
		ring = ring[:0]
	}
}

// recordings is the directory of the LibriVox sentences in Debian's
// pocketsphinx-testdata.
const recordings = "/usr/share/pocketsphinx/test/data/librivox"

const (
	sentence   = "sense_and_sensibility_01_austen_64kb-0880.wav"
	sentenceIs = "he was not an ill disposed young man"
	second     = "sense_and_sensibility_01_austen_64kb-0930.wav"
)

// answers is a copilot.Adapter whose behaviour a test sets: a fake, for faults.
type answers struct {
	mu   sync.Mutex
	send func(ctx context.Context, r copilot.Request, emit func(string)) error
	sent []copilot.Request
	busy int // requests in flight
	most int // maximum of busy
}

func (a *answers) Name() string { return "fake" }
func (a *answers) Send(ctx context.Context, r copilot.Request, emit func(string)) error {
	a.mu.Lock()
	a.sent = append(a.sent, r)
	send := a.send
	a.busy++
	a.most = max(a.most, a.busy)
	a.mu.Unlock()
	defer func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.busy--
	}()
	return send(ctx, r, emit)
}

// requests returns what was sent so far.
func (a *answers) requests() []copilot.Request {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.sent)
}

func (a *answers) become(f func(ctx context.Context, r copilot.Request, emit func(string)) error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.send = f
}

func says(text string) func(context.Context, copilot.Request, func(string)) error {
	return func(_ context.Context, _ copilot.Request, emit func(string)) error { emit(text); return nil }
}

// INT-002: "consume STT transcript, VAD, and status events to drive Listening ->
// Processing transitions"; REQ-004: "when STT finalizes a user utterance"; AC-002:
// "triggers a single Copilot request with the captured transcript".
func TestSpokenQuestionIsAnswered(t *testing.T) {
	tk := newTalk(t, nil)
	tk.mouth.say(t, sentence)
	tk.answered()
	tk.want(protocol.StateListening)
	heard := tk.lastUserWords()
	if wrong, words := wer.Compute(sentenceIs, heard); wrong*100 > words*60 {
		t.Errorf("heard %q, want something like %q", heard, sentenceIs)
	}
	if len(tk.agent.requests()) != 1 || tk.agent.requests()[0].Messages[0].Content != heard {
		t.Errorf("requests %+v, want one with what was heard", tk.agent.requests())
	}
	tk.leadBy(protocol.StateListening, protocol.StateProcessing, protocol.CauseSTTFinal)
}

// leadBy checks for a transition between two states with the given cause.
func (tk *talk) leadBy(from, to protocol.State, cause protocol.Cause) {
	tk.t.Helper()
	tk.mu.Lock()
	defer tk.mu.Unlock()
	if !slices.ContainsFunc(tk.states, func(p protocol.StateParams) bool {
		return p.PreviousState == from && p.State == to && p.Cause == cause
	}) {
		tk.t.Errorf("no %s leads from %s to %s in %+v", cause, from, to, tk.states)
	}
}

// slowly is a recogniser on a busy machine: each 32 ms of audio take it 60 ms.
type slowly struct{ hearing.Recognizer }

func (s slowly) Write(pcm []int16) error {
	time.Sleep(time.Duration(len(pcm)) * 60 * time.Millisecond / vad.WindowSamples)
	return s.Recognizer.Write(pcm)
}

// The words arrive long after the core would have given up on a recogniser that reports
// nothing.
//
//test:long
func TestWordsThatComeLateAreWaitedFor(t *testing.T) {
	cfg := Config{
		Sink: func(protocol.Settings) (audio.Sink, error) { return loudspeaker{}, nil }, Speed: speed,
		Engines: func(SpeechChoice) (localrealtime.Config, error) {
			e, err := engines(SpeechChoice{})
			whole := e.Recognizer
			e.Recognizer = func() (hearing.Recognizer, error) {
				r, err := whole()
				return slowly{r}, err
			}
			return e, err
		},
	}
	m := &mouth{}
	cfg.Source = func(protocol.Settings) (audio.Source, error) { return m, nil }
	tk := newTalkOver(t, nil, cfg)
	m.say(t, sentence)
	tk.answered()
	tk.want(protocol.StateListening)
	if len(tk.notes) != 0 {
		t.Errorf("notifications %+v, want none", tk.notes)
	}
}

// A voice interrupts (INT-002, INT-004: Speaking, Interrupted, Listening), and the
// assistant is told what was heard of its answer.
func TestSecondVoiceInterrupts(t *testing.T) { isInterrupted(t, newTalk(t, nil)) }

// The same on a network that blocks media. Audio delivered ahead of time is not heard
// after the interruption.
//
//test:long
func TestSecondVoiceInterruptsOverAWebSocket(t *testing.T) {
	net, mic, said := newNetwork(t), &mouth{}, &spoken{}
	net.noUDP.Store(true)
	tk := newTalkOver(t, nil, Config{
		Source: func(protocol.Settings) (audio.Source, error) { return mic, nil },
		Sink:   func(protocol.Settings) (audio.Sink, error) { return loudspeaker{}, nil },
		Speed:  speed, Instrument: net.instrument, Tap: said,
	})
	tk.mouth = mic
	isInterrupted(t, tk)
	if got := tk.w.SessionPath(); got != realtime.PathWebSocket {
		t.Errorf("the voice goes over %q", got)
	}
	if got := audio.Duration(said.samples.Load()); got > 15*time.Second {
		t.Errorf("%v were heard of both answers; the first one has more than 20 s", got)
	}
}

func isInterrupted(t *testing.T, tk *talk) {
	t.Helper()
	story := strings.Repeat("This answer is long enough to be interrupted. ", 12)
	tk.agent.become(says(story))
	tk.sendText("tell me a long story")
	tk.answered()
	tk.reach("a second of the answer is heard", func(s csm.State) bool { return s.Cursor.Played > audio.SampleRate })
	tk.mouth.say(t, second)
	tk.want(protocol.StateInterrupted, protocol.StateListening)
	tk.agent.become(says("All right."))
	tk.answered()
	tk.want(protocol.StateListening)
	tk.mu.Lock()
	defer tk.mu.Unlock()
	var cut *protocol.TurnParams
	for i := range tk.turns {
		if tk.turns[i].Event == protocol.TurnInterrupted {
			cut = &tk.turns[i]
		}
	}
	if cut == nil || cut.TurnID != "turn-1" || cut.Outcome != protocol.OutcomeInterrupted {
		t.Fatalf("interrupted turn %+v, want turn-1; turns %+v, states %+v", cut, tk.turns, tk.states)
	}
	// The recorded answer of the assistant is a prefix of it.
	last := tk.agent.requests()[len(tk.agent.requests())-1]
	if len(last.Messages) != 3 {
		t.Fatalf("history %+v, want question, answer and question", last.Messages)
	}
	if heard := last.Messages[1].Content; heard == "" || !strings.HasPrefix(story, heard) || len(heard) > 300 {
		t.Errorf("remembered %q, want what was heard of the first answer", heard)
	}
}

// hangUp makes the embedded server end all calls, as when a service goes away.
func (s *service) hangUp() {
	s.mu.Lock()
	l := s.local
	s.mu.Unlock()
	if l != nil && l.server != nil {
		l.server.HangUpAll()
	}
}

// The service goes away while the assistant speaks: the conversation continues, the
// answer is finished, and nothing is requested twice. REQ-008, "without losing
// context": all of the answer is heard, the user's next question is asked afterwards,
// and its request has the previous answer in its messages.
//
//test:long
func TestServiceGoneWhileSpeaking(t *testing.T) {
	tk := newTalk(t, nil)
	const answer = "This is the first sentence of it. And this is the second sentence of it. Then comes the third one."
	tk.agent.become(says(answer))
	tk.sendText("hello there")
	tk.answered()
	tk.w.service.hangUp()
	tk.want(protocol.StateSuspended)
	tk.sendText("and what came meanwhile")
	tk.want(protocol.StateProcessing, protocol.StateSpeaking, protocol.StateListening)
	tk.mu.Lock()
	resumed := tk.states[tk.read-3]
	tk.mu.Unlock()
	tk.answered()
	tk.want(protocol.StateListening)
	tk.heardWhole(answer)
	tk.mu.Lock()
	defer tk.mu.Unlock()
	if resumed.Cause != protocol.CauseConnRestored || resumed.TurnID != "turn-1" {
		t.Errorf("resumed by %v in %v, want conn.restored in turn-1", resumed.Cause, resumed.TurnID)
	}
	if len(tk.agent.requests()) != 2 || tk.d.State().Instance != 1 {
		t.Fatalf("%d requests in conversation %d, want 2 in the first", len(tk.agent.requests()), tk.d.State().Instance)
	}
	var asked []string
	for _, m := range tk.agent.requests()[1].Messages {
		asked = append(asked, m.Content)
	}
	if want := []string{"hello there", answer, "and what came meanwhile"}; !slices.Equal(asked, want) {
		t.Errorf("the second request has %q, want %q", asked, want)
	}
}

// Every failure of the assistant is shown and spoken, and the next turn works.
//
//test:long
func TestAssistantFails(t *testing.T) {
	const threshold = 2 * time.Second
	for name, send := range map[string]func(context.Context, copilot.Request, func(string)) error{
		"copilotUnavailable": func(context.Context, copilot.Request, func(string)) error {
			return &copilot.Error{Code: "copilotUnavailable", Message: "refused"}
		},
		"copilotTimeout": func(ctx context.Context, _ copilot.Request, _ func(string)) error {
			<-ctx.Done()
			return ctx.Err()
		},
		"copilotEmpty": says(""),
	} {
		t.Run(name, func(t *testing.T) {
			tk := newTalk(t, func(s *protocol.Settings) { s.Copilot.Timeout = threshold })
			tk.agent.become(send)
			tk.clock.hold() // so that only the timeout takes time
			tk.sendText("hello there")
			tk.want(protocol.StateProcessing, protocol.StateWaitingForCopilot)
			switch name {
			case "copilotEmpty":
				tk.want(protocol.StateProcessing)
			case "copilotTimeout":
				if left := tk.left(csm.TimerResponse); left != threshold {
					t.Errorf("the request may take another %v, want %v", left, threshold)
				}
				tk.clock.pass(threshold)
			}
			tk.want(protocol.StateListening)
			tk.clock.release()
			tk.want(protocol.StateSpeaking, protocol.StateListening)
			tk.mu.Lock()
			if len(tk.notes) != 1 || string(tk.notes[0].Code) != name || tk.notes[0].Message == "" {
				t.Errorf("notifications %+v, want one of %s", tk.notes, name)
			}
			if name == "copilotTimeout" {
				// REQ-005: "SHALL timeout if responses exceed configured thresholds".
				i := slices.IndexFunc(tk.states, func(p protocol.StateParams) bool { return p.Cause == protocol.CauseCopilotTimeout })
				if i < 2 || tk.states[i-1].State != protocol.StateWaitingForCopilot {
					t.Fatalf("no timeout ends the wait in %+v", tk.states)
				}
				if waited := tk.states[i].Since.Sub(tk.states[i-1].Since.Time); waited != threshold {
					t.Errorf("given up %v after the wait began, want %v", waited, threshold)
				}
			}
			tk.mu.Unlock()
			// AC-008: "surfaces a retry path or degraded explanation and transitions to Listening".
			tk.agent.become(says("Now it works."))
			tk.d.Retry(copilot.StageNone, func(r csm.Reply, _ protocol.Snapshot) {
				if r.Code != "" {
					t.Errorf("trying again is answered with %s", r.Code)
				}
			})
			tk.answered()
			tk.want(protocol.StateListening)
			if m := tk.agent.last().Messages; m[len(m)-1].Content != "hello there" {
				t.Errorf("tried again with %+v", m)
			}
		})
	}
}

// Half an answer is spoken, then the failure is explained, without a gap.
func TestHalfAnAnswer(t *testing.T) {
	tk := newTalk(t, func(s *protocol.Settings) { s.Copilot.Stall = 1500 * time.Millisecond })
	tk.agent.become(func(ctx context.Context, _ copilot.Request, emit func(string)) error {
		emit("This much is known already, and it takes a while to say all of it. But what ")
		<-ctx.Done()
		return ctx.Err()
	})
	tk.clock.hold() // the answer stalls while its first half is spoken
	tk.sendText("hello there")
	tk.answered()
	tk.clock.pass(tk.left(csm.TimerStall))
	tk.clock.release()
	tk.want(protocol.StateListening)
	last := tk.ended()
	tk.mu.Lock()
	defer tk.mu.Unlock()
	if len(tk.notes) != 1 || tk.notes[0].Code != "copilotStalled" {
		t.Errorf("notifications %+v, want one of copilotStalled", tk.notes)
	}
	if last.Outcome != protocol.OutcomeFailed || last.Code != "copilotStalled" || last.TurnID != "turn-1" {
		t.Errorf("the turn ended as %+v, want failed by copilotStalled", last)
	}
}

// With push-to-talk, the user decides when a turn begins and ends: a pause in between
// does not submit (REQ-004: "when manual end-of-turn commands are issued"; GUD-001:
// "pluggable policies for turn detection").
func TestPushToTalk(t *testing.T) {
	tk := newTalk(t, func(s *protocol.Settings) { s.TurnDetection.Mode = protocol.TurnPushToTalk })
	said := func(name string) {
		t.Helper()
		tk.mouth.say(t, name)
		tk.mouth.wait(t)
	}
	if err := tk.w.PressToTalk(); err != nil {
		t.Fatal(err)
	}
	said(sentence)
	said(second)
	tk.d.Post(csm.UserCommit{})
	tk.answered()
	tk.want(protocol.StateListening)
	if words := len(strings.Fields(tk.lastUserWords())); len(tk.agent.requests()) != 1 || words < 12 {
		t.Errorf("%d requests, %d words in the last; want both sentences in one", len(tk.agent.requests()), words)
	}
	tk.leadBy(protocol.StateListening, protocol.StateProcessing, protocol.CauseUserCommit)
	tk.mu.Lock()
	defer tk.mu.Unlock()
	if !slices.ContainsFunc(tk.marks, func(m mark) bool { return m.what == csm.KindPartial.String() }) {
		t.Error("no words were shown before the last, so a slow recogniser looks dead")
	}
}

// A key that is released at once says nothing: no words are awaited, and the user is
// not told that they were not understood.
func TestTappedKeySaysNothing(t *testing.T) {
	tk := newTalk(t, func(s *protocol.Settings) { s.TurnDetection.Mode = protocol.TurnPushToTalk })
	if err := tk.w.PressToTalk(); err != nil {
		t.Fatal(err)
	}
	tk.d.Post(csm.UserCommit{})
	tk.want(protocol.StateProcessing, protocol.StateListening)
	if len(tk.notes) != 0 || len(tk.agent.requests()) != 0 {
		t.Errorf("notifications %+v and %d requests, want none", tk.notes, len(tk.agent.requests()))
	}
}
