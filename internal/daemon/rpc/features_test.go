package rpc_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/agentvoice/agentvoice-daemon/csm/journal"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon/rpc"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// asked reads up to a copilot/send.
func (c *client) asked() (id json.RawMessage, p protocol.CopilotSendParams) {
	c.t.Helper()
	m := c.until("copilot/send", func(m message) bool { return m.Method == protocol.MethodCopilotSend })
	if err := json.Unmarshal(m.Params, &p); err != nil {
		c.t.Fatal(err)
	}
	return m.ID, p
}

func (c *client) delta(p protocol.CopilotSendParams, seq int, text string) {
	c.t.Helper()
	c.notify(protocol.MethodCopilotDelta, object{"requestId": p.RequestID, "seq": seq, "text": text})
}

func (c *client) respond(id json.RawMessage, result any) {
	c.t.Helper()
	c.send(object{"jsonrpc": "2.0", "id": id, "result": result})
}

// A question is retried, after a delay by the conversation's clock, under the same
// request id (INT-005, PER-004).
func TestCopilotFailsAndIsAskedAgain(t *testing.T) {
	c := scripted(t, "")
	c.initializeAndListen(object{"copilot": true})
	c.call(protocol.MethodSelectModel, object{"id": "gpt-4.1"}, nil)
	var turn protocol.TurnResult
	c.call(protocol.MethodSendText, object{"text": "Which tests failed?"}, &turn)
	id, first := c.asked()
	if first.TurnID != turn.TurnID || first.Attempt != 1 || first.Model != "gpt-4.1" || len(first.Messages) != 1 || first.Messages[0].Content != "Which tests failed?" {
		t.Errorf("copilot/send is %+v, the turn %s", first, turn.TurnID)
	}
	c.respond(id, object{"status": "failed", "error": object{"code": "copilotUnavailable", "message": "no", "retryable": true}})
	c.call(protocol.MethodAdvance, object{"ms": 249}, nil)
	for _, m := range c.seen {
		if m.Method == protocol.MethodCopilotSend {
			t.Fatal("it was asked again too early")
		}
	}
	advance := c.request(protocol.MethodAdvance, object{"ms": 1})
	id, again := c.asked()
	if again.RequestID != first.RequestID || again.Attempt != 2 {
		t.Errorf("the second copilot/send is %+v", again)
	}
	c.answer(advance)
	c.delta(again, 0, "Two tests failed.")
	c.delta(again, 0, "Two tests failed.") // repeated
	c.respond(id, object{"status": "completed"})
	c.state(protocol.StateSpeaking)
	var words protocol.TranscriptResult
	c.call(protocol.MethodTranscript, nil, &words)
	if len(words.Entries) != 2 || words.Entries[1].Text != "Two tests failed." {
		t.Errorf("the transcript is %+v", words.Entries)
	}
	c.end()
}

// A correction is undone once, by its name in the transcript.
func TestCorrectionIsUndone(t *testing.T) {
	c := scripted(t, `
		await state listening
		say "what listens on port eighty eighty"
		after 2s
	`)
	c.initializeAndListen(object{"copilot": true})
	c.request(protocol.MethodAdvance, object{"ms": 1000})
	id, first := c.asked()
	if first.Messages[0].Content != "what listens on port 8080" {
		t.Errorf("copilot/send is %+v", first)
	}
	var words protocol.TranscriptResult
	c.call(protocol.MethodTranscript, nil, &words)
	if len(words.Entries) != 1 || words.Entries[0].Correction == "" {
		t.Fatalf("the transcript is %+v", words.Entries)
	}
	undo := object{"correction": words.Entries[0].Correction}
	c.call(protocol.MethodUndoCorrection, undo, nil)
	c.refused(protocol.MethodUndoCorrection, undo, protocol.CodeInvalidState)
	words = protocol.TranscriptResult{}
	c.call(protocol.MethodTranscript, nil, &words)
	if e := words.Entries[0]; e.Text != "what listens on port eighty eighty" || e.Heard != "" || e.Correction != "" {
		t.Errorf("the transcript is %+v", words.Entries)
	}
	c.respond(id, object{"status": "completed"})
	c.end()
}

