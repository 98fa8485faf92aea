//go:build cgo

package live

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio/hearing"
	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime"
	"github.com/agentvoice/agentvoice-daemon/audio/voice"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// The missing capabilities of the selected recogniser and voice come from the table.
func TestWhatTheChosenServicesLack(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*protocol.Settings)
		lack   []protocol.ErrorCode
	}{
		{"this machine", func(*protocol.Settings) {}, nil},
		{"this machine, with a vocabulary", func(s *protocol.Settings) { s.Transcription.Prompt = "gopls" }, []protocol.ErrorCode{protocol.CodeVocabularyUnused}},
		{"OpenAI", func(s *protocol.Settings) { s.Provider, s.Transcription.Prompt = protocol.ProviderOpenAI, "gopls" }, []protocol.ErrorCode{protocol.CodeWordsUnchecked}},
		{"OpenAI, with a sentence for a vocabulary", func(s *protocol.Settings) {
			s.Provider, s.Transcription.Prompt = protocol.ProviderOpenAI, "We talk about our operator for Kubernetes and about the loop that reconciles"
		}, []protocol.ErrorCode{protocol.CodeWordsUnchecked, protocol.CodeVocabularyUnused}},
		{"OpenAI in the session", func(s *protocol.Settings) { s.Provider, s.Voice.Wire = protocol.ProviderOpenAI, protocol.WireRealtime },
			[]protocol.ErrorCode{protocol.CodeVoiceParaphrases, protocol.CodeHeardRoughly, protocol.CodeWordsUnchecked}},
		{"OpenAI Live", func(s *protocol.Settings) { s.Provider, s.Transcription.Prompt = protocol.ProviderLive, "gopls" },
			[]protocol.ErrorCode{protocol.CodeVoiceParaphrases, protocol.CodeHeardRoughly, protocol.CodeVoiceNotStopped, protocol.CodeWordsUnchecked}},
		{"OpenAI by requests", func(s *protocol.Settings) {
			s.Provider, s.Hearing.Wire = protocol.ProviderOpenAI, protocol.WireTranscriptions
		}, []protocol.ErrorCode{protocol.CodeWordsLate, protocol.CodeWordsUnchecked}},
		{"any server", func(s *protocol.Settings) { s.Provider = protocol.ProviderCompatible }, []protocol.ErrorCode{protocol.CodeWordsLate, protocol.CodeWordsUnchecked}},
		{"LocalAI", func(s *protocol.Settings) { s.Provider = protocol.ProviderLocalAI },
			[]protocol.ErrorCode{protocol.CodeVoiceParaphrases, protocol.CodeHeardRoughly, protocol.CodeWordsByPipeline, protocol.CodeWordsUnchecked}},
	} {
		set := protocol.DefaultSettings()
		c.change(&set)
		if got := lacks(set); !slices.Equal(got, c.lack) {
			t.Errorf("%s lacks %v, want %v", c.name, got, c.lack)
		}
	}
}

// messages returns the user's messages with a code.
func (tk *talk) messages(code protocol.ErrorCode) (list []string) {
	tk.mu.Lock()
	defer tk.mu.Unlock()
	for _, n := range tk.notes {
		if n.Code == code {
			list = append(list, n.Message)
		}
	}
	return list
}

// The user is told once, in the user's language, what is missing when a conversation
// begins, and once per conversation when one engine replaced another.
func TestWhatIsMissingIsAnnounced(t *testing.T) {
	_, url := audioService(t, nil)
	agent := &answers{send: says("Here is the answer.")}
	reports := &Reports{}
	tk := talkTo(t, agent, agent, func(s *protocol.Settings) {
		s.Provider, s.Endpoint, s.Locale = protocol.ProviderCompatible, url, "de"
	}, devicesOf(&mouth{}, reports))
	for range 2 {
		tk.begin()
		reports.HearingReplaced(errors.New("a model is damaged"))
		reports.HearingReplaced(errors.New("a model is damaged"))
		reports.VoiceReplaced(errors.New("a model is damaged"))
		reports.VoiceReplaced(voice.ErrLate) // told already
		reports.TurnEndReplaced(errors.New("a model is damaged"))
		reports.TurnEndReplaced(errors.New("a model is damaged"))
		reports.DetectorReplaced(errors.New("a model is damaged")) // four detectors fail one by one
		reports.DetectorReplaced(errors.New("a model is damaged"))
		reports.LanguageUnknown("de", "parakeet")
		reports.VoiceSlow(1400 * time.Millisecond)
		tk.end()
	}
	tk.begin()
	reports.VoiceReplaced(voice.ErrLate)
	tk.end()
	if late := tk.messages(protocol.CodeVoiceLate); len(late) != 2 || !strings.HasSuffix(late[0], "(1400 ms)") || len(tk.messages(protocol.CodeVoiceReplaced)) != 2 {
		t.Errorf("the user was told %q about a voice that is too slow", late)
	}
	limited := tk.messages(protocol.CodeServiceLimited)
	if len(limited) != 1 || !strings.Contains(limited[0], protocol.CodeWordsLate.Spec().Spoken(protocol.German)) {
		t.Errorf("the user was told %q", limited)
	}
	if heard, spoken := tk.messages(protocol.CodeHearingReplaced), tk.messages(protocol.CodeVoiceReplaced); len(heard) != 2 || len(spoken) != 2 || strings.Contains(heard[0], "damaged") {
		t.Errorf("the user was told %q and %q", heard, spoken)
	}
	if told := tk.messages(protocol.CodeLanguageUnknown); len(told) != 1 || !strings.Contains(told[0], "(de: parakeet)") {
		t.Errorf("the user was told %q about the language", told)
	}
	if told := tk.messages(protocol.CodeDetectorReplaced); len(told) != 1 || strings.Contains(told[0], "damaged") {
		t.Errorf("the user was told %q about the voice detector", told)
	}
	if told := tk.messages(protocol.CodeTurnEndReplaced); len(told) != 2 {
		t.Errorf("the user was told %q", told)
	}
}

// An engine that fails within an utterance is replaced, and the user is told, with the
// wiring of production.
func TestAnEngineThatFailsIsAnnounced(t *testing.T) {
	reports := &Reports{}
	cfg := devicesOf(nil, reports)
	cfg.Engines = func(SpeechChoice) (localrealtime.Config, error) {
		e, err := newTape(sentenceIs).engines(SpeechChoice{}) // its words do not depend on the machine's load
		e.Recognizer = hearing.WithFallback(func() (hearing.Recognizer, error) { return nil, errors.New("no model") }, e.Recognizer, reports.HearingReplaced)
		return e, err
	}
	m := &mouth{}
	cfg.Source = devicesOf(m, nil).Source
	agent := &answers{send: says("Here is the answer.")}
	tk := talkTo(t, agent, agent, nil, cfg)
	tk.mouth = m
	tk.begin()
	tk.mouth.say(t, sentence)
	if end := tk.ended(); end.Outcome != protocol.OutcomeAnswered { // the notice may be spoken before the answer
		t.Errorf("the turn ended with %v", end.Outcome)
	}
	if told := tk.messages(protocol.CodeHearingReplaced); len(told) != 1 || tk.lastUserWords() != sentenceIs {
		t.Errorf("the user was told %q, and %q was heard", told, tk.lastUserWords())
	}
}
