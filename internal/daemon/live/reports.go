package live

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio/provider"
	"github.com/agentvoice/agentvoice-daemon/audio/voice"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// Reports forwards the engines' reports to the user. It exists because engine factories
// are created before the World. Its methods are safe for concurrent use.
type Reports struct{ world atomic.Pointer[World] }

// to returns the World, or nil before it is there.
func (r *Reports) to() *World { return r.world.Load() }

// HearingReplaced reports that recognition failed and another engine took over.
func (r *Reports) HearingReplaced(err error) {
	if w := r.to(); w != nil {
		w.service.earsReplaced(err)
	}
}

// VoiceReplaced reports that the voice failed and another one took over.
func (r *Reports) VoiceReplaced(err error) {
	if w := r.to(); w != nil {
		w.voice.wasReplaced(err)
	}
}

// TurnEndReplaced tells the user, once per conversation, that the end-of-turn model
// failed, and that words and pauses decide instead.
func (r *Reports) TurnEndReplaced(err error) {
	w := r.to()
	if w == nil {
		return
	}
	w.cfg.Log.Warn().Err(err).Msg("the end-of-turn model failed; words and pauses decide instead")
	if w.service.turnEndLost.CompareAndSwap(false, true) {
		w.port.Warn(protocol.CodeTurnEndReplaced, w.because(err))
	}
}

// DetectorReplaced tells the user, once, that the voice detector failed and that a simpler
// one took over. Detectors are loaded before each conversation, several at a time.
func (r *Reports) DetectorReplaced(err error) {
	w := r.to()
	if w == nil {
		return
	}
	if !w.service.detectorLost.CompareAndSwap(false, true) {
		w.cfg.Log.Debug().Err(err).Msg("the voice detector failed again")
		return
	}
	w.cfg.Log.Warn().Err(err).Msg("the voice detector failed; a simpler one takes over")
	w.port.Warn(protocol.CodeDetectorReplaced, w.because(err))
}

// LanguageUnknown tells the user, once, that the recogniser does not understand a language. model is
// one that does, or "".
func (r *Reports) LanguageUnknown(language, model string) {
	w := r.to()
	if w == nil {
		return
	}
	w.cfg.Log.Warn().Str("language", language).Msg("the recogniser does not understand the user's language")
	if w.service.foreign.CompareAndSwap(false, true) {
		if model != "" {
			language += ": " + model
		}
		w.port.Warn(protocol.CodeLanguageUnknown, language)
	}
}

// VoiceSlow tells the user, once, that Flite speaks because the voice takes too long for its first
// words on this machine: took, or zero if that is known without measuring.
func (r *Reports) VoiceSlow(took time.Duration) {
	w := r.to()
	if w == nil {
		return
	}
	w.cfg.Log.Warn().Dur("firstMs", took).Msg("the voice is too slow on this machine; Flite speaks")
	if !w.voice.slow.CompareAndSwap(false, true) {
		return
	}
	detail := ""
	if took > 0 {
		detail = fmt.Sprintf("%d ms", took.Milliseconds())
	}
	w.port.Warn(protocol.CodeVoiceLate, detail)
}

// wasReplaced tells the user, once per conversation, that another engine speaks: because the
// voice is too slow, or because it failed.
func (v *assistant) wasReplaced(err error) {
	v.w.cfg.Log.Warn().Err(err).Msg("another engine speaks instead of the voice")
	late := errors.Is(err, voice.ErrLate)
	if late {
		v.late.Store(true)
	}
	switch first := v.replaced.CompareAndSwap(false, true); {
	case first && late:
		v.w.port.Warn(protocol.CodeVoiceLate, "")
	case first:
		v.w.port.Warn(protocol.CodeVoiceReplaced, v.w.because(err))
	}
}

// lacks returns codes for the missing capabilities of the selected recogniser and voice
// that the user would notice.
func lacks(set protocol.Settings) (codes []protocol.ErrorCode) {
	_, hearing := hearingWire(set)
	_, voice, _ := voiceWire(set)
	for _, c := range []struct {
		lacks bool
		code  protocol.ErrorCode
	}{
		{!voice.Verbatim, protocol.CodeVoiceParaphrases},
		{!voice.HeardPositions, protocol.CodeHeardRoughly},
		{!voice.Cancel, protocol.CodeVoiceNotStopped},
		{hearing.Partials == provider.Unsupported, protocol.CodeWordsLate},
		{hearing.Partials == provider.ByPipeline, protocol.CodeWordsByPipeline},
		{!hearing.Logprobs, protocol.CodeWordsUnchecked},
		{hearing.Vocabulary != provider.Prompt && (hearing.Vocabulary != provider.Keywords || keywords(vocabulary(set)) == nil) && set.Transcription.Prompt != "", protocol.CodeVocabularyUnused},
	} {
		if c.lacks {
			codes = append(codes, c.code)
		}
	}
	return codes
}

// announce tells the user about missing capabilities of the selected recogniser and
// voice, if they have changed since the last announcement. It runs on the service's
// queue.
func (s *service) announce(set protocol.Settings) {
	var sentences []string
	for _, code := range lacks(set) {
		sentences = append(sentences, s.w.port.Spoken(code))
	}
	text := strings.Join(sentences, " ")
	if text == s.announced {
		return
	}
	if s.announced = text; text != "" {
		row, _ := hearingWire(set)
		s.w.cfg.Log.Info().Str("hearing", row.Name).Str("voice", string(set.Speaks())).Int("missing", len(sentences)).Msg("the chosen services cannot do everything")
		s.w.port.Warn(protocol.CodeServiceLimited, text)
	}
}
