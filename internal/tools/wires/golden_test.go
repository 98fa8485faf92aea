package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/csm/journal"
)

// recorded builds a journal from lines of the form "EVENT DATA EFFECTS".
func recorded(lines ...string) *journal.Journal {
	j := &journal.Journal{}
	for _, l := range lines {
		w := strings.SplitN(l, " ", 3)
		j.Lines = append(j.Lines, journal.Line{Event: w[0], Data: json.RawMessage(w[1]), Effects: json.RawMessage(w[2])})
	}
	return j
}

func to(state string, turn int, cause string) string {
	return fmt.Sprintf(`timer {} [{"PublishState":{"to":%q,"turn":%d,"cause":%q}}]`, state, turn, cause)
}

// Machine-dependent details are dropped: how long the states before an answer last,
// pauses within it, and false interruptions.
func TestAConversationIsItsStatesAndTurns(t *testing.T) {
	c, err := read(recorded(
		to("Listening", 0, "audio.ready"),
		to("Analysing", 1, "stt.final"), to("WaitingForCopilot", 1, "copilot.request"), to("GeneratingResponse", 1, "copilot.response"),
		to("Speaking", 1, "tts.bufferReady"), to("GeneratingResponse", 1, "tts.drained"), to("Speaking", 1, "tts.bufferReady"),
		to("Interrupted", 1, "user.interrupt"), to("Listening", 1, "interrupt.cleared"), to("Speaking", 1, "interrupt.retracted"),
		to("Interrupted", 1, "user.interrupt"), to("Listening", 1, "interrupt.cleared"),
		to("Analysing", 2, "stt.final"),
		`stt.final {} [{"PublishTurn":{"turn":{"id":1,"request":1},"end":"interrupted"}},{"PublishTurn":{"turn":{"id":2}}}]`,
		to("Speaking", 2, "tts.bufferReady"), to("Listening", 0, "tts.complete"),
	))
	if err != nil {
		t.Fatal(err)
	}
	want := "Listening\nThinking turn 1\nSpeaking turn 1\nInterrupted turn 1\nListening turn 1\nThinking turn 2\nSpeaking turn 2\nListening\nturn 1, request 1: interrupted\n"
	if got := c.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// Each violation is detected.
func TestOnceFindsWhatHappenedTwice(t *testing.T) {
	ask := `stt.final {} [{"SendCopilot":{"request":1,"utterance":1}}]`
	end := `copilot.done {"request":1} []`
	say := `copilot.segment {} [{"Speak":{"gen":0,"segment":{"seq":1,"request":1,"start":0,"end":9}}}]`
	again := `copilot.segment {} [{"Speak":{"gen":1,"segment":{"seq":4,"request":1,"start":0,"end":9}}}]`
	played, playedAgain := `tts.played {"gen":0,"seq":1} []`, `tts.played {"gen":1,"seq":4} []`
	for _, c := range []struct {
		lines []string
		want  string
	}{
		{[]string{ask, say, again, playedAgain, end}, ""},
		{[]string{ask, ask, end}, "utterance 1 was asked 2 times"},
		{[]string{ask, end, end}, "request 1 ended 2 times"},
		{[]string{ask}, "1 requests have 0 ends"},
		{[]string{ask, say, played, again, playedAgain, end}, "request 1, characters 0 to 9 was said 2 times"},
	} {
		got, err := read(recorded(c.lines...))
		if err != nil {
			t.Fatal(err)
		}
		err = got.once()
		if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.lines, err, c.want)
		}
	}
}

// All wires share one golden conversation, because the core does not depend on the wire.
func TestTheGoldenConversationsAreOne(t *testing.T) {
	var first []byte
	var names []string
	for _, w := range wires {
		b, err := os.ReadFile(filepath.Join("testdata", w.name+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		if names = append(names, w.name+".txt"); first == nil {
			first = b
		}
		if !bytes.Equal(b, first) {
			t.Errorf("%s is another conversation than %s", w.name, wires[0].name)
		}
		if what := w.differs(); what[0] == "nothing" && w.name != "embedded" {
			t.Errorf("nothing differs over %s", w.name)
		}
	}
	files, err := os.ReadDir("testdata")
	if err != nil || len(files) != len(names) || slices.ContainsFunc(files, func(f os.DirEntry) bool { return !slices.Contains(names, f.Name()) }) {
		t.Errorf("%v: %d files for %d wires", err, len(files), len(names))
	}
}

// The scripted endpoint gives a long answer to the first question.
func TestChat(t *testing.T) {
	for _, c := range []struct {
		body, want string
		status     int
	}{
		{`{"messages":[{"role":"user"}]}`, "fourth", http.StatusOK},
		{`{"messages":[{"role":"user"},{"role":"assistant"},{"role":"user"}]}`, "whole", http.StatusOK},
		{`no json`, "not JSON", http.StatusBadRequest},
	} {
		w := httptest.NewRecorder()
		chat(w, httptest.NewRequestWithContext(context.Background(), http.MethodPost, "/v1/chat/completions", strings.NewReader(c.body)))
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%s: %d %s", c.body, w.Code, w.Body)
		}
	}
}
