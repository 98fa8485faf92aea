//go:build cgo

package live

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/audio/hearing"
	"github.com/agentvoice/agentvoice-daemon/audio/provider"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/internal/assets"
	"github.com/agentvoice/agentvoice-daemon/internal/testutil/audioapi"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// uttered waits until a count of utterances, which may still grow, is n plus the items of
// silence that the call ignored. On a late machine the daemon may end an utterance before
// the service does, and the silence after it is then an item.
func (tk *talk) uttered(n int, count func() int) {
	tk.t.Helper()
	tk.eventually(fmt.Sprintf("%d utterances", n), func() bool {
		h := tk.w.link.live.Load().hearer
		h.mu.Lock()
		defer h.mu.Unlock()
		return count() == n+int(h.match.ignored)
	})
}

// transcribed returns the requests for recognition.
func transcribed(s *audioapi.Server) []audioapi.Request {
	return slices.DeleteFunc(s.Requests(), func(r audioapi.Request) bool { return !strings.HasSuffix(r.Path, "/transcriptions") })
}

// One server with OpenAI's audio endpoints does recognition and speech: a whole
// conversation through requests only.
//
//test:long
func TestAConversationByRequests(t *testing.T) {
	server, url := audioService(t, nil)
	tk := talkWith(t, "Here is the answer.", func(s *protocol.Settings) {
		s.Provider, s.Endpoint, s.Transcription.Prompt, s.Transcription.Language = protocol.ProviderCompatible, url, "gopls", "en-US"
	})
	for range 2 {
		tk.mouth.say(t, sentence)
		tk.answered()
		tk.want(protocol.StateListening)
	}
	tk.uttered(2, func() int { return len(transcribed(server)) })
	words := false
	for _, r := range transcribed(server) {
		if r.Fields["prompt"] != "gopls" || r.Fields["language"] != "en" || r.Fields["model"] != "whisper-1" {
			t.Errorf("asked for %v", r.Fields)
		}
		words = words || r.Text == tk.lastUserWords()
	}
	if heard := tk.lastUserWords(); heard == "" || !words {
		t.Errorf("the user said %q, which the service did not recognise", heard)
	}
	read := 0
	for _, r := range server.Requests() {
		if r.Fields["input"] == "Here is the answer." && r.Fields["model"] == "tts-1" {
			read++
		}
	}
	if read != 2 {
		t.Errorf("%d answers were read, want 2", read)
	}
}

// TestAConversationOverVLLMsWire: with the wire of a session, a server without one hears each utterance while it is
// spoken.
//
//test:long
func TestAConversationOverVLLMsWire(t *testing.T) {
	server, url := audioService(t, nil)
	server.Recognizer = hearing.PocketSphinx(assets.PocketSphinx) // which has words while one speaks
	tk := talkWith(t, "Here is the answer.", func(s *protocol.Settings) {
		s.Provider, s.Endpoint, s.Hearing.Wire, s.Transcription.Model = protocol.ProviderCompatible, url, protocol.WireRealtime, "voxtral"
	})
	tk.mouth.say(t, sentence)
	tk.answered()
	tk.want(protocol.StateListening)
	streams := func() []audioapi.Request {
		return slices.DeleteFunc(server.Requests(), func(r audioapi.Request) bool { return r.Path != "/v1/realtime" })
	}
	tk.uttered(1, func() int { return len(streams()) })
	for _, r := range streams() {
		if r.Fields["model"] != "voxtral" {
			t.Errorf("asked for %v", r.Fields)
		}
	}
	if heard := tk.lastUserWords(); heard == "" || len(transcribed(server)) > 0 || !slices.ContainsFunc(streams(), func(r audioapi.Request) bool { return r.Text == heard }) {
		t.Errorf("the user said %q; the service: %v", heard, server.Requests())
	}
	tk.mu.Lock()
	defer tk.mu.Unlock()
	if !slices.ContainsFunc(tk.marks, func(m mark) bool { return m.what == csm.KindPartial.String() }) {
		t.Error("no words were shown before the last")
	}
}

