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
	use := usage.Use{
		Provider: string(set.SessionWith()), Model: model,
		Tokens: usage.Tokens{
			TextIn: u.TextIn, TextCached: u.TextCached, TextOut: u.TextOut,
			AudioIn: u.AudioIn, AudioCached: u.AudioCached, AudioOut: u.AudioOut,
		},
		AudioIn: time.Duration(u.Seconds * float64(time.Second)),
	}
	if u.Transcription {
		use.Provider, use.Model = string(set.Hears()), cmp.Or(transcription, earsOf(set).model)
		if use.Model == "" && set.Hears() != protocol.ProviderLocal {
			_, hearing := hearingWire(set) // the default, which was requested
			use.Model = hearing.Model
		}
	}
	s.w.port.Used(use)
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
			s.w.port.Used(usage.Use{
				Provider: string(set.Speaks()), Model: model, AudioOut: played, Characters: int64(len([]rune(seg.Text))),
			})
		}
		return err
	}
}
