package journal_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/dispatch"
	"github.com/agentvoice/agentvoice-daemon/csm/journal"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(crashEnv); path != "" {
		recordForEver(path) // until this process is killed
	}
	goleak.VerifyTestMain(m)
}

const ms = time.Millisecond

// flush waits until everything recorded was written to the outputs.
func flush(w *journal.Writer) { w.Flush(context.Background()) }

var header = journal.Header{
	Build: "test", Content: journal.Redacted, Speed: 1,
	Started: time.Date(2026, 11, 21, 6, 0, 0, 0, time.UTC),
}

// talk is a conversation in virtual time whose world answers every request. pick returns
// a number below n; it decides what happens next and how long it takes.
type talk struct {
	clock *dispatch.Virtual
	loop  *dispatch.Loop
	w     *journal.Writer
	pick  func(n int) int
	words uint64
	steps uint64
	also  func(dispatch.Step) // called for each step
}

func newTalk(w *journal.Writer, pick func(int) int) *talk {
	k := &talk{clock: &dispatch.Virtual{}, w: w, pick: pick}
	k.loop = dispatch.New(dispatch.Config{
		Clock: k.clock, Execute: k.execute, Verify: true, Journal: w,
	})
	return k
}

func (k *talk) execute(s dispatch.Step) {
	k.steps++
	if k.also != nil {
		k.also(s)
	}
	for _, f := range s.Effects {
		if r, ok := f.(csm.Report); ok {
			panic(r.What)
		}
		for _, e := range answers(f) {
			k.clock.AfterFunc(time.Duration(k.pick(300))*ms, func() { k.loop.Post(e) })
		}
	}
}

func answers(f csm.Effect) []csm.Event {
	switch f := f.(type) {
	case csm.ActivateSession:
		return []csm.Event{csm.SessionReady(f)}
	case csm.DeactivateSession:
		return []csm.Event{csm.SessionClosed(f)}
	case csm.OpenAudio:
		return []csm.Event{csm.AudioPrimed{Instance: f.Instance}}
	case csm.StartCapture:
		return []csm.Event{csm.AudioReady(f)}
	case csm.CloseAudio:
		return []csm.Event{csm.AudioClosed(f)}
	case csm.OpenConnection:
		return []csm.Event{csm.ConnReady{Epoch: f.Epoch}}
	case csm.CloseConnection:
		return []csm.Event{csm.ConnClosed(f)}
	case csm.SendCopilot:
		return []csm.Event{
			csm.CopilotSent{Request: f.Request, Round: f.Round, Attempt: 1}, csm.CopilotDelta{Request: f.Request, Round: f.Round, Chars: 10},
			csm.CopilotSegment{Request: f.Request, Round: f.Round, End: 10}, csm.CopilotDone{Request: f.Request, Round: f.Round},
		}
	case csm.LoadModel:
		return []csm.Event{csm.ModelProgress{Load: f.Load, Percent: 50}, csm.ModelLoaded{Load: f.Load}}
	case csm.SearchTools:
		return []csm.Event{csm.ToolSearchDone{Request: f.Request, Round: f.Round, Tools: 1}}
	case csm.CallTool:
		return []csm.Event{csm.ToolDone{ToolCall: f.ToolCall}}
	case csm.CancelTool:
		return []csm.Event{csm.ToolDone{ToolCall: f.ToolCall, Cancelled: true}}
	case csm.Summarise:
		return []csm.Event{csm.Summarised{Job: f.Job}}
	case csm.CancelCopilot:
		return []csm.Event{csm.CopilotDone{Request: f.Request, Cancelled: true}}
	case csm.Speak:
		return []csm.Event{csm.SpeechBuffered{Gen: f.Gen, Seq: f.Segment.Seq}, csm.SpeechDrained{Gen: f.Gen, Seq: f.Segment.Seq}}
	case csm.Flush:
		return []csm.Event{csm.SpeechFlushed{Gen: f.Gen - 1, Played: 1, Of: 3}}
	default:
		return nil
	}
}

