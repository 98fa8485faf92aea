package realtime

import (
	"net"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// TestConnectsOverTCPWithoutUDP: a network that lets no UDP through reaches a
// service that takes media on TCP, both ways.
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
