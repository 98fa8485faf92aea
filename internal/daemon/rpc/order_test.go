package rpc_test

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon/rpc"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

func errorsAs(err error, target any) bool { return errors.As(err, target) }
func timeout() <-chan time.Time           { return time.After(patience) }

// slowAudio is a fake sound system that is slow.
type slowAudio struct{ asked, release chan struct{} }

func newSlowAudio() *slowAudio {
	return &slowAudio{asked: make(chan struct{}), release: make(chan struct{})}
}

func (a *slowAudio) Devices(protocol.Settings) (r protocol.DevicesResult, err error) {
	close(a.asked)
	<-a.release
	return r, nil
}

func (*slowAudio) Mute(bool) {}

func (a *slowAudio) in(cfg rpc.Config) rpc.Config {
	inner := cfg.New
	cfg.New = func(c rpc.Client) (rpc.Backend, error) {
		b, err := inner(c)
		b.Audio = a
		return b, err
	}
	return cfg
}

// An answer precedes what its step publishes, and transitions are in order.
func TestAnswersAndNotificationsKeepTheOrderOfTheSteps(t *testing.T) {
	cfg, _, _ := running(t)
	c := serve(t, cfg, true)
	c.initialize(nil, nil)
	var seq int64
	for range 50 {
		for _, method := range []string{protocol.MethodStart, protocol.MethodEnd} {
			id := c.request(method, nil)
			var snapshot protocol.Snapshot
			if err := json.Unmarshal(c.answer(id).Result, &snapshot); err != nil {
				t.Fatal(err)
			}
			for _, m := range c.seen {
				if m.Method == protocol.NotifyState {
					t.Fatalf("a transition overtook the answer to %s", method)
				}
			}
			want := map[string]protocol.State{protocol.MethodStart: protocol.StateListening, protocol.MethodEnd: protocol.StateIdle}[method]
			p := c.state(want)
			for _, m := range append(c.seen, message{}) {
				if m.Method != protocol.NotifyState {
					continue
				}
				var before protocol.StateParams
				if err := json.Unmarshal(m.Params, &before); err != nil || before.Seq != seq+1 {
					t.Fatalf("transition %d came after %d", before.Seq, seq)
				}
				seq = before.Seq
			}
			if c.seen = nil; p.Seq != seq+1 {
				t.Fatalf("transition %d came after %d", p.Seq, seq)
			}
			seq = p.Seq
		}
	}
	c.end()
}

// behind returns a client that listens and then stops reading while n notifications are
// published.
func behind(t *testing.T, n int, publish func(daemon.Port, int)) *client {
	t.Helper()
	cfg, ports, _ := running(t)
	c := serve(t, cfg, true)
	c.initializeAndListen(nil)
	c.call(protocol.MethodState, nil, nil) // everything that the step published has been read
	c.seen = nil
	port := <-ports
	c.gate.Lock()
	for i := range n {
		publish(port, i) // this would never return if it waited for the client
	}
	return c
}

// resync reads up to the new snapshot, and returns how many messages of a method came
// before it.
func (c *client) resync(method string) (got int) {
	c.t.Helper()
	var p protocol.NotificationParams
	c.until("the resync", func(m message) bool {
		if m.Method == method {
			got++
			return false
		}
		p = protocol.NotificationParams{}
		return m.Method == protocol.NotifyNotification && json.Unmarshal(m.Params, &p) == nil && p.Kind == protocol.NotificationResync
	})
	if p.Snapshot == nil || p.Snapshot.State != protocol.StateListening {
		c.t.Errorf("the resync is %+v", p)
	}
	return got
}

// A client that does not read misses levels, never blocks the daemon, and gets a
// snapshot when it reads again. Essential notifications are not dropped.
func TestSlowReader(t *testing.T) {
	const levels = 50_000
	c := behind(t, levels, func(p daemon.Port, i int) {
		p.Notify(protocol.NotifyLevel, protocol.LevelParams{Input: float64(i) / levels})
		if i%(levels/10) == 0 {
			p.Notify(protocol.NotifyCaption, protocol.CaptionParams{Text: "counts"})
		}
	})
	c.gate.Unlock()
	if got := c.resync(protocol.NotifyLevel); got == 0 || got >= levels/2 {
		t.Errorf("%d of %d levels were sent", got, levels)
	}
	captions := 0
	for _, m := range c.seen {
		if m.Method == protocol.NotifyCaption {
			captions++
		}
	}
	if captions != 10 {
		t.Errorf("%d of 10 captions were sent", captions)
	}
	c.end()
}

// Beyond the capacity, notifications are replaced by the snapshot, but answers are
// kept.
func TestVerySlowReader(t *testing.T) {
	const captions = 30_000
	c := behind(t, captions, func(p daemon.Port, i int) {
		p.Notify(protocol.NotifyCaption, protocol.CaptionParams{Text: "counts"})
	})
	id := c.request(protocol.MethodState, nil)
	c.gate.Unlock()
	if got := c.resync(protocol.NotifyCaption); got == 0 || got >= captions {
		t.Errorf("%d of %d captions were sent", got, captions)
	}
	if !slices.ContainsFunc(c.seen, func(m message) bool { return string(m.ID) == id }) {
		c.answer(id) // the request was served after the snapshot
	}
	c.end()
}

// A client that fell behind can rebuild its display: the snapshot names the calls that
// await approval, and the transcript has the words and the current calls.
func TestWhatAClientNeedsThatFellBehind(t *testing.T) {
	c := scripted(t, "auto speech 0ms 1s")
	c.initializeAndListen(withTools)
	c.ask("delete_file", object{"filePath": "/tmp/old.txt"}, nil)
	var now protocol.Snapshot
	c.call(protocol.MethodState, nil, &now)
	var said protocol.TranscriptResult
	c.call(protocol.MethodTranscript, nil, &said)
	if len(now.Metadata.PendingActions) != 1 || len(said.Tools) != 1 {
		t.Fatalf("pending are %v, the calls %+v", now.Metadata.PendingActions, said.Tools)
	}
	call := said.Tools[0]
	if call.CallID != now.Metadata.PendingActions[0] || call.Status != protocol.ToolWaiting || call.Question == "" || !call.Destructive {
		t.Errorf("the call is %+v, pending are %v", call, now.Metadata.PendingActions)
	}
	c.call(protocol.MethodApproveTool, object{"callId": call.CallID, "approved": false}, nil)
	c.tool(protocol.ToolRejected)
	c.call(protocol.MethodState, nil, &now)
	now = protocol.Snapshot{}
	c.call(protocol.MethodState, nil, &now)
	said = protocol.TranscriptResult{}
	c.call(protocol.MethodTranscript, nil, &said)
	if len(now.Metadata.PendingActions) != 0 || len(said.Tools) != 1 || said.Tools[0].Status != protocol.ToolRejected {
		t.Errorf("afterwards pending are %v, the calls %+v", now.Metadata.PendingActions, said.Tools)
	}
	c.end()
}
