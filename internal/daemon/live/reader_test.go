//go:build cgo

package live

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/hearing"
	"github.com/agentvoice/agentvoice-daemon/audio/provider"
	"github.com/agentvoice/agentvoice-daemon/audio/realtime"
	"github.com/agentvoice/agentvoice-daemon/audio/voice"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/internal/testutil/audioapi"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

const theirKey = "sk-the-users-key"

// audioService serves OpenAI's audio endpoints; around may wrap the handler. Its
// recogniser has its words at once: on a busy machine a real one takes longer than a
// service may. Tests of audio/hosted use real ones.
func audioService(t *testing.T, around func(http.Handler) http.Handler) (*audioapi.Server, string) {
	t.Helper()
	words := func() (hearing.Recognizer, error) { return newTape(sentenceIs), nil }
	server := &audioapi.Server{Recognizer: words, Synthesizer: voice.Flite(), Key: theirKey}
	handler := server.Handler()
	if around != nil {
		handler = around(handler)
	}
	service := httptest.NewServer(handler)
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		service.Close()
	})
	return server, service.URL
}

// talkWith is a conversation with changed settings and a key for the other service.
func talkWith(t *testing.T, answer string, change func(*protocol.Settings)) *talk {
	t.Helper()
	mouth := &mouth{}
	agent := &answers{send: says(answer)}
	tk := talkTo(t, agent, agent, change, devicesOf(mouth, nil))
	tk.mouth = mouth
	tk.begin()
	return tk
}

// devicesOf is a world whose microphone is a mouth, with a key for every service.
func devicesOf(m *mouth, reports *Reports) Config {
	return Config{
		Source: func(protocol.Settings) (audio.Source, error) { return m, nil },
		Sink:   func(protocol.Settings) (audio.Sink, error) { return loudspeaker{}, nil },
		Speed:  speed, Reports: reports,
		Instrument: func(c *realtime.Config) { c.Loopback = true },
		Credentials: func(context.Context, protocol.Provider) (realtime.Credential, error) {
			return realtime.Credential{Value: theirKey, Kind: realtime.APIKey}, nil
		},
	}
}

func (tk *talk) begin() {
	tk.t.Helper()
	tk.d.Post(csm.UserStart{})
	tk.want(protocol.StatePreparing, protocol.StateListening)
}

func (tk *talk) end() {
	tk.t.Helper()
	tk.d.Post(csm.UserStop{})
	tk.want(protocol.StateTerminating, protocol.StateIdle)
}

// noted reports whether the user received a code.
func (tk *talk) noted(code protocol.ErrorCode) bool {
	tk.mu.Lock()
	defer tk.mu.Unlock()
	return slices.ContainsFunc(tk.notes, func(n protocol.NotificationParams) bool { return n.Code == code })
}

// voiceAt selects the voice of a service at a URL.
func voiceAt(url string) func(*protocol.Settings) {
	return func(s *protocol.Settings) {
		s.Voice.Provider, s.Voice.Endpoint, s.Voice.Model = protocol.ProviderOpenAI, url, "gpt-4o-mini-tts"
	}
}

// Recognition uses the embedded server, and speech another service: the answer is read
// word for word and heard to its end.
//
//test:long
func TestTheVoiceOfAnotherService(t *testing.T) {
	server, url := audioService(t, nil)
	tk := talkWith(t, "Here is the answer. It has two sentences.", voiceAt(url))
	tk.mouth.say(t, sentence)
	tk.answered()
	tk.want(protocol.StateListening)
	if tk.lastUserWords() == "" {
		t.Error("nothing was heard")
	}
	var read []string
	for _, r := range server.Requests() {
		read = append(read, r.Fields["input"])
		if r.Fields["model"] != "gpt-4o-mini-tts" || r.Fields["voice"] != "alloy" {
			t.Errorf("asked for %v", r.Fields)
		}
	}
	if got := strings.Join(read, " "); got != "Here is the answer. It has two sentences." {
		t.Errorf("the service read %q", got)
	}
	if tk.noted(protocol.CodeVoiceReplaced) {
		t.Error("the voice was replaced")
	}
}

// A failing service loses no words: the session speaks them, and the user is told. The
// service is not used again.
//
//test:long
func TestTheSessionSpeaksWhereTheVoiceFails(t *testing.T) {
	var asked atomic.Int32
	_, url := audioService(t, func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			asked.Add(1)
			w.WriteHeader(http.StatusUnauthorized)
		})
	})
	tk := talkWith(t, "Here is the answer. It has two sentences.", voiceAt(url))
	for range 2 {
		tk.sendText("are you there")
		tk.answered()
		tk.want(protocol.StateListening)
	}
	if n := asked.Load(); n != 1 || !tk.noted(protocol.CodeVoiceReplaced) {
		t.Errorf("the service was asked %d times, the user told: %v", n, tk.noted(protocol.CodeVoiceReplaced))
	}
	tk.mu.Lock()
	defer tk.mu.Unlock()
	for _, n := range tk.notes {
		if n.Code == protocol.CodeVoiceReplaced && !strings.Contains(n.Message, protocol.CodeAuthentication.Spec().Spoken(protocol.English)) {
			t.Errorf("the user was told %q", n.Message)
		}
	}
}

