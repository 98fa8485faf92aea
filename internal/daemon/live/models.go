package live

import (
	"cmp"

	"github.com/agentvoice/agentvoice-daemon/audio/provider"
	"github.com/agentvoice/agentvoice-daemon/internal/services"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// HostedModel is a model of OpenAI that a conversation would use, and the setting that names it.
type HostedModel struct {
	Name    string
	Setting string
	Use     services.Use
}

// HostedModels returns the models of OpenAI that a conversation with these settings uses. Other services
// have models of the same names, or names of their own.
func HostedModels(set protocol.Settings) (models []HostedModel) {
	add := func(of protocol.Provider, endpoint, name, setting string, use services.Use) {
		row, _ := provider.Of(string(of))
		home, _ := row.Base("")
		base, problem := row.Base(endpoint)
		if row.Home != "" && problem == "" && base == home && name != "" {
			models = append(models, HostedModel{name, protocol.Prefix + setting, use})
		}
	}
	row, hearing := hearingWire(set)
	if row.Session != nil && hearing.Wire == provider.Realtime && !listens(set) {
		add(set.Hears(), set.HearingEndpoint(), cmp.Or(set.Model, row.Session.Model), "model", services.Session)
	}
	if row.Session == nil || !row.Session.Live { // a Live session recognises by itself
		add(set.Hears(), set.HearingEndpoint(), hearing.Model, "transcription.model", services.Transcription)
	}
	if _, voice, model := voiceWire(set); voice.Wire == provider.Speech {
		add(set.Speaks(), set.VoiceEndpoint(), model, "voice.model", services.Speech)
	}
	return models
}
