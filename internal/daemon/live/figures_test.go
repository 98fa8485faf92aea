//go:build cgo

package live

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/wavio"
	"github.com/agentvoice/agentvoice-daemon/bench/roomsim"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
	"github.com/agentvoice/agentvoice-daemon/csm/journal"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
	"github.com/agentvoice/agentvoice-daemon/internal/figures"
	"github.com/agentvoice/agentvoice-daemon/internal/testutil/speechdata"
	"github.com/agentvoice/agentvoice-daemon/internal/timeline"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// ledger records when, by the conversation's clock, each frame was in the output.
type ledger struct {
	clock dispatch.Clock

	mu       sync.Mutex
	rendered []time.Duration
	tape     *roomsim.Tape
}

func (l *ledger) User(int64, *audio.Frame) {}

func (l *ledger) Assistant(f *audio.Frame) {
	now := l.clock.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rendered = append(l.rendered, now)
	l.tape.Push(f[:])
}

// silent returns when, after from, the output fell silent for good.
func (l *ledger) silent(t *testing.T, from time.Duration) time.Duration {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	first := 0
	for first < len(l.rendered) && l.rendered[first] < from {
		first++
	}
	pos, ok := l.tape.Silent(int64(first)*audio.FrameSamples, int64(len(l.rendered))*audio.FrameSamples)
	if !ok {
		t.Fatal("the recorded output never falls silent")
	}
	return l.rendered[pos/audio.FrameSamples] + audio.Duration(pos%audio.FrameSamples)
}

// measured is an interruption of a live conversation, with what is known about it
// independently of the daemon.
type measured struct {
	timeline.Interruption // as the timeline has it
	report                protocol.InterruptionReport
	said                  int64         // captured position of the voice's first sample
	heard                 int64         // the same, as the journal has it
	arrived               time.Duration // when the microphone had the sample at heard
	silent                time.Duration // from arrived to silence in the recorded output
}

