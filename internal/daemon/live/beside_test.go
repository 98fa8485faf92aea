//go:build cgo

package live

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime"
	"github.com/agentvoice/agentvoice-daemon/audio/realtime"
	"github.com/agentvoice/agentvoice-daemon/audio/voice"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// countedVoice counts how many of it are loaded.
type countedVoice struct{ loaded *atomic.Int32 }

func (countedVoice) Voices() []string { return []string{"one"} }
func (countedVoice) SetRate(float64)  {}
func (v countedVoice) Close() error   { v.loaded.Add(-1); return nil }
func (countedVoice) Speak(_ context.Context, _, _ string, emit func([]int16, int) error) error {
	return emit(make([]int16, 1600), 16000)
}

// TestTheVoiceBesideASessionRests: it is loaded before its first words, leaves the memory some minutes after the
// conversation was suspended, and is back for the next words, or when the conversation goes on.
func TestTheVoiceBesideASessionRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var loaded atomic.Int32
		w := &World{cfg: Config{Log: zerolog.Nop(), Engines: func(SpeechChoice) (localrealtime.Config, error) {
			return localrealtime.Config{Synthesizer: func() (voice.Synthesizer, error) { loaded.Add(1); return countedVoice{&loaded}, nil }}, nil
		}}, port: daemon.Port{Language: func() string { return "en" }}}
		w.voice = &assistant{w: w}
		b := newBeside(&service{w: w}, protocol.DefaultSettings(), true)
		wants := func(when string, want int32) {
			t.Helper()
			synctest.Wait()
			if got := loaded.Load(); got != want {
				t.Errorf("%s, %d engines are loaded, want %d", when, got, want)
			}
		}
		say := func() {
			t.Helper()
			if err := b.speak(t.Context(), realtime.Segment{Text: "words"}, func([]int16, int) error { return nil }); err != nil {
				t.Error(err)
			}
		}
		wants("at the start", 1)
		say()
		b.suspend(true)
		time.Sleep(localrealtime.DefaultKeepEngines - time.Second)
		wants("soon after it was suspended", 1)
		b.suspend(false)
		time.Sleep(time.Hour)
		wants("in the conversation", 1)
		b.suspend(true)
		time.Sleep(localrealtime.DefaultKeepEngines + time.Second)
		wants("suspended for longer", 0)
		say() // a notice
		wants("with words in between", 1)
		b.suspend(false)
		wants("in the conversation again", 1)
		if err := b.close(); err != nil {
			t.Error(err)
		}
		wants("at the end", 0)
		b.suspend(true)
		time.Sleep(time.Hour)
		(*beside)(nil).suspend(true)
	})
}
