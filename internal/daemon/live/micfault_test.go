package live

import (
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// judged feeds frames to a micFault, and returns the last fault and after how long it was first
// reported.
func judged(m *micFault, d time.Duration, f micFrame) (last protocol.ErrorCode, after time.Duration) {
	after = -1
	was := m.judge(f)
	for i := time.Duration(1); i < d/audio.FrameTime; i++ {
		if last = m.judge(f); last != was && after < 0 {
			after = i * audio.FrameTime
		}
	}
	return last, after
}

// The faults of a microphone are found within five seconds, and end when it works.
func TestFaultsOfTheMicrophone(t *testing.T) {
	const limit = 5 * time.Second
	var (
		silence = micFrame{level: -75}
		zeros   = micFrame{zero: true, level: audio.SilenceLevel}
		muted   = micFrame{zero: true, muted: true, level: audio.SilenceLevel}
		speech  = micFrame{voice: true, level: -30}
		clipped = micFrame{voice: true, level: -6, clipped: 0.03}
		faint   = micFrame{voice: true, level: -72}
	)
	type step struct {
		what string
		f    micFrame
		d    time.Duration
		want protocol.ErrorCode
	}
	for name, steps := range map[string][]step{
		"somebody who is silent": {{"a quiet room", silence, 10 * time.Minute, ""}},
		"muted in the settings":  {{"muted", muted, 20 * time.Millisecond, protocol.CodeMicrophoneMuted}, {"unmuted", silence, time.Second, ""}},
		"muted by its switch": {
			{"speech", speech, 3 * time.Second, ""}, {"off", zeros, limit, protocol.CodeMicrophoneSilent},
			{"on", silence, 20 * time.Millisecond, ""}, {"off again", zeros, limit, protocol.CodeMicrophoneSilent},
		},
		"one that wakes up": {{"zeros", zeros, 2 * time.Second, ""}, {"sound", silence, time.Second, ""}},
		"a noise gate": {
			{"a word", speech, time.Second, ""}, {"gated", zeros, 500 * time.Millisecond, ""}, {"a word", speech, time.Second, ""}, {"gated", zeros, 500 * time.Millisecond, ""},
			{"a word", speech, time.Second, ""}, {"gated", zeros, time.Second, ""}, {"a word", speech, time.Second, ""}, {"nobody speaks", zeros, time.Hour, ""},
		},
		"clipping": {
			{"loud", clipped, time.Second, protocol.CodeMicrophoneClips}, {"silence proves nothing", silence, time.Minute, protocol.CodeMicrophoneClips},
			{"a word", speech, time.Second, protocol.CodeMicrophoneClips}, {"more", speech, 3 * time.Second, ""},
		},
		"a level that is too low": {
			{"faint", faint, limit, protocol.CodeMicrophoneQuiet}, {"silence", silence, time.Minute, protocol.CodeMicrophoneQuiet}, {"loud enough", speech, time.Second, ""},
		},
		"somebody in the next room": {{"the user", speech, time.Second, ""}, {"somebody else", faint, time.Minute, ""}},
		"single sounds":             {{"a key", faint, 100 * time.Millisecond, ""}, {"silence", silence, limit, ""}, {"a key", faint, 450 * time.Millisecond, ""}},
	} {
		t.Run(name, func(t *testing.T) {
			var m micFault
			for _, s := range steps {
				got, after := judged(&m, s.d, s.f)
				if got != s.want || after > limit {
					t.Errorf("%s: %q after %v, want %q", s.what, got, after, s.want)
				}
			}
		})
	}
}
