package realtime

import (
	"math"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"
	"github.com/rs/zerolog"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/opus"
)

// lateCall is the loop of a call whose network states and packets the test makes.
type lateCall struct {
	t *testing.T
	*loop
	r     *recorder
	paths []pathChange
	enc   *opus.Encoder
	seq   uint16
}

func newLateCall(t *testing.T) *lateCall {
	t.Helper()
	down, err := newDownlink()
	if err != nil {
		t.Skip(err)
	}
	socket, err := newSocket(newUplink(), nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &lateCall{t: t, r: newRecorder(), seq: math.MaxUint16 - 10}
	if c.enc, err = opus.NewEncoder(opus.Config{}); err != nil {
		t.Fatal(err)
	}
	var canceled atomic.Int64
	canceled.Store(-1)
	c.loop = &loop{log: zerolog.Nop(), handler: c.r, link: socket, result: make(chan error, 1), expiry: &expiry{}, stop: socket.cancel,
		canceled: &canceled, count: &counters{}, voice: down, partial: map[string]string{}, ready: true,
		outage: func(p pathChange) { c.paths = append(c.paths, p) }}
	t.Cleanup(func() { socket.cancel(); c.path.silence.Stop() })
	return c
}

// speak requests a segment, which the service accepts.
func (c *lateCall) speak() {
	c.speech.speak(seg(1, 1), time.Now())
	c.event(created("r1", seg(1, 1)))
}

func (c *lateCall) event(e string) {
	c.take(message{kind: msgEvent, event: []byte(e)}, time.Now())
	c.tick(time.Now())
}

func (c *lateCall) ice(s webrtc.ICEConnectionState) {
	c.take(message{kind: msgICE, ice: s}, time.Now())
	c.tick(time.Now())
}

// sound delivers n packets of the service, after a number of lost ones.
func (c *lateCall) sound(lost, n int) {
	var tone audio.Frame
	for i := range tone {
		tone[i] = int16(8000 * math.Sin(float64(i)/10))
	}
	c.seq += uint16(lost)
	for range n {
		payload, err := c.enc.Encode(&tone, &tone)
		if err != nil {
			c.t.Fatal(err)
		}
		c.seq++
		c.take(message{kind: msgPacket, packet: &rtp.Packet{
			Header: rtp.Header{Version: 2, SequenceNumber: c.seq, Timestamp: uint32(c.seq) * packetSamples}, Payload: payload}}, time.Now())
		c.tick(time.Now())
	}
}

// wait lets the loop wait for d; it handles each timer this much late.
func (c *lateCall) wait(d, late time.Duration) {
	for end := time.After(d); !c.dead; {
		select {
		case <-c.path.silence.C():
			time.Sleep(late)
			c.onSilence(time.Now())
		case <-end:
			return
		}
	}
}

const (
	disconnected = webrtc.ICEConnectionStateDisconnected
	connected    = webrtc.ICEConnectionStateConnected
)

// A silent path ends the call after disconnectedFor, in time that this process runs.
func TestSilentPath(t *testing.T) {
	for _, c := range []struct{ late, lost time.Duration }{
		{0, disconnectedFor},
		{150 * time.Millisecond, disconnectedFor + 35*150*time.Millisecond}, // of 35 steps
	} {
		synctest.Test(t, func(t *testing.T) {
			call := newLateCall(t)
			begun := time.Now()
			call.ice(disconnected)
			call.wait(time.Minute, c.late)
			call.r.want(t, "lost "+CodeConnectionLost)
			if took := time.Since(begun); took != c.lost {
				t.Errorf("a loop that is %v late counts the call as lost after %v, want %v", c.late, took, c.lost)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) { // packets were waiting in this process's sockets
		call := newLateCall(t)
		for range 3 {
			call.ice(disconnected)
			call.wait(disconnectedFor+time.Second, 150*time.Millisecond)
			call.ice(connected)
			call.wait(time.Minute, 0)
		}
		call.r.none(t)
		if len(call.paths) != 6 || call.paths[4].up || !call.paths[5].up {
			t.Errorf("the uplink was told %+v", call.paths)
		}
	})
}

// An answer continues if no audio was lost, however late the packets are handled.
func TestNoAudioIsLostByBeingLate(t *testing.T) {
	for _, order := range []string{"packets before the report of the path", "packets after it"} {
		synctest.Test(t, func(t *testing.T) {
			call := newLateCall(t)
			call.speak()
			call.sound(0, 20)
			call.r.want(t, "audio 1.1")
			call.ice(disconnected)
			call.wait(300*time.Millisecond, 0)
			if order == "packets after it" {
				call.ice(connected)
				call.wait(time.Second, 0)
			}
			call.sound(2, 20) // these two are concealed, as without an outage
			call.ice(connected)
			call.wait(time.Minute, 0)
			call.event(done("r1", "completed"))
			time.Sleep(quietTime)
			call.tick(time.Now())
			call.r.want(t, "ended 1.1")
			if n := len(call.paths); n != 2 {
				t.Errorf("%s: the uplink was told %+v", order, call.paths)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) { // the service takes long to begin
		call := newLateCall(t)
		call.sound(0, 3)
		call.speak()
		call.ice(disconnected)
		call.ice(connected)
		call.wait(stallTimeout-time.Second, 0)
		call.sound(0, 3)
		call.r.want(t, "audio 1.1")
		call.wait(time.Minute, 0)
		call.r.none(t)
	})
}

// An answer of which audio is missing is repeated over a new call.
func TestLostAudioEndsTheCall(t *testing.T) {
	for name, after := range map[string]func(*lateCall){
		"a gap":                 func(c *lateCall) { c.ice(connected); c.sound(50, 1) },
		"a gap before it works": func(c *lateCall) { c.sound(50, 1) },
		"no more audio":         func(c *lateCall) { c.ice(connected); c.wait(time.Minute, 0) },
		"the end without audio": func(c *lateCall) {
			c.ice(connected)
			c.event(done("r1", "completed"))
			time.Sleep(quietTime)
			c.tick(time.Now())
		},
		"another stream":           func(c *lateCall) { c.ice(connected); c.sound(2*jitterRestart, 1) },
		"an older position":        func(c *lateCall) { c.ice(connected); c.sound(-2*jitterRestart, 1) },
		"the first packet missing": func(c *lateCall) { c.ice(connected); c.path.last.known = false; c.sound(0, 1) },
	} {
		synctest.Test(t, func(t *testing.T) {
			call := newLateCall(t)
			call.speak()
			call.sound(0, 20)
			call.r.want(t, "audio 1.1")
			call.ice(disconnected)
			after(call)
			if !call.dead {
				t.Fatalf("%s: the call continues", name)
			}
			call.r.want(t, "lost "+CodeConnectionLost)
			call.r.none(t)
		})
	}
}
