package realtime

import (
	"net"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// Speech during a network outage of 2 s is sent after it: the service gets every packet
// once, in order, over the same call.
func TestAnOutageLosesNothingThatIsSaid(t *testing.T) {
	f := newFakeService(t)
	cfg := f.config(OpenAI)
	var path *faultyConn
	cfg.WrapPacketConn = func(p net.PacketConn) net.PacketConn {
		path = &faultyConn{PacketConn: p}
		return path
	}
	c, r := connect(t, f, cfg)
	pacer := audio.NewPacer(1)
	say := func(d time.Duration) {
		for range d / (10 * time.Millisecond) {
			if err := pacer.Wait(t.Context()); err != nil {
				t.Fatal(err)
			}
			c.WriteFrame(&audio.Frame{0: 1000})
		}
	}
	say(300 * time.Millisecond)
	first := receive(t, f.rtp, "a packet of the microphone")
	path.gone.Store(true)
	say(2 * time.Second)
	path.gone.Store(false)
	say(500 * time.Millisecond)
	const packets = 140 // of 20 ms
	seq := first.SequenceNumber
	for n := 1; n < packets; n++ {
		p := receive(t, f.rtp, "the next packet")
		if seq++; p.SequenceNumber != seq {
			t.Fatalf("packet %d came in the place of %d", p.SequenceNumber, seq)
		}
	}
	waitFor(t, "the packets of 2 s to be counted as sent again", func() bool { return c.Stats().PacketsResent >= 90 })
	if s := c.Stats(); s.PacketsResent > packets {
		t.Errorf("%d packets were sent again, want those of 2 s", s.PacketsResent)
	}
	r.none(t)
}

// An outage during an answer ends the call, so that the rest of the answer is spoken
// over the next call.
func TestAnOutageInAnAnswerEndsTheCall(t *testing.T) {
	f := newFakeService(t)
	cfg := f.config(OpenAI)
	var path *faultyConn
	cfg.WrapPacketConn = func(p net.PacketConn) net.PacketConn {
		path = &faultyConn{PacketConn: p}
		return path
	}
	c, r := connect(t, f, cfg)
	s := seg(1, 1)
	c.Speak(s)
	f.expect("response.create")
	f.emit(created("resp_1", s))
	f.sound(20, true)
	r.want(t, "audio 1.1")
	path.gone.Store(true)
	time.Sleep(1500 * time.Millisecond) // longer than pathSilence, shorter than the outage that ends a call
	path.gone.Store(false)
	r.want(t, "lost "+CodeConnectionLost)
}