// Separate services do recognition and speech, streamed and with a key.
//
//test:long
func TestTheEarsOfAnotherService(t *testing.T) {
	server, url := audioService(t, nil)
	tk := talkWith(t, "Here is the answer.", func(s *protocol.Settings) {
		s.Hearing.Provider, s.Hearing.Endpoint, s.Hearing.Wire = protocol.ProviderOpenAI, url, protocol.WireTranscriptions
	})
	tk.mouth.say(t, sentence)
	tk.answered()
	tk.want(protocol.StateListening)
	tk.uttered(1, func() int { return len(server.Requests()) })
	all := server.Requests()
	if all[0].Fields["stream"] != "true" || all[0].Fields["model"] != "gpt-transcribe" || all[0].Fields["include[]"] != "" || all[0].Text != tk.lastUserWords() {
		t.Errorf("requests %v, and the user said %q", all, tk.lastUserWords())
	}
}

// If the recognition service fails, the local engine takes over, and the user is told.
//
//test:long
func TestNothingIsLostWhereTheEarsFail(t *testing.T) {
	_, url := audioService(t, func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusPaymentRequired) })
	})
	tk := talkWith(t, "Here is the answer.", func(s *protocol.Settings) {
		s.Hearing.Provider, s.Hearing.Endpoint = protocol.ProviderCompatible, url
	})
	tk.mouth.say(t, sentence)
	if end := tk.ended(); end.Outcome != protocol.OutcomeAnswered { // the notice may be spoken before the answer
		t.Errorf("the turn ended with %v", end.Outcome)
	}
	if tk.lastUserWords() == "" || !tk.noted(protocol.CodeHearingReplaced) {
		t.Errorf("%q was heard, the user told: %v", tk.lastUserWords(), tk.noted(protocol.CodeHearingReplaced))
	}
}

// The settings select the recogniser and its endpoint.
func TestTheEars(t *testing.T) {
	for _, c := range []struct {
		session, hearing         protocol.Provider
		wire, endpoint, deployed string
		want                     ears
		with                     protocol.Provider
	}{
		{"local", "", "auto", "", "", ears{provider: "local"}, "local"},
		{"openai", "", "auto", "", "", ears{provider: "local"}, "openai"},
		{"openai", "", "transcriptions", "", "", ears{"openai", "transcriptions", "", "gpt-transcribe", ""}, "local"},
		{"live", "", "auto", "", "", ears{provider: "local"}, "live"},
		{"openai", "local", "auto", "", "", ears{provider: "local"}, "local"},
		{"azure", "", "transcriptions", "https://x", "tr", ears{"azure", "transcriptions", "https://x", "tr", ""}, "local"},
		{"localai", "", "auto", "http://nas", "", ears{provider: "local"}, "localai"},
		{"compatible", "", "auto", "http://nas", "", ears{"compatible", "transcriptions", "http://nas", "whisper-1", ""}, "local"},
		{"compatible", "", "realtime", "http://nas", "", ears{"compatible", "realtime", "http://nas", "", ""}, "local"},
		{"local", "compatible", "auto", "", "", ears{"compatible", "transcriptions", "", "whisper-1", ""}, "local"},
	} {
		set := protocol.DefaultSettings()
		set.Provider, set.Endpoint, set.Hearing.Provider, set.Hearing.Wire, set.Transcription.Deployment = c.session, c.endpoint, c.hearing, c.wire, c.deployed
		if got := earsOf(set); got != c.want || set.SessionWith() != c.with {
			t.Errorf("%+v: %+v, a session with %s", c, got, set.SessionWith())
		}
	}
}

// The table has exactly one row for each provider of the settings.
func TestEveryProviderHasARow(t *testing.T) {
	for _, p := range protocol.Providers {
		if _, ok := provider.Of(string(p)); !ok {
			t.Errorf("%s has no row", p)
		}
	}
	if len(provider.Rows) != len(protocol.Providers) {
		t.Errorf("%d rows for %d providers", len(provider.Rows), len(protocol.Providers))
	}
}