// A gap in an answer is detected: the answer is not spoken as if it were complete.
func TestADeltaIsMissing(t *testing.T) {
	c := scripted(t, "")
	c.initializeAndListen(object{"copilot": true})
	c.request(protocol.MethodSendText, object{"text": "hello there"})
	id, p := c.asked()
	c.delta(p, 1, "second")
	c.until("the cancellation", func(m message) bool { return m.Method == protocol.MethodCancelRequest })
	c.respond(id, object{"status": "cancelled"})
	c.until("the failure", func(m message) bool {
		return m.Method == protocol.NotifyNotification && strings.Contains(string(m.Params), "copilotFailed")
	})
	c.end()
}

func TestWithoutACopilotTheScriptAnswers(t *testing.T) {
	c := scripted(t, `
		await conversation/sendText
		after 40ms
		copilot.delta "It reads "
		copilot.delta "tokens."
		copilot.done
		after 500ms
	`)
	c.initializeAndListen(nil)
	c.request(protocol.MethodSendText, object{"text": "explain the parser"})
	if p := c.state(protocol.StateSpeaking); p.Since.Format("05.000") != "00.040" {
		t.Errorf("Speaking at %v", p.Since)
	}
	c.end()
}

func TestPlayback(t *testing.T) {
	c := scripted(t, `
		auto speech 0ms 1s
		await conversation/sendText
		copilot.delta "It reads **tokens**."
		copilot.done
	`)
	c.initializeAndListen(nil)
	playback := func(action string) { t.Helper(); c.call(protocol.MethodPlayback, object{"action": action}, nil) }
	c.refused(protocol.MethodPlayback, object{"action": "repeat"}, protocol.CodeInvalidState)
	c.call(protocol.MethodSendText, object{"text": "explain the parser"}, nil)
	c.state(protocol.StateSpeaking)
	c.call(protocol.MethodAdvance, object{"ms": 400}, nil)
	playback("pause")
	c.call(protocol.MethodAdvance, object{"ms": 5000}, nil)
	playback("continue")
	c.refused(protocol.MethodPlayback, object{"action": "continue", "rate": 1.5}, protocol.CodeInvalidState)
	c.refused(protocol.MethodPlayback, object{"action": "continue", "rate": 9}, protocol.CodeInvalidParams)
	c.request(protocol.MethodAdvance, object{"ms": 600})
	if p := c.state(protocol.StateListening); p.Since.Format("05.000") != "06.000" {
		t.Errorf("a second of speech, five of pause: Listening at %v", p.Since)
	}
	playback("repeat")
	c.state(protocol.StateSpeaking)
	caption := c.until("the caption", func(m message) bool { return m.Method == protocol.NotifyCaption })
	if !strings.Contains(string(caption.Params), "It reads tokens.") {
		t.Errorf("what is repeated is %s", caption.Params)
	}
	playback("skip")
	c.state(protocol.StateListening)
	c.end()
}

func TestPushToTalk(t *testing.T) {
	c := scripted(t, `
		await conversation/pushToTalk   # which is refused
		await conversation/pushToTalk
		after 800ms
		await conversation/pushToTalk
		stt.final "open the config"
	`)
	c.initialize(object{"copilot": true}, nil)
	c.refused(protocol.MethodPushToTalk, object{"down": true}, protocol.CodeInvalidState) // the turn mode is a different one
	c.call(protocol.MethodConfigure, object{"agentvoice.turnDetection.mode": "pushToTalk"}, nil)
	c.call(protocol.MethodStart, nil, nil)
	c.state(protocol.StateListening)
	c.call(protocol.MethodPushToTalk, object{"down": true}, nil)
	c.call(protocol.MethodPushToTalk, object{"down": false}, nil)
	if _, p := c.asked(); p.Messages[0].Content != "open the config" {
		t.Errorf("copilot/send is %+v", p)
	}
	c.end()
}

func TestSuspendAndResume(t *testing.T) {
	c := scripted(t, "")
	c.initializeAndListen(nil)
	var now protocol.Snapshot
	if c.call(protocol.MethodSuspend, object{"reason": "diagnostics"}, &now); now.State != protocol.StateSuspended || now.Metadata.Reason != "diagnostics" {
		t.Errorf("suspend answered %+v", now)
	}
	c.call(protocol.MethodSuspend, nil, nil)
	if c.call(protocol.MethodResume, object{"reason": "diagnostics"}, &now); now.State != protocol.StateSuspended || now.Metadata.Reason != "user" {
		t.Errorf("the first resume answered %+v", now)
	}
	if c.call(protocol.MethodResume, nil, &now); now.State != protocol.StateListening {
		t.Errorf("the second resume answered %+v", now)
	}
	var h protocol.HistoryResult
	if c.call(protocol.MethodHistory, nil, &h); len(h.Transitions) != 4 || h.Transitions[3].From != protocol.StateSuspended {
		t.Errorf("the history is %+v", h.Transitions)
	}
	c.end()
}

