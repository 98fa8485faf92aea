package live

import (
	"cmp"
	"context"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio/hosted"
	"github.com/agentvoice/agentvoice-daemon/audio/realtime"
	"github.com/agentvoice/agentvoice-daemon/protocol"
	"github.com/agentvoice/agentvoice-daemon/session/usage"
)

// used records the usage that a session reports. Behind the embedded server, another
// service may do the recognition; the seconds of audio then count for that service.
func (s *service) used(set protocol.Settings, model, transcription string, u realtime.Usage) {
	if s.w.port.Used == nil {
		return
	}
	of := set.SessionWith()
	if u.Transcription {
		of, model = set.Hears(), cmp.Or(transcription, earsOf(set).model)
		if model == "" && of != protocol.ProviderLocal {
			_, hearing := hearingWire(set) // the default, which was requested
			model = hearing.Model
		}
	}
	use := useOf(of, set.HearingEndpoint(), model)
	use.Tokens = usage.Tokens{
		TextIn: u.TextIn, TextCached: u.TextCached, TextOut: u.TextOut,
		AudioIn: u.AudioIn, AudioCached: u.AudioCached, AudioOut: u.AudioOut,
	}
	use.AudioIn = time.Duration(u.Seconds * float64(time.Second))
	s.w.port.Used(use)
}

// opened returns the meter of a session that a service has created, or nil.
func (s *service) opened(set protocol.Settings, model string) realtime.Meter {
	if s.w.port.Opened == nil {
		return nil
	}
	if m := s.w.port.Opened(useOf(set.SessionWith(), set.HearingEndpoint(), model)); m != nil {
		return m
	}
	return nil
}

// countSpeech records the usage of a voice that is driven by requests. Such a service
// reports nothing, so its audio is measured.
func (s *service) countSpeech(set protocol.Settings, model string, speak hosted.Speaker) hosted.Speaker {
	return func(ctx context.Context, seg realtime.Segment, emit func([]int16, int) error) error {
		var played time.Duration
		err := speak(ctx, seg, func(pcm []int16, rate int) error {
			played += time.Duration(len(pcm)) * time.Second / time.Duration(max(rate, 1))
			return emit(pcm, rate)
		})
		if played > 0 && s.w.port.Used != nil {
			use := useOf(set.Speaks(), set.VoiceEndpoint(), model)
			use.AudioOut, use.Characters = played, int64(len([]rune(seg.Text)))
			s.w.port.Used(use)
		}
		return err
	}
}
