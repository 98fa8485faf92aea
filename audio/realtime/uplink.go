package realtime

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/pion/rtp"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/opus"
)

const (
	packetSamples = opus.PacketSamples // 20 ms, which every service accepts
	// uplinkPackets is the queue between capture and network: 5.12 s, longer than a
	// WebSocket may be silent before the call is lost.
	uplinkPackets = 256
	// keptPackets is how many sent packets are kept: 7.68 s, longer than a path takes
	// to count as disconnected and then as lost.
	keptPackets = 384
)

// uplink carries frames from capture to the network. write and run share preallocated
// packets over two channels, so that write does not contend for locks and does not
// allocate. If the network does not keep up, the newest audio is dropped: positions
// advance, and the RTP timestamp shows the gap to the service.
type uplink struct {
	free, full chan *uplinkPacket
	path       chan pathChange
	cur        *uplinkPacket // being filled, owned by write; nil while dropping
	half       int           // frames in cur
	pos        atomic.Int64
	sent       atomic.Uint64
	dropped    atomic.Uint64
	resent     atomic.Uint64 // packets sent again after the path was silent
}

// pathChange reports that the network path has been silent since a time, or works
// again.
type pathChange struct {
	up    bool
	since time.Time
}

type uplinkPacket struct {
	pos    int64 // of its first sample
	frames [2]audio.Frame
}

func newUplink() *uplink {
	u := &uplink{
		free: make(chan *uplinkPacket, uplinkPackets), full: make(chan *uplinkPacket, uplinkPackets), path: make(chan pathChange, 1),
	}
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
		u.full <- u.cur // has capacity for all packets
	}
}

// skip omits the next frame, unless it completes a packet. Only the goroutine of write
// may call it.
func (u *uplink) skip(f *audio.Frame) {
	if u.half == 1 {
		u.write(f)
		return
	}
	u.pos.Add(audio.FrameSamples)
}

// outage passes a change of the network path to run. It blocks while run sends.
func (u *uplink) outage(ctx context.Context, p pathChange) {
	select {
	case u.path <- p:
	case <-ctx.Done():
	}
}

// run encodes and sends until ctx is done. The RTP timestamp is the sample position, so
// that the service's audio_start_ms maps to it.
//
// While the path is disconnected, nothing is sent. When it works again, run sends
// everything encoded since the path fell silent, with the same sequence numbers, so
// that the service drops duplicates (RFC 3550, section 6.4.1, and the replay list of
// RFC 3711, section 3.3.2).
func (u *uplink) run(ctx context.Context, enc *opus.Encoder, send func(*rtp.Packet) error) {
	var kept sentPackets
	defer kept.wipe()
	pkt := &rtp.Packet{Header: rtp.Header{Version: 2, Marker: true}}
	pass := func(p *rtp.Packet) {
		if send(p) != nil {
			u.dropped.Add(1)
			return
		}
		u.sent.Add(1)
	}
	var waiting bool
	var since time.Time
	for {
		var p *uplinkPacket
		select {
		case <-ctx.Done():
			return
		case c := <-u.path:
			if !c.up {
				waiting, since = true, c.since
			} else if waiting {
				waiting = false
				u.resent.Add(kept.resend(since, pass))
			}
			continue
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
		kept.keep(pkt, time.Now())
		if !waiting {
			pass(pkt)
		}
		pkt.SequenceNumber++
		pkt.Marker = false
	}
}

// sentPackets holds the latest packets, oldest first.
type sentPackets struct {
	packets [keptPackets]struct {
		rtp.Header
		payload []byte
		at      time.Time // when it was encoded
	}
	n int // number of packets kept so far
}

// keep copies a packet.
func (s *sentPackets) keep(p *rtp.Packet, now time.Time) {
	k := &s.packets[s.n%keptPackets]
	k.Header, k.at, k.payload = p.Header, now, append(k.payload[:0], p.Payload...)
	s.n++
}

// resend sends the packets encoded after since, and returns their number.
func (s *sentPackets) resend(since time.Time, send func(*rtp.Packet)) (n uint64) {
	for i := max(s.n-keptPackets, 0); i < s.n; i++ {
		if k := &s.packets[i%keptPackets]; !k.at.Before(since) {
			send(&rtp.Packet{Header: k.Header, Payload: k.payload})
			n++
		}
	}
	return n
}

// wipe erases the user's audio.
func (s *sentPackets) wipe() {
	for i := range s.packets {
		clear(s.packets[i].payload[:cap(s.packets[i].payload)])
	}
}