func TestDiagnostics(t *testing.T) {
	c := scripted(t, `
		await state listening
		say "open the config"
		copilot.delta "Done."
		copilot.done
		after 1s
		session.failed authentication
	`)
	c.initializeAndListen(nil)
	c.state(protocol.StateIdle)
	var r protocol.Report
	c.call(protocol.MethodDiagnosticsReport, nil, &r)
	if r.State != protocol.StateIdle || r.UptimeMs != 1000 || len(r.LastErrors) != 1 || r.LastErrors[0].Code != protocol.CodeAuthentication ||
		r.Counters["turns.answered"] != 1 || r.Latencies["processingToSpeaking"].Count != 1 ||
		r.Counters["realtime.unsolicited"] != 2 || r.Interruptions.Confirmed != 0 || r.Interruptions.Retracted != 0 {
		t.Errorf("the report is %+v", r)
	}
	var s protocol.SessionsResult
	if c.call(protocol.MethodSessions, nil, &s); len(s.Sessions) != 1 || s.Sessions[0].Turns != 1 || s.Sessions[0].EndedAt.IsZero() {
		t.Errorf("the sessions are %+v", s.Sessions)
	}
	var u protocol.UsageResult
	if c.call(protocol.MethodUsage, nil, &u); u.Sessions != 1 || u.Turns != 1 {
		t.Errorf("the usage is %+v", u)
	}
	c.refused(protocol.MethodJournal, object{"content": "full"}, protocol.CodeInvalidState)
	c.call(protocol.MethodShutdown, nil, nil)
	c.notify(protocol.MethodExit, nil)
	c.ended(nil)
}

// Diagnostics show what became of the user's voice over the assistant, and of a lost
// device.
func TestDiagnosticsOfInterruptions(t *testing.T) {
	c := scripted(t, `
		auto speech 50ms 2s
		await state listening
		say "explain the parser"
		copilot.delta "It reads tokens and builds a tree. "
		copilot.delta "Then it checks the types of all of it."
		copilot.done
		after 200ms
		vad.start
		after 60ms
		vad.end
		stt.final ""
		after 500ms
		device.lost
		after 10ms
		device.restored
		after 500ms
		vad.start
		after 300ms
		vad.end
		stt.final "only the types"
		await state waitingForCopilot
	`)
	c.initializeAndListen(nil)
	c.state(protocol.StateSuspended)
	c.until("the error", func(m message) bool { return m.Method == protocol.NotifyError })
	c.until("its end", func(m message) bool {
		return m.Method == protocol.NotifyNotification && strings.Contains(string(m.Params), `"deviceLost"`)
	})
	c.state(protocol.StateInterrupted)
	c.state(protocol.StateWaitingForCopilot)
	var r protocol.Report
	c.call(protocol.MethodDiagnosticsReport, nil, &r)
	if i := r.Interruptions; i.Confirmed != 1 || i.Retracted != 1 || len(i.Stages) != 0 { // a script's onsets carry no delay
		t.Errorf("the interruptions are %+v", i)
	}
	if len(r.LastErrors) != 1 || r.LastErrors[0].Code != protocol.CodeDeviceLost {
		t.Errorf("the last errors are %+v", r.LastErrors)
	}
}

// The journal that a client requests is that of its conversation, without words, and
// replays.
func TestJournalReplays(t *testing.T) {
	var copyOf bytes.Buffer
	cfg := scriptedConfig(t, "await state listening\nsay \"a secret question\"\ncopilot.delta \"a secret answer.\"\ncopilot.done\nafter 1s")
	cfg.Journal = journal.Stream(&copyOf)
	c := serve(t, cfg, true)
	c.initializeAndListen(nil)
	c.state(protocol.StateSpeaking)
	var r protocol.JournalResult
	c.call(protocol.MethodJournal, object{"content": "redacted"}, &r)
	c.end()
	kept, err := os.ReadFile(r.Path)
	begun, end, marked := bytes.Cut(kept, []byte(`{"end":"saved"`))
	if err != nil || !bytes.HasPrefix(copyOf.Bytes(), begun) || !marked || bytes.Count(end, []byte("\n")) != 1 {
		t.Errorf("the file is no beginning of the journal: %v", err)
	}
	j, err := journal.Read(&copyOf)
	if err != nil {
		t.Fatal(err)
	}
	res, err := journal.Replay(j)
	if err != nil || res.Difference != nil || res.Stops != nil || res.Events == 0 {
		t.Errorf("the replay of %d events: %v, %v", res.Events, res.Difference, err)
	}
	if bytes.Contains(kept, []byte("secret")) {
		t.Error("the journal holds words")
	}
}

