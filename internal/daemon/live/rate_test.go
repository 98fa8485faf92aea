//go:build cgo

package live

import (
	"slices"
	"sync/atomic"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// soundingFrames counts the frames in which the assistant is audible.
type soundingFrames struct{ n atomic.Int64 }

func (*soundingFrames) User(int64, *audio.Frame) {}
func (s *soundingFrames) Assistant(f *audio.Frame) {
	if audio.LevelOf(f[:]).RMS > -60 {
		s.n.Add(1)
	}
}

// TestVoiceRateIsHeard: through the embedded server, the same sentence at rate 2 is
// about half as long, whether the rate comes from the setting or from the user of the
// conversation.
//
//test:long
func TestVoiceRateIsHeard(t *testing.T) {
	heard := &soundingFrames{}
	mouth := &mouth{}
	tk := newTalkOver(t, func(s *protocol.Settings) { s.Cues.Enabled = false }, Config{
		Source: func(protocol.Settings) (audio.Source, error) { return mouth, nil },
		Sink:   func(protocol.Settings) (audio.Sink, error) { return loudspeaker{}, nil },
		Speed:  speed, Tap: heard,
	})
	tk.agent.become(says("All twelve tests of the parser pass, and nothing else was changed."))
	length := func() float64 {
		t.Helper()
		heard.n.Store(0)
		tk.sendText("Run the tests.")
		tk.answered()
		tk.want(protocol.StateListening)
		return float64(heard.n.Load())
	}
	normal := length()
	is := func(what string, rate float64) {
		t.Helper()
		if got := normal / length(); got < 0.8*rate || got > 1.2*rate {
			t.Errorf("%s: the voice is %.2f times as fast, want %v", what, got, rate)
		}
	}
	set := protocol.DefaultSettings()
	set.TurnDetection.Mode = protocol.TurnServer
	set.Cues.Enabled = false
	set.Voice.Rate = 2
	tk.d.Configure(set)
	is("the setting", 2)
	tk.w.SetRate(0.5)
	is("the conversation", 0.5)
}

// TestVoiceRateIsLimitedOnceAloud: the rate is clamped to the service's limits, and the
// user is told once.
func TestVoiceRateIsLimitedOnceAloud(t *testing.T) {
	var warned []protocol.ErrorCode
	set := protocol.DefaultSettings()
	w := &World{port: daemon.Port{
		Settings: func() protocol.Settings { return set },
		Warn:     func(code protocol.ErrorCode, _ string) { warned = append(warned, code) },
	}}
	r := &rate{}
	set.Voice.Rate = 2
	for range 3 {
		if got := r.of(w, 0.25, 1.5); got != 1.5 {
			t.Errorf("rate 2 is %v where 1.5 is the fastest", got)
		}
	}
	if want := []protocol.ErrorCode{protocol.CodeVoiceRateLimited}; !slices.Equal(warned, want) {
		t.Errorf("the user is told %v, want %v", warned, want)
	}
	set.Voice.Rate = 1.25
	if got := r.of(w, 0.25, 1.5); got != 1.25 || len(warned) != 1 {
		t.Errorf("rate 1.25 is %v, told %v", got, warned)
	}
}

// TestHeardPositionKnowsTheRate: a pace learned at one rate predicts the length of a
// segment at another, so that the heard portion is not overestimated.
func TestHeardPositionKnowsTheRate(t *testing.T) {
	v := &assistant{pieces: map[audio.SegmentID]*piece{}, pace: slowestSpeech}
	first, second := audio.SegmentID{Gen: 1, Seq: 1}, audio.SegmentID{Gen: 1, Seq: 2}
	v.pieces[first] = &piece{chars: 20, rate: 2}
	v.learn(audio.PlayerEvent{Seg: first, Of: 20 * 1500})
	for rate, want := range map[float64]int64{0.5: 6000, 1: 3000, 2: 1500, 3: 1000} {
		v.pieces[second] = &piece{chars: 10, rate: rate}
		if got := v.length(audio.PlayerEvent{Seg: second, Samples: 10}); got != 10*want {
			t.Errorf("ten characters at rate %v have %d samples, want %d", rate, got, 10*want)
		}
	}
}
