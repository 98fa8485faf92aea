//go:build cgo && linux

package portaudio

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/internal/testutil/pulse"
)

// TestMuted: a microphone that is muted in the sound server's settings says so, before it opens
// and while it runs, and one that is not does not, however quiet it is.
//
//test:realtime
func TestMuted(t *testing.T) {
	server, ctx := pulse.ForTest(t), bounded(t)
	mute := func(how string) {
		t.Helper()
		if _, err := server.Pactl(ctx, "set-source-mute", pulse.MicrophoneName, how); err != nil {
			t.Fatal(err)
		}
	}
	mute("1")
	source := openedHere(t, NewSource(Default))
	run, stop := context.WithCancel(ctx)
	frames, ended := make(chan audio.Frame, 1000), make(chan error, 1)
	go func() {
		ended <- source.Run(run, func(_ int64, f *audio.Frame) {
			select {
			case frames <- *f:
			default:
			}
		})
	}()
	becomes := func(muted bool) {
		t.Helper()
		begun := time.Now()
		for source.Muted() != muted {
			select {
			case <-frames:
			case <-ctx.Done():
				t.Fatalf("muted is not %v", muted)
			}
		}
		t.Logf("muted is %v after %v", muted, time.Since(begun))
	}
	becomes(true)
	mute("0")
	becomes(false)
	for range 3 { // the room is silent, and only that
		if f := <-frames; source.Muted() {
			t.Errorf("a silent room is muted: %v", f[:3])
		}
	}
	mute("1")
	becomes(true)
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
