package protocol

import (
	"strings"

	"golang.org/x/text/language"
)

// Locale is a language of labels, messages and speech. The zero value is English.
type Locale string

// The locales.
const (
	English  Locale = "en"
	German   Locale = "de"
	Japanese Locale = "ja"
)

// Locales lists every locale; the first is the fallback.
var Locales = []Locale{English, German, Japanese}

var localeMatcher = language.NewMatcher([]language.Tag{language.English, language.German, language.Japanese})

// MatchLocale returns the Locale for a BCP 47 tag such as "de-AT" or "ja", and English
// for a tag that is empty, malformed or unsupported.
func MatchLocale(tag string) Locale {
	t, err := language.Parse(tag)
	if err != nil {
		return English
	}
	_, i, confidence := localeMatcher.Match(t)
	if confidence == language.No {
		return English
	}
	return Locales[i]
}

// BaseLanguage reduces a BCP 47 tag to its language, such as "de" for "de-AT". It returns ""
// for "".
func BaseLanguage(tag string) string {
	if tag == "" {
		return ""
	}
	base, _ := language.Make(tag).Base()
	return base.String()
}

// words is a text in each Locale.
type words struct{ en, de, ja string }

func (w words) in(l Locale) string {
	text := w.en
	switch l {
	case German:
		text = w.de
	case Japanese:
		text = w.ja
	}
	return strings.ReplaceAll(text, agentHere, "Copilot")
}

// by inserts an agent's name in place of Copilot's.
func (w words) by(agent string) words {
	if agent == "" {
		return w
	}
	named := func(text string) string { return strings.ReplaceAll(text, agentHere, agent) }
	return words{named(w.en), named(w.de), named(w.ja)}
}

// agentHere is the placeholder for the name of the agent.
const agentHere = "{agent}"

// labels are the states as the panel shows them (GUD-003 and the UI
// messaging contract). Processing and its substates are all "Thinking".
var labels = map[State]words{
	StateIdle:              {"○ Ready", "○ Bereit", "○ 準備完了"},
	StatePreparing:         {"⋯ Preparing", "⋯ Wird vorbereitet", "⋯ 準備中"},
	StateListening:         {"● Listening", "● Hört zu", "● 聞いています"},
	StateProcessing:        {"⋯ Thinking", "⋯ Denkt nach", "⋯ 考えています"},
	StateWaitingForCopilot: {"⋯ Waiting for {agent}", "⋯ Wartet auf {agent}", "⋯ {agent} を待っています"},
	StateSpeaking:          {"● Speaking", "● Spricht", "● 話しています"},
	StateInterrupted:       {"● Interrupted", "● Unterbrochen", "● 中断しました"},
	StateSuspended:         {"⋯ Paused", "⋯ Angehalten", "⋯ 一時停止中"},
	StateFaulted:           {"▲ Problem", "▲ Störung", "▲ 問題が発生しました"},
	StateTerminating:       {"⋯ Ending", "⋯ Wird beendet", "⋯ 終了中"},
}

// Label is the localizedLabel of a state. Substates have the label of their state. agent
// is the display name of the assistant, "" for Copilot.
func (l Locale) Label(s State, agent string) string { return labels[s].by(agent).in(l) }

// AnswerLabel is the localizedLabel of listening for the answer to a question about a call.
func (l Locale) AnswerLabel() string {
	return words{"● Waiting for your answer", "● Wartet auf Ihre Antwort", "● お返事を待っています"}.in(l)
}

// VoicePausedLabel is the localizedLabel of speaking while the user has paused the voice.
func (l Locale) VoicePausedLabel() string {
	return words{"⋯ Voice paused", "⋯ Stimme angehalten", "⋯ 音声を一時停止中"}.in(l)
}