// next makes one random event and advances the time.
func (k *talk) next() {
	s := k.loop.State()
	k.words++
	u := k.words
	c := csm.DefaultConfig()
	c.Tools, c.HistoryMax, c.HistoryKeep = true, 4, 2
	for _, e := range [][]csm.Event{
		{csm.UserStart{Call: 1}}, {csm.UserStart{Call: 2}},
		{csm.SpeechStarted{Epoch: s.IDs.Epoch, Utterance: u, Pos: int64(u) * 480}, csm.SpeechStopped{Epoch: s.IDs.Epoch, Utterance: u, Pos: int64(u)*480 + 9},
			csm.Partial{Epoch: s.IDs.Epoch, Utterance: u, Words: 2}, csm.Final{Epoch: s.IDs.Epoch, Utterance: u, Words: 3}},
		{csm.SpeechStarted{Epoch: s.IDs.Epoch, Utterance: u}, csm.Final{Epoch: s.IDs.Epoch, Utterance: u, Class: csm.Class(k.pick(4)), Words: k.pick(2)}},
		{csm.UserText{Call: 3, Utterance: u, Words: 2}},
		{csm.UserInterrupt{Call: 4}}, {csm.UserSpeak{Call: 5, Ref: u, Chars: 5}}, {csm.UserRetry{Call: 6}},
		{csm.Suspend{Reason: csm.SuspendUser}}, {csm.Resume{Reason: csm.SuspendUser}},
		{csm.ConnLost{Epoch: s.IDs.Epoch, Code: csm.CodeConnectionLost}},
		{csm.AudioLost{Instance: s.Instance}}, {csm.AudioRestored{Instance: s.Instance}},
		{csm.SessionFailed{Instance: s.Instance, Code: csm.CodeSessionFailed}},
		{csm.UserStop{Call: 7}}, {csm.Configure{Config: c}}, {csm.UserSelectModel{Call: 8, Model: u}},
		{csm.CopilotToolCall{Request: s.IDs.Request, ToolCall: u, Destructive: k.pick(2) == 0}}, {csm.UserApprove{Call: 9, ToolCall: u - 1, Approved: k.pick(3) > 0}},
		{csm.SpeechCursor{Gen: s.Speech.Generation(), Seq: s.IDs.Segment, Played: int64(u) * 10, Buffered: 480}},
	}[k.pick(20)] {
		k.loop.Post(e)
	}
	k.clock.Advance(time.Duration(k.pick(900))*ms, k.loop.Drain)
}

// recorded returns the journal of a fixed conversation of two turns, the second
// interrupted, with a stale event and a note.
func recorded(t *testing.T, h journal.Header) string {
	t.Helper()
	var out bytes.Buffer
	w, err := journal.NewWriter(&out, h)
	if err != nil {
		t.Fatal(err)
	}
	k := newTalk(w, func(int) int { return 40 })
	wait := func(d time.Duration) { k.clock.Advance(d, k.loop.Drain) }
	say := func(u uint64) {
		for _, e := range []csm.Event{
			csm.SpeechStarted{Epoch: 1, Utterance: u, Pos: 4800}, csm.SpeechStopped{Epoch: 1, Utterance: u, Pos: 48000}, csm.Final{Epoch: 1, Utterance: u, Words: 3},
		} {
			k.loop.Post(e)
		}
	}
	k.loop.Post(csm.UserStart{Call: 1})
	wait(200 * ms)
	say(1)
	w.Words(k.clock.Now(), journal.Words{Kind: "utterance", ID: 1, Text: "the canary sings"})
	wait(time.Second)
	k.loop.Post(csm.SpeechDrained{Gen: 9, Seq: 9}) // stale
	wait(ms)
	w.Level(k.clock.Now(), journal.Level{User: -20.5, Assistant: -60})
	say(2)
	wait(100 * ms)
	k.loop.Post(csm.UserInterrupt{Call: 2})
	wait(time.Second)
	k.loop.Post(csm.UserStop{Call: 3})
	wait(time.Second)
	if p := k.loop.State().Phase(); p != csm.PhaseIdle {
		t.Fatalf("the conversation ended in %v", p)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// lineWith returns the number of the first line of s that contains all parts.
func lineWith(t *testing.T, s string, parts ...string) int {
	t.Helper()
next:
	for i, l := range strings.Split(s, "\n") {
		for _, p := range parts {
			if !strings.Contains(l, p) {
				continue next
			}
		}
		return i + 1
	}
	t.Fatalf("no line holds %q", parts)
	return 0
}

// replay reads and replays s, and returns the difference or an error.
func replay(s string) (journal.Result, error) {
	j, err := journal.Read(strings.NewReader(s))
	if err != nil {
		return journal.Result{}, err
	}
	res, err := journal.Replay(j)
	if err == nil && res.Difference != nil {
		err = fmt.Errorf("%v", *res.Difference)
	}
	return res, err
}
