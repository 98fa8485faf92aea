package live

import (
	"cmp"
	"slices"
	"sync"

	"github.com/agentvoice/agentvoice-daemon/audio/provider"
	"github.com/agentvoice/agentvoice-daemon/audio/voice"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// speakers holds the speakers of the local voice, and the one that the user switched to.
type speakers struct {
	mu     sync.Mutex
	known  []string // of the engine that speaks, the default first
	chosen string   // during this conversation; "" if it was not switched
	lacks  string   // the name that the user was told is unknown
}

// of returns a factory that records the speakers of what it makes, without those of a
// fallback.
func (s *speakers) of(factory voice.Factory) voice.Factory {
	return func() (voice.Synthesizer, error) {
		synth, err := factory()
		if err != nil {
			return nil, err
		}
		names := synth.Voices()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.known = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return voice.IsFlite(n) != voice.IsFlite(names[0]) })
		return synth, nil
	}
}

// choose returns what to ask the engine for: the speaker that the user switched to, or else the
// one of the settings. "" is the engine's first one, which speaks if it lacks that; news reports
// whether this was unknown until now.
func (s *speakers) choose(setting string) (name string, news bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name = cmp.Or(s.chosen, setting)
	if name == "" || slices.Contains(s.known, name) {
		return name, false
	}
	news, s.lacks = s.lacks != name, name
	return "", news
}

// speaker returns the speaker for the next segment, of an engine whose speakers are known. The
// user is told once that the engine does not have the one of the settings.
func (w *World) speaker(setting string) string {
	name, news := w.voice.speakers.choose(setting)
	if news {
		w.cfg.Log.Warn().Msg("the voice lacks the speaker of the settings; its first one speaks")
		w.port.Warn(protocol.CodeVoiceUnknown, setting)
	}
	return name
}

// forget drops the choice at the end of a conversation. The settings have it for the next one.
func (s *speakers) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chosen = ""
}

var _ daemon.VoiceSwitcher = (*World)(nil)

// SwitchVoice implements daemon.VoiceSwitcher. It knows the speakers of this machine's engines,
// and none of a service. It switches nothing while the fallback of a late engine
// speaks, because the user would hear no difference.
func (w *World) SwitchVoice(by int) (name, spoken string) {
	set := w.port.Settings()
	if row, _, _ := voiceWire(set); row.Name != provider.Local || w.voice.late.Load() {
		return "", ""
	}
	s := &w.voice.speakers
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.known) < 2 {
		return "", ""
	}
	now := max(slices.Index(s.known, cmp.Or(s.chosen, set.Voice.Name)), 0)
	s.chosen = s.known[(now+by+len(s.known))%len(s.known)]
	return s.chosen, voice.SpokenName(s.chosen)
}
