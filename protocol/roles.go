package protocol

import "cmp"

// Hears is the provider that hears.
func (s Settings) Hears() Provider { return cmp.Or(s.Hearing.Provider, s.Provider) }

// Speaks is the provider that speaks.
func (s Settings) Speaks() Provider { return cmp.Or(s.Voice.Provider, s.Provider) }

// SessionWith is the provider that a session is held with. What hears by requests does so
// behind the embedded server, which finds the user's voice and the ends of turns.
func (s Settings) SessionWith() Provider {
	if s.Hearing.Wire == WireTranscriptions || s.Hears() == ProviderCompatible {
		return ProviderLocal
	}
	return s.Hears()
}

// HearingEndpoint is the address of the service that hears; "" is the provider's own.
// agentvoice.endpoint is that of agentvoice.provider only.
func (s Settings) HearingEndpoint() string {
	if s.Hearing.Endpoint == "" && s.Hears() == s.Provider {
		return s.Endpoint
	}
	return s.Hearing.Endpoint
}

// VoiceEndpoint is the address of the service that speaks, likewise.
func (s Settings) VoiceEndpoint() string {
	if s.Voice.Endpoint == "" && s.Speaks() == s.Provider {
		return s.Endpoint
	}
	return s.Voice.Endpoint
}
