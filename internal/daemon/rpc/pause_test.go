package rpc_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// advance advances virtual time.
func (c *client) advance(ms int) {
	c.t.Helper()
	c.call(protocol.MethodAdvance, object{"ms": ms}, nil)
}

// snapshot returns the current state.
func (c *client) snapshot() (now protocol.Snapshot) {
	c.t.Helper()
	c.call(protocol.MethodState, nil, &now)
	return now
}

// now checks the current state.
func (c *client) now(want protocol.State, reason string) {
	c.t.Helper()
	if now := c.snapshot(); now.State != want || now.Metadata.Reason != reason {
		c.t.Fatalf("the state is %s (%s), want %s (%s)", now.State, now.Metadata.Reason, want, reason)
	}
}

// effectsOf returns the effects with these names so far, in order.
func (c *client) effectsOf(names ...string) (did []string) {
	c.t.Helper()
	var written protocol.JournalResult
	c.call(protocol.MethodJournal, object{"content": "redacted"}, &written)
	text, err := os.ReadFile(written.Path)
	if err != nil {
		c.t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		for _, name := range names {
			for range strings.Count(line, `{"`+name+`":`) {
				did = append(did, name)
			}
		}
	}
	return did
}

func (c *client) microphoneEffects() []string {
	c.t.Helper()
	return c.effectsOf("OpenAudio", "StartCapture", "HoldCapture", "ReleaseCapture", "CloseAudio")
}

// A pause by the user lasts until the user resumes, after one minute or ten. The
// microphone stays closed meanwhile.
func TestAPauseByTheUserLasts(t *testing.T) {
	c := scripted(t, "")
	c.initializeAndListen(nil)
	c.call(protocol.MethodSuspend, nil, nil)
	c.state(protocol.StateSuspended)
	for _, ms := range []int{61_000, 600_000} {
		c.advance(ms)
		c.now(protocol.StateSuspended, "user")
		if did := c.microphoneEffects(); !slices.Equal(did, []string{"OpenAudio", "StartCapture", "HoldCapture"}) {
			t.Fatalf("%d ms later the microphone was used: %v", ms, did)
		}
	}
	if i := slices.IndexFunc(c.seen, func(m message) bool { return m.Method == protocol.NotifyError }); i >= 0 {
		t.Errorf("the client was told about a failure: %s", c.seen[i].Params)
	}
	c.call(protocol.MethodResume, nil, nil)
	c.state(protocol.StateListening)
	if did := c.microphoneEffects(); did[len(did)-1] != "ReleaseCapture" {
		t.Errorf("after resume the microphone is held: %v", did)
	}
	c.end()
}

// A pause by the user outlasts a device that stays away: the conversation faults, and
// does not recover before the user resumes it.
func TestAPauseByTheUserOutlivesAFault(t *testing.T) {
	c := scripted(t, "await conversation/suspend\ndevice.lost")
	c.initializeAndListen(nil)
	c.call(protocol.MethodSuspend, nil, nil)
	c.state(protocol.StateSuspended)
	c.advance(61_000)
	c.now(protocol.StateFaulted, "suspendTimeout")
	c.advance(600_000)
	c.now(protocol.StateFaulted, "suspendTimeout")
	if now := c.snapshot(); !now.Paused.Conversation {
		t.Error("the snapshot does not say that the user paused the conversation")
	}
	if did := c.microphoneEffects(); !slices.Equal(did, []string{"OpenAudio", "StartCapture", "HoldCapture", "CloseAudio"}) {
		t.Fatalf("the microphone was used: %v", did)
	}
	c.call(protocol.MethodResume, nil, nil)
	c.advance(1000)
	c.now(protocol.StateListening, "")
	c.end()
}

// A window that falls silent during the user's pause does not end the pause when it is
// heard again; after 60 s of silence the conversation ends.
func TestHeartbeatUnderAPauseByTheUser(t *testing.T) {
	c := scripted(t, "")
	c.initializeAndListen(object{"heartbeat": true})
	c.call(protocol.MethodSuspend, nil, nil)
	c.state(protocol.StateSuspended)
	c.advance(30_000)
	c.notify(protocol.MethodHeartbeat, nil)
	c.now(protocol.StateSuspended, "user")
	c.advance(59_999)
	c.now(protocol.StateSuspended, "user")
	c.advance(2_000)
	c.now(protocol.StateIdle, "")
	c.end()
}
