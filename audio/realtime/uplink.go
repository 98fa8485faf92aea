package realtime

import (
	"context"
	"sync/atomic"

	"github.com/pion/rtp"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/opus"
)

const (
	packetSamples = opus.PacketSamples // 20 ms, what every service takes
	uplinkPackets = 64                 // 1.28 s of audio between capture and network
)

// uplink carries frames from the capture to the network. write and run share
// preallocated packets over two channels, so that write takes no lock that
// anybody holds for long, and allocates nothing. When the network does not
// keep up, the newest audio is dropped: positions go on, and the RTP timestamp
// shows the service the hole.
type uplink struct {
	free, full chan *uplinkPacket
	cur        *uplinkPacket // being filled, owned by write; nil while dropping
	half       int           // frames in it
	pos        atomic.Int64
	sent       atomic.Uint64
	dropped    atomic.Uint64
}

type uplinkPacket struct {
	pos    int64 // of its first sample
	frames [2]audio.Frame
}

func newUplink() *uplink {
	u := &uplink{free: make(chan *uplinkPacket, uplinkPackets), full: make(chan *uplinkPacket, uplinkPackets)}
	for range uplinkPackets {
		u.free <- new(uplinkPacket)
	}
	return u
}

// write takes the next frame. Only one goroutine may call it.
func (u *uplink) write(f *audio.Frame) {
	pos := u.pos.Add(audio.FrameSamples) - audio.FrameSamples
	if u.half == 0 {
		select {
		case u.cur = <-u.free:
			u.cur.pos = pos
		default:
			u.cur = nil
			u.dropped.Add(1)
		}
	}
	if u.cur != nil {
		u.cur.frames[u.half] = *f
	}
	u.half = 1 - u.half
	if u.half == 0 && u.cur != nil {
		u.full <- u.cur // has room for all packets there are
	}
}

// skip leaves the next frame out, unless it completes a packet. Only the goroutine of
// write may call it.
func (u *uplink) skip(f *audio.Frame) {
	if u.half == 1 {
		u.write(f)
		return
	}
	u.pos.Add(audio.FrameSamples)
}

// run encodes and sends until ctx is done. The RTP timestamp is the sample
// position, so that the service's audio_start_ms maps to it.
func (u *uplink) run(ctx context.Context, enc *opus.Encoder, send func(*rtp.Packet) error) {
	pkt := &rtp.Packet{Header: rtp.Header{Version: 2, Marker: true}}
	for {
		var p *uplinkPacket
		select {
		case <-ctx.Done():
			return
		case p = <-u.full:
		}
		payload, err := enc.Encode(&p.frames[0], &p.frames[1])
		pkt.Timestamp = uint32(p.pos)
		u.free <- p
		if err != nil {
			u.dropped.Add(1)
			continue
		}
		pkt.Payload = payload
		if send(pkt) != nil {
			u.dropped.Add(1)
			continue
		}
		u.sent.Add(1)
		pkt.SequenceNumber++
		pkt.Marker = false
	}
}
