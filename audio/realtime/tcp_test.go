package realtime

import (
	"net"
	"sync/atomic"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// TestConnectsOverTCPWithoutUDP checks that on a network that blocks UDP, media in both
// directions uses the service's TCP candidates.
func TestConnectsOverTCPWithoutUDP(t *testing.T) {
	f := newFakeService(t)
	var err error
	if f.tcp, err = net.Listen("tcp4", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	c, r := connect(t, f, f.config(OpenAI))
	for range 4 {
		c.WriteFrame(&audio.Frame{0: 1000})
	}
	receive(t, f.rtp, "a packet of the microphone over TCP")
	s := seg(1, 1)
	c.Speak(s)
	f.expect("response.create")
	f.emit(created("resp_1", s))
	f.sound(20, true)
	r.want(t, "audio 1.1")
}

// If a network starts to block UDP during a call, the call ends; the next one
// automatically uses TCP.
func TestUDPIsBlockedInTheMiddle(t *testing.T) {
	f := newFakeService(t)
	f.udp = true
	var err error
	if f.tcp, err = net.Listen("tcp4", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	var conn *faultyConn
	var blocked atomic.Bool
	cfg := f.config(OpenAI)
	cfg.WrapPacketConn = func(p net.PacketConn) net.PacketConn {
		conn = &faultyConn{PacketConn: p}
		conn.gone.Store(blocked.Load())
		return conn
	}
	first, r := connect(t, f, cfg)
	if got := first.Stats().Path; got != "udp" {
		t.Errorf("the first call goes over %q, want udp", got)
	}
	receive(t, f.channel, "the data channel of the first call")
	blocked.Store(true)
	conn.gone.Store(true)
	r.want(t, "lost "+CodeConnectionLost)
	if f.tcp, err = net.Listen("tcp4", "127.0.0.1:0"); err != nil { // each peer of the fake has its own listener
		t.Fatal(err)
	}
	second, _ := connect(t, f, cfg)
	if got := second.Stats().Path; got != "tcp" {
		t.Errorf("the second call goes over %q, want tcp", got)
	}
	for range 4 {
		second.WriteFrame(&audio.Frame{0: 1000})
	}
	receive(t, f.rtp, "a packet of the microphone over TCP")
}
