package live

import (
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio/realtime"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// The transcription settings reach the service, for each provider.
func TestTranscriptionSettingsReachTheService(t *testing.T) {
	set := protocol.DefaultSettings()
	set.Endpoint, set.Deployment = "https://example.test", "our-realtime"
	set.Transcription = protocol.TranscriptionSettings{
		Model: "gpt-4o-transcribe", Deployment: "our-transcriber", Language: "de-AT", Prompt: "gopls, kubectl",
	}
	set.Session.Max = 20 * time.Minute
	s := newService(&World{})
	t.Cleanup(func() {
		if err := s.shut(); err != nil {
			t.Error(err)
		}
	})
	for provider, model := range map[protocol.Provider]string{
		protocol.ProviderOpenAI: "gpt-4o-transcribe", protocol.ProviderAzure: "our-transcriber", protocol.ProviderLocalAI: "gpt-4o-transcribe",
	} {
		set.Provider = provider
		cfg, err := s.dialConfig(set)
		if err != nil {
			t.Fatal(err)
		}
		if cfg.TranscriptionModel != model || cfg.Language != "de" || cfg.TranscriptionPrompt != "gopls, kubectl" || cfg.SessionLimit != 20*time.Minute {
			t.Errorf("%s transcribes with %q in %q prompted by %q, for %v", provider, cfg.TranscriptionModel, cfg.Language, cfg.TranscriptionPrompt, cfg.SessionLimit)
		}
	}
	for tag, want := range map[string]string{"": "", "en": "en", "zh-Hant-TW": "zh", "ja-JP": "ja"} {
		if got := protocol.BaseLanguage(tag); got != want {
			t.Errorf("%q is spoken as %q, want %q", tag, got, want)
		}
	}
}

// The session is not given a voice of another provider or wire, because it would reject
// the unknown name.
func TestTheSessionHasItsOwnVoice(t *testing.T) {
	s := newService(&World{})
	t.Cleanup(func() {
		if err := s.shut(); err != nil {
			t.Error(err)
		}
	})
	for name, c := range map[string]struct {
		speaks protocol.Provider
		wire   string
		want   string
	}{
		"the session speaks":             {wire: protocol.WireRealtime, want: "marin"},
		"requests speak":                 {wire: protocol.WireAuto},
		"this machine speaks":            {speaks: protocol.ProviderLocal, wire: protocol.WireAuto},
		"another server speaks":          {speaks: protocol.ProviderCompatible, wire: protocol.WireAuto},
		"a LocalAI speaks in no session": {speaks: protocol.ProviderLocalAI, wire: protocol.WireRealtime},
	} {
		set := protocol.DefaultSettings()
		set.Provider, set.Voice.Provider, set.Voice.Wire, set.Voice.Name = protocol.ProviderOpenAI, c.speaks, c.wire, "marin"
		if cfg, err := s.dialConfig(set); err != nil || cfg.Voice != c.want {
			t.Errorf("%s: its voice is %q, want %q (%v)", name, cfg.Voice, c.want, err)
		}
	}
}

// With a phrase, the service still splits speech into utterances: the core waits for
// the one that ends with the phrase. Only push-to-talk needs no detection.
func TestTurnModesOnTheRealtimeWire(t *testing.T) {
	for mode, want := range map[string]realtime.TurnDetection{
		protocol.TurnAutomatic:  {Type: realtime.SemanticVAD, Eagerness: protocol.EagernessAuto},
		protocol.TurnPatient:    {Type: realtime.SemanticVAD, Eagerness: protocol.EagernessLow},
		protocol.TurnPushToTalk: {Type: realtime.NoDetection},
	} {
		set := protocol.DefaultSettings().TurnDetection
		set.Mode = mode
		if got := turnDetection(set); got != want {
			t.Errorf("%s: %+v, want %+v", mode, got, want)
		}
	}
	for _, mode := range []string{protocol.TurnServer, protocol.TurnPhrase} {
		set := protocol.DefaultSettings().TurnDetection
		set.Mode = mode
		if got := turnDetection(set); got.Type != realtime.ServerVAD || got.Silence != set.Silence {
			t.Errorf("%s: %+v", mode, got)
		}
	}
}