func TestAudio(t *testing.T) {
	c := scripted(t, "")
	c.initialize(nil, nil)
	var r protocol.DevicesResult
	if c.call(protocol.MethodDevices, nil, &r); len(r.Inputs) != 1 || len(r.Outputs) != 1 {
		t.Errorf("the devices are %+v", r)
	}
	c.call(protocol.MethodSelectDevice, object{"input": "headless-microphone"}, nil)
	c.call(protocol.MethodMute, object{"muted": true}, nil)
	c.end()

	cfg, _, _ := running(t)
	c = serve(t, cfg, true)
	c.initialize(nil, nil)
	c.refused(protocol.MethodDevices, nil, protocol.CodeDeviceUnavailable)
	c.refused(protocol.MethodMute, object{"muted": true}, protocol.CodeDeviceUnavailable)
	c.refused(protocol.MethodAdvance, object{"ms": 1}, protocol.CodeMethodNotFound)
	c.end()
}

// A secret is requested when it is needed, and never logged.
func TestCredentials(t *testing.T) {
	var log bytes.Buffer
	cfg, _, _ := running(t)
	cfg.Log = zerolog.New(&log).Level(zerolog.TraceLevel)
	clients := make(chan rpc.Client, 1)
	inner := cfg.New
	cfg.New = func(c rpc.Client) (rpc.Backend, error) {
		clients <- c
		return inner(c)
	}
	c := serve(t, cfg, true)
	c.initialize(object{"secrets": true}, nil)
	ask := (<-clients).Credential
	type answer struct {
		r   protocol.CredentialsResult
		err error
	}
	answers := make(chan answer, 1)
	get := func() json.RawMessage {
		go func() {
			r, err := ask(context.Background(), protocol.CredentialsParams{Provider: protocol.ProviderOpenAI, Kind: protocol.CredentialAPIKey})
			answers <- answer{r, err}
		}()
		m := c.until("credentials/get", func(m message) bool { return m.Method == protocol.MethodCredentials })
		if string(m.Params) != `{"provider":"openai","kind":"apiKey"}` {
			t.Errorf("credentials/get has %s", m.Params)
		}
		return m.ID
	}
	c.respond(get(), object{"value": "sk-secret"})
	if a := <-answers; a.err != nil || a.r.Value != "sk-secret" {
		t.Errorf("the answer is %v, %v", a.r, a.err)
	}
	c.send(object{"jsonrpc": "2.0", "id": get(), "error": object{"code": -32027, "message": "sk-secret is not there"}})
	if a := <-answers; a.err == nil || strings.Contains(a.err.Error(), "sk-secret") {
		t.Errorf("the refusal is %v", a.err)
	}
	c.respond(get(), object{"value": 5})
	if a := <-answers; a.err == nil {
		t.Error("a number is taken for a secret")
	}
	c.end()
	if strings.Contains(log.String(), "sk-secret") {
		t.Errorf("the log has the secret: %s", log.String())
	}
}

// SEC-001: logs at every level contain no ids and no words.
func TestLogsHoldNoWordsAndNoIDs(t *testing.T) {
	var log bytes.Buffer
	cfg := scriptedConfig(t, "await state listening\nsay \"zebra\"\ncopilot.delta \"giraffe.\"\ncopilot.done\nafter 1s")
	cfg.Log = zerolog.New(&log).Level(zerolog.TraceLevel)
	c := serve(t, cfg, true)
	c.initializeAndListen(nil)
	c.state(protocol.StateSpeaking)
	c.end()
	if !strings.Contains(log.String(), `"state":"speaking"`) {
		t.Fatalf("the log says nothing: %s", log.String())
	}
	for _, word := range []string{"zebra", "giraffe", "turn-1", "session-1", "req-1"} {
		if strings.Contains(log.String(), word) {
			t.Errorf("the log has %q: %s", word, log.String())
		}
	}
}
