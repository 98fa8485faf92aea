package rpc_test

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/agentvoice/agentvoice-daemon/csm/journal"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// Requirements of the specification for the daemon around the core, by name.

// told reads up to the transition to a state and returns it with all transitions before
// it.
func (c *client) told(last protocol.State) []protocol.StateParams {
	c.t.Helper()
	c.seen = nil
	end := c.state(last)
	var out []protocol.StateParams
	for _, m := range c.seen {
		if m.Method != protocol.NotifyState {
			continue
		}
		var p protocol.StateParams
		if err := json.Unmarshal(m.Params, &p); err != nil {
			c.t.Fatal(err)
		}
		out = append(out, p)
	}
	c.seen = nil
	return append(out, end)
}

// answered is a question that is answered aloud.
const answered = "await state listening\nsay \"zebra\"\nawait state waitingForCopilot\nafter 500ms\ncopilot.delta \"giraffe.\"\ncopilot.done\nafter 3s\n"

// INT-003: each state is published to the client, with its label in the client's
// language. GUD-003: waiting for Copilot has its own label.
func TestINT003StatesArePublishedWithTheirLabels(t *testing.T) {
	for locale, want := range map[string][]string{
		"en": {"● Listening", "⋯ Thinking", "⋯ Waiting for Copilot", "⋯ Thinking", "● Speaking"},
		"de": {"● Hört zu", "⋯ Denkt nach", "⋯ Wartet auf Copilot", "⋯ Denkt nach", "● Spricht"},
	} {
		c := scripted(t, answered)
		c.call(protocol.MethodInitialize, object{"protocolVersion": protocol.Version, "locale": locale}, nil)
		c.call(protocol.MethodStart, nil, nil)
		var got []string
		for _, p := range c.told(protocol.StateSpeaking)[1:] {
			got = append(got, p.Label)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: the labels are %q, want %q", locale, got, want)
		}
		c.end()
	}
}

// CON-003: "the last 20 transitions in memory", and no more; the next daemon on the
// same folder has none of them ("SHALL NOT store them across sessions").
func TestCON003TheLast20TransitionsAreRemembered(t *testing.T) {
	cfg, _, _ := running(t)
	c := serve(t, cfg, true)
	c.initialize(nil, nil)
	for range 6 {
		c.call(protocol.MethodStart, nil, nil)
		c.state(protocol.StateListening)
		c.call(protocol.MethodEnd, nil, nil)
		c.state(protocol.StateIdle)
	}
	var h protocol.HistoryResult
	c.call(protocol.MethodHistory, nil, &h)
	if n := len(h.Transitions); n != 20 || h.Transitions[n-1].To != protocol.StateIdle {
		t.Errorf("%d transitions: %+v", n, h.Transitions)
	}
	for i := 1; i < len(h.Transitions); i++ {
		if h.Transitions[i].Seq != h.Transitions[i-1].Seq+1 {
			t.Errorf("transition %d follows on %d", h.Transitions[i].Seq, h.Transitions[i-1].Seq)
		}
	}
	c.end()
	again, _, _ := running(t)
	again.JournalDir = cfg.JournalDir
	next := serve(t, again, true)
	next.initialize(nil, nil)
	var before protocol.HistoryResult
	if next.call(protocol.MethodHistory, nil, &before); len(before.Transitions) != 0 {
		t.Errorf("another daemon remembers %+v", before.Transitions)
	}
	if kept, err := os.ReadDir(cfg.JournalDir); err != nil || len(kept) != 0 {
		t.Errorf("%d files are kept in the folder of journals (%v)", len(kept), err)
	}
	next.end()
}

// GUD-002: each line of the log is a JSON object, and that of a transition has
// everything that correlates it with other logs.
func TestGUD002LogsAreStructured(t *testing.T) {
	var log bytes.Buffer
	cfg := scriptedConfig(t, answered)
	cfg.Log = zerolog.New(&log).Level(zerolog.TraceLevel)
	c := serve(t, cfg, true)
	c.initializeAndListen(nil)
	c.state(protocol.StateSpeaking)
	c.end()
	seen := 0
	for line := range strings.Lines(log.String()) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%q is no JSON object: %v", line, err)
		}
		if m["message"] != "transition" {
			continue
		}
		seen++
		for _, key := range []string{"level", "state", "cause", "turn", "session", "seq"} {
			if _, ok := m[key]; !ok {
				t.Errorf("the transition says nothing of its %s: %s", key, line)
			}
		}
	}
	if seen < 6 {
		t.Errorf("%d transitions are in the log: %s", seen, log.String())
	}
}

