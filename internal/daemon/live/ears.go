package live

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agentvoice/agentvoice-daemon/audio/hearing"
	"github.com/agentvoice/agentvoice-daemon/audio/hosted"
	"github.com/agentvoice/agentvoice-daemon/audio/provider"
	"github.com/agentvoice/agentvoice-daemon/audio/realtime"
	"github.com/agentvoice/agentvoice-daemon/audio/voice"
	"github.com/agentvoice/agentvoice-daemon/internal/services"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// ears is the recogniser behind the embedded server.
type ears struct {
	provider        protocol.Provider // ProviderLocal stands for the local engines
	wire            provider.Wire
	endpoint, model string
	proxy           string
}

// SpeechChoice is what decides about the models of the embedded server.
type SpeechChoice struct {
	Engine   string // as protocol.VoiceSettings
	Models   string // as protocol.Settings
	Language string // ISO 639-1; "" if it is not known
	Persist  bool   // measurements may be written
}

func (s *service) choice(set protocol.Settings) SpeechChoice {
	return ChoiceOf(set, s.w.port.Language())
}

// ChoiceOf returns what the settings say about the models. The name of one of Flite's voices
// selects Flite.
func ChoiceOf(set protocol.Settings, language string) SpeechChoice {
	engine := set.Voice.Engine
	if voice.IsFlite(set.Voice.Name) {
		engine = protocol.VoiceFast
	}
	return SpeechChoice{engine, set.Models, language, set.Privacy.Persist}
}

// listens reports whether a session with the service may be one that only recognises: it does not
// speak, and does not end turns. Servers at another address may know only sessions that converse.
func listens(set protocol.Settings) bool {
	row, _ := provider.Of(string(set.SessionWith()))
	_, voice, _ := voiceWire(set)
	return row.Session != nil && row.Session.Listens && row.AtHome(set.HearingEndpoint()) && voice.Wire != provider.Realtime && set.TurnDetection.Mode != protocol.TurnServer
}

// hearingWire returns the recognition service that the settings select, with its model: "" if only
// the service knows it.
func hearingWire(set protocol.Settings) (row provider.Row, hearing provider.Hearing) {
	return hearingIn(set, listens(set))
}

// hearingIn is hearingWire in a session that only recognises, or converses.
func hearingIn(set protocol.Settings, only bool) (row provider.Row, hearing provider.Hearing) {
	row, _ = provider.Of(string(set.Hears()))
	for _, h := range row.Hearing {
		if set.Hearing.Wire != protocol.WireAuto && set.Hearing.Wire != string(h.Wire) {
			continue
		}
		fits := h.Model
		if !only {
			fits = cmp.Or(h.Converses, fits)
		}
		model := cmp.Or(set.Transcription.Model, fits)
		if row.Deployments {
			model = set.Transcription.Deployment
		} else if m, _ := services.Of(model); m.Session == services.TranscriptionSession && (!only || h.Wire != provider.Realtime) {
			model = fits // the named one is only for a session that recognises only
		}
		return row, h.Of(row, model)
	}
	return row, provider.Hearing{}
}

// earsOf returns the recogniser that the settings select.
func earsOf(set protocol.Settings) ears {
	row, hearing := hearingWire(set)
	if hearing.Wire == "" || hearing.Wire == provider.Realtime && row.Session != nil {
		return ears{provider: protocol.ProviderLocal}
	}
	return ears{set.Hears(), hearing.Wire, set.HearingEndpoint(), hearing.Model, set.Network.Proxy}
}

// hearsLocally reports whether the local engines are the recogniser.
func hearsLocally(set protocol.Settings) bool {
	return set.SessionWith() == protocol.ProviderLocal && earsOf(set).provider == protocol.ProviderLocal
}

// vocabulary returns the names and terms that the user is likely to say, for all
// services that accept them with the audio.
func vocabulary(set protocol.Settings) string { return set.Transcription.Prompt }

// Of what is sent as a list; a name that is longer is a sentence.
const (
	mostKeywords   = 100
	longestKeyword = 60 // characters
)

// keywords returns the vocabulary as a list.
func keywords(vocabulary string) (list []string) {
	for word := range strings.FieldsFuncSeq(vocabulary, func(r rune) bool { return strings.ContainsRune(",;、，；\n", r) }) {
		word = strings.TrimSpace(word)
		if word != "" && utf8.RuneCountInString(word) <= longestKeyword && !slices.Contains(list, word) && len(list) < mostKeywords {
			list = append(list, word)
		}
	}
	return list
}

// newTranscriber creates the transcriber of a service. If the service fails, the local
// engine takes over, and the user is notified.
func (s *service) newTranscriber(e ears, engine hearing.Factory) (*hosted.Transcriber, error) {
	row, _ := provider.Of(string(e.provider))
	hearing, _ := row.Hears(e.wire)
	hearing = hearing.Of(row, e.model)
	return hosted.NewTranscriber(hosted.TranscriberConfig{
		Config: hosted.Config{
			Provider: row, BaseURL: e.endpoint, Model: e.model, HTTPClient: s.httpClient(s.w.port.Settings()), Log: s.w.cfg.Log,
			Credentials: func(ctx context.Context) (realtime.Credential, error) { return s.credential(ctx, e.provider) },
		},
		Hearing:    hearing,
		Language:   func() string { return protocol.BaseLanguage(s.w.port.Settings().Transcription.Language) },
		Vocabulary: func() string { return vocabulary(s.w.port.Settings()) },
		Keywords:   func() []string { return keywords(vocabulary(s.w.port.Settings())) },
		Instead:    engine,
		Report:     s.earsReplaced,
	})
}

// earsReplaced notifies the user, once per conversation, that another engine does the
// recognition.
func (s *service) earsReplaced(err error) {
	s.w.cfg.Log.Warn().Err(err).Msg("recognition failed; the engine of this machine hears instead")
	if s.replaced.CompareAndSwap(false, true) {
		s.w.port.Warn(protocol.CodeHearingReplaced, s.w.because(err))
	}
}

// quit cancels a call's outstanding requests to a recognition service, unless another
// call of the conversation may need them.
func (s *service) quit(c *call) {
	s.mu.Lock()
	local := s.local
	s.mu.Unlock()
	if local != nil && local.transcriber != nil && c.link.live.Load() == nil {
		local.transcriber.Cancel()
	}
}