// An interruption closes the request, and the heard portion is a position within it.
func TestAnInterruptionClosesTheRequest(t *testing.T) {
	closed := make(chan struct{})
	_, url := audioService(t, func(inner http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			defer close(closed) // also if synthesis is aborted
			inner.ServeHTTP(w, r)
			<-r.Context().Done() // it never ends by itself
		})
	})
	tk := talkWith(t, "This is one long sentence, of which only the beginning is ever going to be heard by anybody at all.", voiceAt(url))
	tk.sendText("are you there")
	tk.answered()
	tk.await("cursor", func(e csm.Event) bool {
		c, ok := e.(csm.SpeechCursor)
		return ok && c.Played > 0
	})
	tk.d.Post(csm.UserInterrupt{})
	select {
	case <-closed:
	case <-time.After(patience):
		t.Fatal("the request was not closed")
	}
	var flushed csm.SpeechFlushed
	tk.await("position", func(e csm.Event) bool {
		f, ok := e.(csm.SpeechFlushed)
		flushed = f
		return ok && f.Played > 0
	})
	if flushed.Of < flushed.Played {
		t.Errorf("%+v was heard", flushed)
	}
}

// With a session of another service, the local engine speaks in this process.
func TestTheEngineBesideASession(t *testing.T) {
	_, url := onlineService(t)
	tk := talkWith(t, "Here is the answer.", func(s *protocol.Settings) {
		s.Provider, s.Endpoint, s.Voice.Provider = protocol.ProviderOpenAI, url, protocol.ProviderLocal
	})
	tk.sendText("are you there")
	tk.answered()
	tk.want(protocol.StateListening)
	c := tk.w.link.live.Load()
	if slowest, fastest := c.voice.Speeds(); !c.voice.reads || slowest != voice.MinRate || fastest != voice.MaxRate {
		t.Errorf("the engine does not speak; speeds %v to %v", slowest, fastest)
	}
}

// A session that paraphrases is replaced by the reading voice from the next segment on
// that does not cut into one.
func TestAParaphraseIsNotHeardTwice(t *testing.T) {
	r := &reader{session: &saying{}, own: &saying{}}
	v, _ := deaf(t)
	c := &call{voice: r}
	v.paraphrased.Store(c)
	v.pieces[audio.SegmentID{Gen: 1, Seq: 1}] = &piece{}
	if v.readAloud(c); r.reads {
		t.Error("the voice changes within an answer")
	}
	clear(v.pieces)
	if v.readAloud(c); !r.reads {
		t.Error("the session goes on to paraphrase")
	}
	if !r.back(1) || r.reads {
		t.Error("a voice that fails goes on")
	}
	if v.paraphrased.Store(c); r.read() {
		t.Error("a voice that failed is used again")
	}
}

// saying is a voice that only records its segments.
type saying struct{ said []realtime.Segment }

func (s *saying) Speak(seg realtime.Segment)         { s.said = append(s.said, seg) }
func (s *saying) CancelSpeech(uint32)                {}
func (s *saying) Speeds() (slowest, fastest float64) { return 1, 1 }
func (s *saying) Close() error                       { return nil }

// The settings select the wire: the named one, else the first usable one.
func TestTheWireOfTheVoice(t *testing.T) {
	for _, c := range []struct {
		session, voice protocol.Provider
		wire, model    string
		want           provider.Wire
	}{
		{"local", "", "auto", "", provider.Realtime},
		{"local", "openai", "auto", "gpt-4o-mini-tts", provider.Speech},
		{"local", "local", "auto", "", provider.Realtime},
		{"openai", "", "auto", "", provider.Engine},
		{"openai", "", "auto", "gpt-4o-mini-tts", provider.Speech},
		{"openai", "openai", "auto", "", provider.Realtime},
		{"openai", "", "realtime", "", provider.Realtime},
		{"openai", "local", "auto", "", provider.Engine},
		{"live", "", "auto", "", provider.Realtime},
		{"live", "openai", "auto", "tts-1", provider.Speech},
		{"azure", "", "auto", "", provider.Engine},
		{"azure", "", "realtime", "", provider.Realtime},
		{"azure", "", "auto", "our-voice", provider.Speech},
		{"localai", "", "auto", "", provider.Realtime},
		{"localai", "", "speech", "piper", provider.Speech},
		{"localai", "openai", "speech", "tts-1", provider.Speech},
	} {
		set := protocol.DefaultSettings()
		set.Provider, set.Voice.Provider, set.Voice.Wire, set.Voice.Model = c.session, c.voice, c.wire, c.model
		if _, v, _ := voiceWire(set); v.Wire != c.want {
			t.Errorf("session %s, voice %q, wire %s, model %q: %q, want %s", c.session, c.voice, c.wire, c.model, v.Wire, c.want)
		}
	}
}
