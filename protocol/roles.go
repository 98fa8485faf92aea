package protocol

import "cmp"

// Hears returns the provider of recognition.
func (s Settings) Hears() Provider { return cmp.Or(s.Hearing.Provider, s.Provider) }

// Speaks returns the provider of the voice. Beside the recognition of a service of which no default voice
// reads word for word, it is this machine's, unless a setting asks for that service's voice, or for a language
// that this machine's default voice does not speak.
func (s Settings) Speaks() Provider {
	language := BaseLanguage(cmp.Or(s.Transcription.Language, s.Locale))
	asked := s.Voice.Wire != WireAuto || s.Voice.Model != "" || s.Voice.Endpoint != "" || language != "" && language != "en"
	if s.Voice.Provider == "" && s.Hears() == s.Provider && !asked && (s.Provider == ProviderOpenAI || s.Provider == ProviderAzure) {
		return ProviderLocal
	}
	return cmp.Or(s.Voice.Provider, s.Provider)
}

// SessionWith returns the provider of the realtime session. Recognition by separate
// requests runs behind the embedded server, which detects speech and the ends of turns.
func (s Settings) SessionWith() Provider {
	if s.Hearing.Wire == WireTranscriptions || s.Hears() == ProviderCompatible {
		return ProviderLocal
	}
	return s.Hears()
}

// HearingEndpoint is the base URL of the recognition service, "" for the provider's
// default. agentvoice.endpoint applies only to agentvoice.provider.
func (s Settings) HearingEndpoint() string {
	if s.Hearing.Endpoint == "" && s.Hears() == s.Provider {
		return s.Endpoint
	}
	return s.Hearing.Endpoint
}

// VoiceEndpoint is the base URL of the voice service, likewise.
func (s Settings) VoiceEndpoint() string {
	if s.Voice.Endpoint == "" && s.Speaks() == s.Provider {
		return s.Endpoint
	}
	return s.Voice.Endpoint
}
