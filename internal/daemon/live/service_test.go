package live

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio/realtime"
	"github.com/agentvoice/agentvoice-daemon/audio/vad"
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
	s := newService(&World{link: &link{}})
	t.Cleanup(func() {
		if err := s.shut(); err != nil {
			t.Error(err)
		}
	})
	for provider, model := range map[protocol.Provider]string{
		protocol.ProviderOpenAI: "gpt-4o-transcribe", protocol.ProviderAzure: "our-transcriber", protocol.ProviderLocalAI: "gpt-4o-transcribe",
	} {
		set.Provider = provider
		cfg, err := s.dialConfig(set, nil)
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

// TestTheSessionOfOpenAI: it only recognises if this machine speaks and ends the turns, with the vocabulary
// and the language in the form that its model takes.
func TestTheSessionOfOpenAI(t *testing.T) {
	s := newService(&World{link: &link{}})
	t.Cleanup(func() {
		if err := s.shut(); err != nil {
			t.Error(err)
		}
	})
	ours := &judge{}
	for name, c := range map[string]struct {
		change  func(*protocol.Settings)
		judge   *judge
		listens bool
		model   string
		lists   bool
	}{
		"by default":                 {func(*protocol.Settings) {}, ours, true, "gpt-live-transcribe", true},
		"push-to-talk":               {func(s *protocol.Settings) { s.TurnDetection.Mode = protocol.TurnPushToTalk }, nil, true, "gpt-live-transcribe", true},
		"at another address":         {func(s *protocol.Settings) { s.Endpoint = "https://gate.example" }, ours, false, "gpt-transcribe", true},
		"another model":              {func(s *protocol.Settings) { s.Transcription.Model = "gpt-4o-transcribe" }, ours, true, "gpt-4o-transcribe", false},
		"no detector here":           {func(*protocol.Settings) {}, nil, false, "gpt-transcribe", true},
		"the service ends the turns": {func(s *protocol.Settings) { s.TurnDetection.Mode = protocol.TurnServer }, nil, false, "gpt-transcribe", true},
		"the session speaks":         {func(s *protocol.Settings) { s.Voice.Wire = protocol.WireRealtime }, ours, false, "gpt-transcribe", true},
		"requests speak":             {func(s *protocol.Settings) { s.Voice.Model = "gpt-4o-mini-tts" }, ours, true, "gpt-live-transcribe", true},
		"a model that only listens, in a session that speaks": {func(s *protocol.Settings) {
			s.Transcription.Model, s.Voice.Wire = "gpt-live-transcribe", protocol.WireRealtime
		}, ours, false, "gpt-transcribe", true},
		"a model of the user's server": {func(s *protocol.Settings) { s.Transcription.Model = "ours" }, ours, true, "ours", true},
	} {
		set := protocol.DefaultSettings()
		set.Provider = protocol.ProviderOpenAI
		set.Transcription.Language, set.Transcription.Prompt = "en-GB", "gopls, parseConfig,gopls"
		set.Hearing.NoiseReduction = protocol.NoiseReductionFar
		c.change(&set)
		cfg, err := s.dialConfig(set, c.judge)
		if err != nil {
			t.Fatal(err)
		}
		if cfg.Listens != c.listens || cfg.TranscriptionModel != c.model {
			t.Errorf("%s: listens %v with %s", name, cfg.Listens, cfg.TranscriptionModel)
		}
		if cfg.NoiseReduction != realtime.FarField {
			t.Errorf("%s: noise reduction %q", name, cfg.NoiseReduction)
		}
		lists := slices.Equal(cfg.Keywords, []string{"gopls", "parseConfig"}) && slices.Equal(cfg.Languages, []string{"en"}) && cfg.TranscriptionPrompt == "" && cfg.Language == ""
		words := cfg.Keywords == nil && cfg.Languages == nil && cfg.TranscriptionPrompt == set.Transcription.Prompt && cfg.Language == "en"
		if lists != c.lists || words == c.lists {
			t.Errorf("%s: keywords %q, languages %q, prompt %q, language %q", name, cfg.Keywords, cfg.Languages, cfg.TranscriptionPrompt, cfg.Language)
		}
	}
}

// The session is not given a voice of another provider or wire, because it would reject
// the unknown name.
func TestTheSessionHasItsOwnVoice(t *testing.T) {
	s := newService(&World{link: &link{}})
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
		if cfg, err := s.dialConfig(set, nil); err != nil || cfg.Voice != c.want {
			t.Errorf("%s: its voice is %q, want %q (%v)", name, cfg.Voice, c.want, err)
		}
	}
}