// PAT-002: the client, the log and the journal each see the same transitions, in the
// same order, and the observer has measured them.
func TestPAT002EveryObserverSeesTheSame(t *testing.T) {
	var log, kept bytes.Buffer
	cfg := scriptedConfig(t, answered)
	cfg.Log = zerolog.New(&log).Level(zerolog.TraceLevel)
	cfg.Journal = journal.Stream(&kept)
	c := serve(t, cfg, true)
	c.initialize(nil, nil)
	c.call(protocol.MethodStart, nil, nil)
	var client, logged, recorded []string
	for _, p := range c.told(protocol.StateSpeaking) {
		client = append(client, string(p.Cause))
	}
	var report protocol.Report
	if c.call(protocol.MethodDiagnosticsReport, nil, &report); report.Latencies["processingToSpeaking"].Count != 1 {
		t.Errorf("the latencies are %+v", report.Latencies)
	}
	c.end()
	for line := range strings.Lines(log.String()) {
		var m struct{ Message, Cause string }
		if err := json.Unmarshal([]byte(line), &m); err == nil && m.Message == "transition" {
			logged = append(logged, m.Cause)
		}
	}
	j, err := journal.Read(&kept)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range j.Lines {
		var effects []struct{ PublishState *struct{ Cause string } }
		if len(l.Effects) == 0 {
			continue
		}
		if err := json.Unmarshal(l.Effects, &effects); err != nil {
			t.Fatal(err)
		}
		for _, f := range effects {
			if f.PublishState != nil {
				recorded = append(recorded, f.PublishState.Cause)
			}
		}
	}
	if n := len(client); n < 6 || len(logged) < n || len(recorded) < n || !slices.Equal(client, logged[:n]) || !slices.Equal(client, recorded[:n]) {
		t.Errorf("the client saw %q\nthe log %q\nthe journal %q", client, logged, recorded)
	}
}

// SEC-003: an authentication failure says what to do, without what the service said
// about the key.
func TestSEC003AuthenticationSaysWhatToDo(t *testing.T) {
	c := scripted(t, "await state listening\nsession.failed authentication\n")
	c.initializeAndListen(nil)
	m := c.until("the failure", func(m message) bool { return m.Method == protocol.NotifyError })
	var p protocol.ErrorParams
	if err := json.Unmarshal(m.Params, &p); err != nil {
		t.Fatal(err)
	}
	spec := protocol.CodeAuthentication.Spec()
	if p.Code != protocol.CodeAuthentication || p.Message != spec.Message(protocol.English) || p.Remediation != spec.Remediation(protocol.English) {
		t.Errorf("published %+v", p)
	}
	c.state(protocol.StateIdle)
	c.end()
}

// Every session change is published, each following from the previous one (003,
// broadcast).
func TestSessionChangesAreTold(t *testing.T) {
	c := scripted(t, answered)
	c.initialize(nil, nil)
	c.call(protocol.MethodStart, nil, nil)
	c.told(protocol.StateSpeaking)
	c.call(protocol.MethodEnd, nil, nil)
	var got []string
	for last := protocol.SessionState(""); last != protocol.SessionInactive; {
		m := c.until("a change of the session", func(m message) bool { return m.Method == protocol.NotifySession })
		var p protocol.SessionParams
		if err := json.Unmarshal(m.Params, &p); err != nil {
			t.Fatal(err)
		}
		last = p.State
		got = append(got, string(p.PreviousState)+" "+string(p.State))
	}
	if want := []string{"ready deactivating", "deactivating inactive"}; !slices.Equal(got, want) {
		t.Errorf("the session went %q, want %q", got, want)
	}
	c.end()
}
