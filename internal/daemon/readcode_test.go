package daemon

import (
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// codeWorld is a promptWorld whose answers the test supplies. It records what is said
// aloud.
type codeWorld struct {
	promptWorld
	request uint64
	said    []string
}

func (w *codeWorld) Execute(e csm.Effect) {
	switch e := e.(type) {
	case csm.SendCopilot:
		w.request = e.Request
		w.port.Post(csm.CopilotSent{Request: e.Request, Attempt: 1})
		return
	case csm.Speak:
		w.said = append(w.said, w.port.Words(e.Segment))
	default: // handled by promptWorld
	}
	w.promptWorld.Execute(e)
}

// TestReadCodeIsOfTheTurn changes agentvoice.speech.readCode in the middle of an
// answer: the answer keeps its initial value, and the next one uses the new value.
func TestReadCodeIsOfTheTurn(t *testing.T) {
	const code = "```go\ndefer f.Close()\n```\n\n"
	clock := &dispatch.Virtual{}
	w := &codeWorld{}
	set := protocol.DefaultSettings()
	set.Speech.ReadCode = protocol.ReadCodeFull
	d := New(Config{
		Clock: clock, Started: time.Unix(0, 0), Settings: set, Verify: true, Log: zerolog.Nop(), Notify: func(string, any) {},
		World: func(p Port) World { w.promptWorld = promptWorld{port: p, clock: clock}; return w },
	})
	t.Cleanup(func() { _ = d.Close() })
	d.Post(csm.UserStart{})
	d.Drain()
	ask := func() {
		w.said = nil
		if err := d.SendText("show me", func(csm.Reply, protocol.Snapshot) {}); err != nil {
			t.Fatal(err)
		}
		d.Drain()
	}
	answer := func(text string, end bool) {
		w.port.Answer(w.request, 0, text, end)
		if end {
			d.Post(csm.CopilotDone{Request: w.request})
		}
		d.Drain()
	}
	ask()
	answer("Do this:\n\n"+code, false)
	set.Speech.ReadCode = protocol.ReadCodeSkip
	d.Configure(set)
	answer("And then this:\n\n"+code, true)
	if got := strings.Join(w.said, "|"); strings.Count(got, "defer f dot Close") != 2 {
		t.Errorf("an answer that began with full is said as %q", got)
	}
	d.Post(csm.UserInterrupt{})
	clock.Advance(time.Second, d.Drain)
	ask()
	answer("Do this:\n\n"+code, true)
	if got := strings.Join(w.said, "|"); !strings.Contains(got, "Do this") || strings.Contains(got, "defer") || strings.Contains(got, "block") {
		t.Errorf("the next answer is said as %q, and code is to be skipped", got)
	}
}

// TestSkippedCodeAloneIsAnAnswer: an answer that is only code is announced. Without
// words it would count as empty.
func TestSkippedCodeAloneIsAnAnswer(t *testing.T) {
	clock := &dispatch.Virtual{}
	w := &codeWorld{}
	set := protocol.DefaultSettings()
	set.Speech.ReadCode = protocol.ReadCodeSkip
	d := New(Config{
		Clock: clock, Started: time.Unix(0, 0), Settings: set, Verify: true, Log: zerolog.Nop(), Notify: func(string, any) {},
		World: func(p Port) World { w.promptWorld = promptWorld{port: p, clock: clock}; return w },
	})
	t.Cleanup(func() { _ = d.Close() })
	d.Post(csm.UserStart{})
	d.Drain()
	if err := d.SendText("show me", func(csm.Reply, protocol.Snapshot) {}); err != nil {
		t.Fatal(err)
	}
	d.Drain()
	w.port.Answer(w.request, 0, "```go\ndefer f.Close()\n```\n", true)
	d.Post(csm.CopilotDone{Request: w.request})
	clock.Advance(time.Second, d.Drain)
	if len(w.said) != 1 || w.said[0] != "A Go block of 1 line, in the panel." {
		t.Errorf("%q was said", w.said)
	}
}

// TestTheUsersPronunciation: a word that is heard as two and written as one is also
// spoken as two, in prose and in code. Longer words that contain it are unaffected.
func TestTheUsersPronunciation(t *testing.T) {
	set := protocol.DefaultSettings()
	set.Vocabulary = "pgvector, cube cuttle = kubectl, post gress = PostgreSQL"
	r := newRoom(t, set, false, "", false)
	r.types("how")
	r.port.Answer(r.request, 0, "Run `kubectl` (not kubectl-old) against postgresql.", true)
	r.d.Post(csm.CopilotDone{Request: r.request})
	r.d.Drain()
	if got := strings.Join(r.said, "|"); got != "Run cube cuttle (not kubectl-old) against post gress." {
		t.Errorf("said %q", got)
	}
}
