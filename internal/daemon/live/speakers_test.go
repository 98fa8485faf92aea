//go:build cgo

package live

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime"
	"github.com/agentvoice/agentvoice-daemon/audio/voice"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// cast is a synthesizer that records which speaker said what.
type cast struct {
	voice.Synthesizer
	names []string // instead of the synthesizer's own, if set

	mu   *sync.Mutex
	said *[]string
}

func (c cast) Voices() []string {
	if c.names != nil {
		return c.names
	}
	return c.Synthesizer.Voices()
}

func (c cast) Speak(ctx context.Context, name, text string, emit func([]int16, int) error) error {
	c.mu.Lock()
	*c.said = append(*c.said, name+": "+text)
	c.mu.Unlock()
	return c.Synthesizer.Speak(ctx, name, text, emit)
}

// casting returns the real engines, whose voice notes what it says and as whom.
func casting(mu *sync.Mutex, said *[]string) func(SpeechChoice) (localrealtime.Config, error) {
	return func(choice SpeechChoice) (localrealtime.Config, error) {
		e, err := engines(choice)
		real := e.Synthesizer
		e.Synthesizer = func() (voice.Synthesizer, error) {
			s, err := real()
			return cast{Synthesizer: s, mu: mu, said: said}, err
		}
		return e, err
	}
}

// Through the embedded server with the real voice, "another voice" makes the next speaker say its
// name and the answers after it, and the conversation goes on.
func TestAnotherVoiceSpeaks(t *testing.T) {
	var mu sync.Mutex
	var said []string
	cfg := devicesOf(&mouth{}, nil)
	cfg.Engines = casting(&mu, &said)
	agent := &answers{send: says("All tests pass.")}
	tk := talkTo(t, agent, agent, nil, cfg)
	tk.begin()
	spoke := func(want string) {
		t.Helper()
		tk.eventually(want, func() bool {
			mu.Lock()
			defer mu.Unlock()
			return slices.ContainsFunc(said, func(s string) bool { return strings.HasPrefix(s, want) })
		})
	}
	answer := func(want string) {
		t.Helper()
		tk.sendText("Run the tests.")
		tk.answered()
		tk.want(protocol.StateListening)
		spoke(want)
	}
	answer(": All tests pass.") // the default
	tk.sendText("Use another voice.")
	spoke("rms: I am RMS now.")
	answer("rms: All tests pass.")
	tk.sendText("the voice before")
	spoke("slt: I am SLT now.")
	answer("slt: All tests pass.")
}

// A speaker of Kokoro's that the settings name does not stop a conversation in which Flite speaks: its
// first voice does, and the user is told once.
func TestTheFirstVoiceSpeaksForAnUnknownOne(t *testing.T) {
	var mu sync.Mutex
	var said []string
	cfg := devicesOf(&mouth{}, nil)
	cfg.Engines = casting(&mu, &said)
	agent := &answers{send: says("All tests pass.")}
	tk := talkTo(t, agent, agent, func(s *protocol.Settings) { s.Voice.Name = "af_heart" }, cfg)
	for range 2 {
		tk.begin()
		tk.sendText("Run the tests.")
		tk.answered()
		tk.want(protocol.StateListening)
		tk.end()
	}
	mu.Lock()
	defer mu.Unlock()
	if want := []string{": All tests pass.", ": All tests pass."}; !slices.Equal(said, want) {
		t.Errorf("%q was said, want %q", said, want)
	}
	if told := tk.messages(protocol.CodeVoiceUnknown); len(told) != 1 || !strings.Contains(told[0], "(af_heart)") {
		t.Errorf("the user was told %q", told)
	}
}

// Speakers are switched in a circle within the engine that speaks; a service's voice and that of
// a late engine are not.
func TestSpeakersAreACircle(t *testing.T) {
	set := protocol.DefaultSettings()
	w := &World{port: daemon.Port{Settings: func() protocol.Settings { return set }}, voice: &assistant{}}
	switches := func(what string, by int, want, spoken string) {
		t.Helper()
		if name, says := w.SwitchVoice(by); name != want || says != spoken {
			t.Errorf("%s: %q, called %q, want %q", what, name, says, want)
		}
	}
	knows := func(names ...string) {
		t.Helper()
		if _, err := w.voice.speakers.of(func() (voice.Synthesizer, error) { return cast{names: names}, nil })(); err != nil {
			t.Fatal(err)
		}
	}
	switches("before a voice is there", 1, "", "")
	knows("af_heart", "bf_emma", "bm_george", "slt", "rms")
	switches("after the default", 1, "bf_emma", "Emma")
	switches("again", 1, "bm_george", "George")
	switches("after the last", 1, "af_heart", "Heart")
	switches("before the first", -1, "bm_george", "George")
	w.voice.speakers.forget()
	set.Voice.Name = "bf_emma"
	switches("after that of the settings", 1, "bm_george", "George")
	w.voice.late.Store(true)
	switches("while the fallback speaks", 1, "", "")
	w.voice.late.Store(false)
	set.Voice.Provider = protocol.ProviderOpenAI
	switches("of a service", 1, "", "")
	set.Voice.Provider = protocol.DefaultSettings().Voice.Provider
	w.voice.speakers.forget()
	set.Voice.Name = "kal16"
	knows("slt", "rms", "awb", "kal16")
	switches("Flite", 1, "slt", "SLT")
	knows("anna")
	switches("a voice of one speaker", 1, "", "")
}