// A pipeline loads its models before it announces the session, which may take as long as the conversation
// may take to start.
func TestAPipelineMayLoadItsModels(t *testing.T) {
	s := newService(&World{link: &link{}})
	t.Cleanup(func() {
		if err := s.shut(); err != nil {
			t.Error(err)
		}
	})
	for of, want := range map[protocol.Provider]time.Duration{protocol.ProviderLocalAI: 90 * time.Second, protocol.ProviderOpenAI: 0} {
		set := protocol.DefaultSettings()
		set.Provider, set.Conversation.StartTimeout = of, 90*time.Second
		if cfg, err := s.dialConfig(set, nil); err != nil || cfg.ConnectTimeout != want {
			t.Errorf("%s may connect for %v, want %v (%v)", of, cfg.ConnectTimeout, want, err)
		}
	}
}

// The embedded server is told how it ends the turns of voices that the judge does not know; a service
// without turn detection is told so. Without a judge, the service ends them.
func TestTurnModesOnTheRealtimeWire(t *testing.T) {
	detector := func() (vad.Detector, error) { return nil, errors.New("not needed") }
	d := protocol.DefaultSettings().TurnDetection
	fixed := realtime.TurnDetection{Type: realtime.ServerVAD, Threshold: d.Threshold, PrefixPadding: d.PrefixPadding, Silence: d.Silence}
	semantic := realtime.TurnDetection{Type: realtime.SemanticVAD, Eagerness: protocol.EagernessAuto}
	patient := realtime.TurnDetection{Type: realtime.SemanticVAD, Eagerness: protocol.EagernessLow}
	none := realtime.TurnDetection{Type: realtime.NoDetection}
	slow := fixed
	slow.Silence = 1400 * time.Millisecond
	for _, c := range []struct {
		provider protocol.Provider
		mode     string
		detector func() (vad.Detector, error)
		deaf     bool // the detector does not work
		judged   bool
		want     realtime.TurnDetection
	}{
		{protocol.ProviderLocal, protocol.TurnAutomatic, detector, false, true, semantic},
		{protocol.ProviderLocal, protocol.TurnPatient, detector, false, true, patient},
		{protocol.ProviderLocal, protocol.TurnPhrase, detector, false, true, fixed},
		{protocol.ProviderLocal, protocol.TurnServer, detector, false, false, fixed},
		{protocol.ProviderLocal, protocol.TurnPushToTalk, detector, false, false, none},
		{protocol.ProviderLocal, protocol.TurnAutomatic, nil, false, false, semantic},
		{protocol.ProviderLocal, protocol.TurnAutomatic, detector, true, true, semantic}, // it holds no utterance
		{protocol.ProviderCompatible, protocol.TurnAutomatic, detector, false, true, semantic},
		{protocol.ProviderOpenAI, protocol.TurnAutomatic, detector, false, true, none},
		{protocol.ProviderOpenAI, protocol.TurnPhrase, detector, false, true, none},
		{protocol.ProviderOpenAI, protocol.TurnServer, detector, false, false, fixed},
		{protocol.ProviderOpenAI, protocol.TurnAutomatic, detector, true, false, semantic},
		{protocol.ProviderAzure, protocol.TurnPatient, detector, false, true, none},
		{protocol.ProviderLocalAI, protocol.TurnAutomatic, detector, false, false, realtime.TurnDetection{Type: realtime.ServiceDetection}},
		{protocol.ProviderLocalAI, protocol.TurnPatient, detector, false, false, slow},
		{protocol.ProviderLocalAI, protocol.TurnServer, detector, false, false, fixed},
		{protocol.ProviderLocalAI, protocol.TurnPushToTalk, detector, false, false, none},
		{protocol.ProviderLocalAI, protocol.TurnPhrase, detector, false, false, fixed},
		{protocol.ProviderLive, protocol.TurnServer, detector, false, false, fixed},
	} {
		set := protocol.DefaultSettings()
		set.Provider, set.TurnDetection.Mode = c.provider, c.mode
		w := &World{cfg: Config{Detector: c.detector}, link: &link{}}
		w.link.deaf.Store(c.deaf)
		j := newJudge(w, set)
		if got := turnDetection(set, j); got != c.want || (j != nil) != c.judged {
			t.Errorf("%s, %s: %+v, judged %v, want %+v", c.provider, c.mode, got, j != nil, c.want)
		}
	}
}
