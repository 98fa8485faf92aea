package live

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/audio/realtime"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
	"github.com/agentvoice/agentvoice-daemon/protocol"
	"github.com/agentvoice/agentvoice-daemon/session/usage"
)

// TestHostedModels are those of OpenAI that would hear or speak, and no others.
func TestHostedModels(t *testing.T) {
	const session, ears, voice = "model=gpt-realtime-2.1-mini", "transcription.model=gpt-live-transcribe", "voice.model=gpt-4o-mini-tts"
	const requests = "transcription.model=gpt-transcribe" // or in a session that converses
	for _, c := range []struct {
		set  map[string]string
		want []string
	}{
		{map[string]string{}, nil},
		{map[string]string{"provider": "openai"}, []string{ears}},
		{map[string]string{"provider": "openai", "endpoint": "https://api.openai.com/v1/"}, []string{ears}},
		{map[string]string{"provider": "openai", "voice.model": "gpt-4o-mini-tts"}, []string{ears, voice}},
		{map[string]string{"provider": "openai", "turnDetection.mode": "server"}, []string{session, requests}},
		{map[string]string{"provider": "openai", "endpoint": "https://proxy.example"}, nil},
		{map[string]string{"provider": "openai", "voice.wire": "realtime", "model": "gpt-realtime"}, []string{"model=gpt-realtime", requests}},
		{map[string]string{"provider": "openai", "voice.wire": "realtime", "model": "gpt-realtime", "voice.model": "tts-1"}, []string{"model=gpt-realtime", requests, "voice.model=tts-1"}},
		{map[string]string{"provider": "openai", "hearing.wire": "transcriptions"}, []string{requests}},
		{map[string]string{"provider": "openai", "voice.provider": "local", "transcription.model": "whisper-1"}, []string{"transcription.model=whisper-1"}},
		{map[string]string{"voice.provider": "openai", "voice.model": "gpt-4o-mini-tts"}, []string{voice}},
		{map[string]string{"provider": "live"}, []string{"model=gpt-live-1"}},
		{map[string]string{"provider": "azure", "endpoint": "https://ours.openai.azure.com", "deployment": "d", "transcription.deployment": "t"}, nil},
		{map[string]string{"provider": "localai", "endpoint": "http://127.0.0.1:8080", "hearing.wire": "transcriptions", "voice.model": "tts-1"}, nil},
	} {
		changed := protocol.Configuration{}
		for name, value := range c.set {
			changed[protocol.Prefix+name], _ = json.Marshal(value)
		}
		set, bad := protocol.DefaultSettings().Apply(changed)
		if len(bad) > 0 {
			t.Fatal(c.set, bad)
		}
		var got []string
		for _, m := range HostedModels(set) {
			got = append(got, m.Setting[len(protocol.Prefix):]+"="+m.Name)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%v: %q, want %q", c.set, got, c.want)
		}
	}
}

// TestModelsToPay are those of all services but this machine's, at their prices.
func TestModelsToPay(t *testing.T) {
	for _, c := range []struct {
		set  map[string]string
		want []string // model, and whether its price is known
	}{
		{map[string]string{}, nil},
		{map[string]string{"provider": "openai", "endpoint": "https://proxy.example"}, []string{"gpt-realtime-2.1-mini true", "gpt-transcribe true"}},
		{map[string]string{"provider": "openai", "endpoint": "https://proxy.example", "turnDetection.mode": "server", "voice.model": "tts-1"}, []string{"gpt-realtime-2.1-mini true", "gpt-transcribe true", "tts-1 true"}},
		{map[string]string{"provider": "live", "model": "gpt-live-2"}, []string{"gpt-live-2 false"}},
		{map[string]string{"provider": "azure", "endpoint": "https://ours.openai.azure.com", "deployment": "gpt-realtime", "transcription.deployment": "t", "voice.provider": "local"}, []string{"gpt-realtime true", "t false"}},
		{map[string]string{"provider": "compatible", "endpoint": "https://speech.example"}, []string{"whisper-1 false", "tts-1 false"}},
		{map[string]string{"provider": "compatible", "endpoint": "http://localhost:8000"}, []string{"whisper-1 true", "tts-1 true"}},
		{map[string]string{"voice.provider": "compatible", "voice.endpoint": "http://10.0.0.5"}, []string{"tts-1 false"}},
		{map[string]string{"provider": "localai", "endpoint": "http://10.0.0.5:8080", "hearing.wire": "transcriptions", "voice.model": "v"}, []string{"whisper-1 true", "v true"}},
	} {
		changed := protocol.Configuration{}
		for name, value := range c.set {
			changed[protocol.Prefix+name], _ = json.Marshal(value)
		}
		set, bad := protocol.DefaultSettings().Apply(changed)
		if len(bad) > 0 {
			t.Fatal(c.set, bad)
		}
		var got []string
		for _, u := range (&World{}).Pays(set) {
			if u.For == "" || u.Price != nil {
				t.Errorf("%v: %+v is for nothing, or has a user's price", c.set, u)
			}
			_, known := u.Rate()
			got = append(got, fmt.Sprint(u.Model, " ", known))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%v: %q, want %q", c.set, got, c.want)
		}
	}
}

// TestDefaultTranscriptionHasAPrice: the model that the client names by default is that of the usage.
func TestDefaultTranscriptionHasAPrice(t *testing.T) {
	var got usage.Use
	s := &service{w: &World{port: daemon.Port{Used: func(u usage.Use) { got = u }}}}
	set := protocol.DefaultSettings()
	set.Provider = protocol.ProviderOpenAI
	s.used(set, "gpt-realtime-2.1-mini", "", realtime.Usage{Transcription: true, Seconds: 10})
	if cost, known := got.Cost(); !known || cost == 0 || got.Model != "gpt-live-transcribe" {
		t.Errorf("%+v costs %v, known: %v", got, cost.Dollars(), known)
	}
}

// TestCreatedSessionsArePaid: the daemon is told which service created a session, with which model.
func TestCreatedSessionsArePaid(t *testing.T) {
	var got []usage.Use
	w := &World{port: daemon.Port{Opened: func(u usage.Use) *daemon.Meter { got = append(got, u); return nil }}}
	s := newService(w)
	defer s.q.Close()
	set := protocol.DefaultSettings()
	set.Provider = protocol.ProviderLive
	cfg, err := s.dialConfig(set, nil)
	if err != nil {
		t.Fatal(err)
	}
	if m := cfg.Meter(); m != nil {
		t.Errorf("the meter is %v", m)
	}
	if want := []usage.Use{{Provider: "live", Model: "gpt-live-1"}}; !slices.Equal(got, want) {
		t.Errorf("told %+v, want %+v", got, want)
	}
}
