package daemon

import (
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
	"github.com/agentvoice/agentvoice-daemon/csm/speech"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// speaking returns a daemon on virtual time in the middle of an answer.
func speaking(t *testing.T, profile string) (d *Daemon, clock *dispatch.Virtual) {
	t.Helper()
	return speakingTo(t, profile, nil)
}

// speakingTo is speaking with the client's notifications.
func speakingTo(t *testing.T, profile string, notify func(string, any)) (d *Daemon, clock *dispatch.Virtual) {
	t.Helper()
	set := protocol.DefaultSettings()
	set.Interruption.Profile = profile
	clock = &dispatch.Virtual{}
	d = New(Config{
		Clock: clock, Started: time.Unix(0, 0), Settings: set, Locale: "de", Verify: true, Log: zerolog.Nop(), Notify: notify,
		World: func(p Port) World { return &promptWorld{port: p, clock: clock} },
	})
	t.Cleanup(func() { _ = d.Close() })
	d.Post(csm.UserStart{})
	d.Drain()
	if err := d.SendText("explain it", func(csm.Reply, protocol.Snapshot) {}); err != nil {
		t.Fatal(err)
	}
	d.Drain()
	if p := d.State().Phase(); p != csm.PhaseSpeaking {
		t.Fatalf("the conversation is in %v", p)
	}
	return d, clock
}

// promptWorld completes everything at once, except that the output takes 3 ms to fall
// silent.
type promptWorld struct {
	port  Port
	clock *dispatch.Virtual
	seg   speech.Segment
}

func (w *promptWorld) Mute(bool)                   {}
func (w *promptWorld) Configure(protocol.Settings) {}
func (w *promptWorld) Close() error                { return nil }
func (w *promptWorld) Execute(e csm.Effect) {
	quiet := func(f func()) {
		w.clock.AfterFunc(3*time.Millisecond, func() {
			w.port.Output(Output{Silent: true})
			f()
		})
	}
	switch e := e.(type) {
	case csm.ActivateSession:
		w.port.Post(csm.SessionReady{Instance: e.Instance})
	case csm.OpenAudio:
		w.port.Post(csm.AudioPrimed{Instance: e.Instance})
	case csm.StartCapture:
		w.port.Post(csm.AudioReady{Instance: e.Instance})
	case csm.OpenConnection:
		w.port.Post(csm.ConnReady{Epoch: e.Epoch})
	case csm.SendCopilot:
		w.port.Post(csm.CopilotSent{Request: e.Request, Attempt: 1})
		w.port.Answer(e.Request, 0, "It is a long answer, and there is more of it to come. ", false)
	case csm.Speak:
		w.seg = e.Segment
		w.port.Post(csm.SpeechBuffered{Gen: e.Gen, Seq: e.Segment.Seq})
	case csm.StartPlayback, csm.ResumePlayback:
		w.port.Output(Output{})
	case csm.PausePlayback:
		quiet(func() { w.port.Post(csm.SpeechCursor{Gen: e.Gen, Seq: w.seg.Seq, Played: 100, Of: 4800}) })
	case csm.Flush:
		quiet(func() { w.port.Post(csm.SpeechFlushed{Gen: e.Gen - 1, Seq: w.seg.Seq, Played: 100, Of: 4800}) })
	default:
	}
}

// TestInterruptionsAreReported: a cough that is retracted, and words that cut the
// answer off long after it paused.
func TestInterruptionsAreReported(t *testing.T) {
	const ms = time.Millisecond
	d, clock := speaking(t, protocol.ProfileDefault)
	at := func(after time.Duration, e csm.Event) {
		clock.Advance(after, d.Drain)
		d.Post(e)
		d.Drain()
	}
	sample := func(d time.Duration) int64 { return int64(d / time.Second * 48000) }
	at(time.Second, csm.SpeechStarted{Epoch: 1, Utterance: 70, Pos: sample(time.Second), Late: 60 * ms})
	at(100*ms, csm.SpeechStopped{Epoch: 1, Utterance: 70, Pos: sample(time.Second) + 4800})
	at(10*ms, csm.Final{Epoch: 1, Utterance: 70, Class: csm.Empty})
	at(890*ms, csm.SpeechStarted{Epoch: 1, Utterance: 71, Pos: sample(2 * time.Second), Late: 160 * ms})
	at(2*time.Second, csm.SpeechStopped{Epoch: 1, Utterance: 71, Pos: sample(4 * time.Second)})
	at(10*ms, csm.Final{Epoch: 1, Utterance: 71, Words: 3, Class: csm.Content})

	r := d.Interruptions()
	if r.Confirmed != 1 || r.Retracted != 1 {
		t.Errorf("%d were confirmed and %d retracted", r.Confirmed, r.Retracted)
	}
	want := []protocol.InterruptionTimes{
		{Stage: protocol.StageDecided, Times: protocol.Latency{Count: 2, P50: 60, P95: 60, Max: 160}, BudgetMs: 250},
		{Stage: protocol.StageSilent, Times: protocol.Latency{Count: 2, P50: 63, P95: 63, Max: 163}, BudgetMs: 150, Over: 1},
		{Stage: protocol.StageListening, Times: protocol.Latency{Count: 1, P50: 250, P95: 250, Max: 250}, BudgetMs: 400},
		{Stage: protocol.StageResumed, Times: protocol.Latency{Count: 1, P50: 160, P95: 160, Max: 160}},
	}
	if len(r.Stages) != len(want) {
		t.Fatalf("the stages are %+v", r.Stages)
	}
	for i, w := range want {
		if r.Stages[i] != w {
			t.Errorf("%s: %+v, want %+v", w.Stage, r.Stages[i], w)
		}
	}
}

// TestInterruptionsAtOnce: immediate interruptions also count. A command has no onset
// and therefore no times.
func TestInterruptionsAtOnce(t *testing.T) {
	d, clock := speaking(t, protocol.ProfileAssertive)
	d.Post(csm.UserInterrupt{})
	clock.Advance(time.Second, d.Drain)
	if r := d.Interruptions(); r.Confirmed != 1 || r.Retracted != 0 || len(r.Stages) != 0 {
		t.Errorf("after a command: %+v", r)
	}
	d, clock = speaking(t, protocol.ProfileAssertive)
	d.Post(csm.SpeechStarted{Epoch: 1, Utterance: 70, Late: 50 * time.Millisecond})
	clock.Advance(time.Second, d.Drain)
	d.Post(csm.SpeechStopped{Epoch: 1, Utterance: 70, Pos: 48000})
	d.Post(csm.Final{Epoch: 1, Utterance: 70, Words: 3, Class: csm.Content})
	d.Drain()
	r := d.Interruptions()
	if r.Confirmed != 1 || len(r.Stages) != 3 || r.Stages[1].Times.Max != 53 || r.Stages[2].Times.Max != 50 {
		t.Errorf("after an onset: %+v", r)
	}
}

// TestWordsOverAnAnswerInEveryProfile: "yeah" resumes the answer like a hum, and "hold on" pauses it,
// however easily a voice interrupts.
func TestWordsOverAnAnswerInEveryProfile(t *testing.T) {
	for _, profile := range []string{protocol.ProfileDefault, protocol.ProfileAssertive, protocol.ProfileCautious, protocol.ProfileOff} {
		for _, c := range []struct {
			text   string
			paused bool
		}{{"Yeah.", false}, {"Yes.", false}, {"Sure.", false}, {"Mm-hmm.", false}, {"Hold on.", true}, {"Wait.", true}} {
			d, clock := speaking(t, profile)
			d.Post(csm.SpeechStarted{Epoch: 1, Utterance: 70, Pos: 48000})
			clock.Advance(400*time.Millisecond, d.Drain)
			d.Post(csm.SpeechStopped{Epoch: 1, Utterance: 70, Pos: 67200})
			d.Post(d.heard(1, 70, Certain(c.text)))
			clock.Advance(100*time.Millisecond, d.Drain)
			if st := d.loop.State(); st.Phase() != csm.PhaseSpeaking || st.VoicePaused != c.paused {
				t.Errorf("%s: %q over an answer: %v, paused %v", profile, c.text, st.Phase(), st.VoicePaused)
			}
		}
	}
}