// interruption interrupts an answer in production live. The microphone delivers
// the voice and what follows stall late.
func interruption(t *testing.T, stall time.Duration) measured {
	t.Helper()
	clock := dispatch.NewClock(1)
	tap := &ledger{clock: clock, tape: roomsim.NewTape(0)}
	var file bytes.Buffer
	set := protocol.DefaultSettings()
	w, err := journal.NewWriter(&file, journal.Header{Build: "test", Content: journal.Redacted, Started: time.Now(), Speed: 1})
	if err != nil {
		t.Fatal(err)
	}
	mouth := &mouth{pace: 1, steady: true, stall: stall}
	agent := &answers{send: says(strings.Repeat("One and two and three and four and five and six and seven and eight and nine and ten and eleven and twelve. ", 4))}
	tk := &talk{t: t, agent: agent, news: make(chan struct{}, 1), mouth: mouth}
	tk.d = daemon.New(daemon.Config{
		Clock: clock, Started: time.Now(), Settings: set, Adapter: agent, Verify: true, Notify: tk.notify, Journal: w, Log: zerolog.Nop(),
		World: New(Config{
			Source: func(protocol.Settings) (audio.Source, error) { return mouth, nil },
			Sink:   func(protocol.Settings) (audio.Sink, error) { return wavio.Null{Speed: 1}, nil },
			Tap:    tap, Engines: engines, Detector: detector, Speed: 1, Log: zerolog.Nop(),
		}),
	})
	ctx, stop := context.WithCancel(context.Background())
	finished := make(chan error, 1)
	go func() { finished <- tk.d.Run(ctx) }()
	tk.d.Post(csm.UserStart{})
	tk.want(protocol.StatePreparing, protocol.StateListening)
	voice := voiceOf(t, sentence)
	tk.sendText("count")
	tk.answered()
	said := make(chan int64, 1)
	time.AfterFunc(8*time.Second, func() { said <- mouth.utter(voice) })
	tk.want(protocol.StateInterrupted, protocol.StateListening)
	mouth.wait(t)
	tk.want(protocol.StateProcessing)
	m := measured{report: tk.d.Interruptions(), said: <-said}
	stop()
	if err := <-finished; err != nil {
		t.Error(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	j, err := journal.Read(&file)
	if err != nil {
		t.Fatal(err)
	}
	i := timeline.Latencies(j)[0].Interruption
	if i == nil {
		t.Fatal("the timeline has no interruption")
	}
	m.Interruption, m.heard = *i, onsetOf(t, j).Pos
	m.arrived = clock.Now() - time.Since(mouth.arrived(m.heard))
	m.silent = tap.silent(t, m.arrived) - m.arrived
	t.Logf("onset %v, decided %v, silent %v, listening %v", i.Onset, i.Decided, i.Silent, i.Listening)
	return m
}

// agree compares what the timeline, diagnostics/report and the recordings say.
func (m *measured) agree(t *testing.T, within time.Duration) {
	t.Helper()
	for stage, l := range map[protocol.InterruptionStage]timeline.Latency{
		protocol.StageDecided: m.Decided, protocol.StageSilent: m.Silent, protocol.StageListening: m.Listening,
	} {
		got := times(m.report, stage)
		if !l.Known || got.Count != 1 || (time.Duration(got.P50*float64(time.Millisecond))-l.Duration).Abs() > time.Millisecond {
			t.Errorf("%s: the timeline says %v, diagnostics/report %+v", stage, l, got)
		}
	}
	if off := m.Onset - m.arrived; off.Abs() > within {
		t.Errorf("the timeline puts the onset %v after it was at the microphone", off)
	}
	if (m.silent - m.Silent.Duration).Abs() > within {
		t.Errorf("%s: the timeline says %v, the recorded output %v", figures.Silent, m.Silent, m.silent)
	}
	if off := audio.Duration(m.heard - m.said).Abs(); off > 60*time.Millisecond {
		t.Errorf("the onset is %v from the first sample of the voice", off)
	}
}

// TestFiguresOfOneRun interrupts an answer in production live, and compares what
// the timeline, diagnostics/report and the recordings say about it.
//
//test:realtime
func TestFiguresOfOneRun(t *testing.T) {
	m := interruption(t, 0)
	m.agree(t, 2*audio.FrameTime)
	// REQ-007: "pre-empt Speaking within 150 ms when user speech is detected, cancelling
	// in-flight TTS outputs"; AC-004: "Interrupted -> Listening within 400 ms total".
	for stage, c := range map[protocol.InterruptionStage]struct{ is, limit time.Duration }{
		protocol.StageDecided:   {m.Decided.Duration, 150 * time.Millisecond},
		protocol.StageSilent:    {m.silent, 150 * time.Millisecond},
		protocol.StageListening: {m.Listening.Duration, 400 * time.Millisecond},
	} {
		if c.is > c.limit {
			t.Errorf("%s %v after the onset, want at most %v", stage, c.is, c.limit)
		}
	}
}

// TestFiguresIncludeLateDelivery starves the microphone's goroutine: the device has the
// voice, and the daemon gets it late. The figures include that.
//
//test:realtime
func TestFiguresIncludeLateDelivery(t *testing.T) {
	const stall, within = 300 * time.Millisecond, 30 * time.Millisecond
	m := interruption(t, stall)
	m.agree(t, within)
	for figure, l := range map[figures.Figure]timeline.Latency{figures.Decided: m.Decided, figures.Silent: m.Silent, figures.Listening: m.Listening} {
		if least := stall - audio.Duration(m.heard-m.said); l.Duration < least-within {
			t.Errorf("%s %v after the onset, want at least %v", figure, l, least)
		}
	}
}

// onsetOf returns the first onset in a journal.
func onsetOf(t *testing.T, j *journal.Journal) csm.SpeechStarted {
	t.Helper()
	for i := range j.Lines {
		if j.Lines[i].Event != csm.KindSpeechStarted.String() {
			continue
		}
		env, err := j.Lines[i].Envelope()
		if err != nil {
			t.Fatal(err)
		}
		return env.Event.(csm.SpeechStarted)
	}
	t.Fatal("the journal has no onset")
	return csm.SpeechStarted{}
}

// voiceOf returns a recording from its first sound on, without the noise before the
// voice.
func voiceOf(t *testing.T, name string) []int16 {
	t.Helper()
	pcm, err := wavio.ReadAll(filepath.Join(recordings, name))
	if err != nil {
		t.Fatal(err)
	}
	label, ok := speechdata.LabelOf(pcm)
	if !ok {
		t.Fatalf("%s is silent", name)
	}
	return pcm[label.Onset:]
}

func times(r protocol.InterruptionReport, stage protocol.InterruptionStage) protocol.Latency {
	for _, s := range r.Stages {
		if s.Stage == stage {
			return s.Times
		}
	}
	return protocol.Latency{}
}
