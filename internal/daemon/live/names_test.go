//go:build cgo

package live

import (
	"slices"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/hearing"
	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// preferring is a tape that records the preferred words.
type preferring struct {
	tape
	told chan []string
}

func (p preferring) SetWords(words []string) { p.told <- words }

// TestTheRecogniserKnowsTheUsersNames: the names of agentvoice.vocabulary reach the
// local recogniser in spoken form. They need no consent, because they stay on this
// machine.
func TestTheRecogniserKnowsTheUsersNames(t *testing.T) {
	p := preferring{newTape("these are the words"), make(chan []string, 8)}
	m := &mouth{}
	tk := newTalkOver(t, func(s *protocol.Settings) { s.Vocabulary, s.Words.Send = "parseConfigV2, pgvector", false }, Config{
		Source: func(protocol.Settings) (audio.Source, error) { return m, nil },
		Sink:   func(protocol.Settings) (audio.Sink, error) { return loudspeaker{}, nil },
		Speed:  speed, Engines: func(SpeechChoice) (localrealtime.Config, error) {
			cfg, err := engines(SpeechChoice{})
			cfg.Recognizer = func() (hearing.Recognizer, error) { return p, nil }
			return cfg, err
		},
	})
	m.utter(voiceOf(t, sentence))
	tk.answered()
	if got, want := <-p.told, []string{"parse config v two", "pgvector"}; !slices.Equal(got, want) {
		t.Errorf("the recogniser was given %q, want %q", got, want)
	}
}
