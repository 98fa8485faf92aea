package live

import (
	"cmp"

	"github.com/agentvoice/agentvoice-daemon/audio/provider"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
	"github.com/agentvoice/agentvoice-daemon/internal/services"
	"github.com/agentvoice/agentvoice-daemon/protocol"
	"github.com/agentvoice/agentvoice-daemon/session/usage"
)

// HostedModel is a model of a service that a conversation would use, and the setting that names it.
type HostedModel struct {
	Name     string
	Setting  string
	Use      services.Use
	Provider protocol.Provider
	endpoint string
}

// UseOf returns a use of a model at the prices of its service.
func (m HostedModel) UseOf() usage.Use {
	u := useOf(m.Provider, m.endpoint, m.Name)
	u.For = m.Use
	return u
}

// useOf returns a use of a service. A server on this machine that needs no key is free, unless the user
// gives its price.
func useOf(of protocol.Provider, endpoint, model string) usage.Use {
	row, _ := provider.Of(string(of))
	return usage.Use{Provider: string(of), Model: model, Free: row.Anonymous && provider.OnThisMachine(endpoint)}
}

// HostedModels returns the models of OpenAI that a conversation with these settings uses. Other services
// have models of the same names, or names of their own.
func HostedModels(set protocol.Settings) (models []HostedModel) {
	for _, m := range AllModels(set) {
		if row, _ := provider.Of(string(m.Provider)); row.AtHome(m.endpoint) {
			models = append(models, m)
		}
	}
	return models
}

// AllModels returns the models that a conversation with these settings uses, of all services but the
// engines of this machine.
func AllModels(set protocol.Settings) (models []HostedModel) {
	add := func(of protocol.Provider, endpoint, name, setting string, use services.Use) {
		if of != protocol.ProviderLocal && name != "" {
			models = append(models, HostedModel{name, protocol.Prefix + setting, use, of, endpoint})
		}
	}
	row, hearing := hearingWire(set)
	session, sessionSetting, transcriptionSetting := set.Model, "model", "transcription.model"
	if row.Deployments {
		session, sessionSetting, transcriptionSetting = set.Deployment, "deployment", "transcription.deployment"
	}
	if row.Session != nil && hearing.Wire == provider.Realtime && !listens(set) {
		add(set.Hears(), set.HearingEndpoint(), cmp.Or(session, row.Session.Model), sessionSetting, services.Session)
	}
	if row.Session == nil || !row.Session.Live { // a Live session recognises by itself
		add(set.Hears(), set.HearingEndpoint(), hearing.Model, transcriptionSetting, services.Transcription)
	}
	speaks, voice, model := voiceWire(set)
	if voice.Wire == provider.Realtime { // and another voice says the rest
		_, voice, model = proofreader(set, speaks, voice)
	}
	if voice.Wire == provider.Speech {
		add(set.Speaks(), set.VoiceEndpoint(), model, "voice.model", services.Speech)
	}
	return models
}

var _ daemon.Payer = (*World)(nil)

// Pays implements daemon.Payer.
func (*World) Pays(set protocol.Settings) (uses []usage.Use) {
	for _, m := range AllModels(set) {
		uses = append(uses, m.UseOf())
	}
	return uses
}
