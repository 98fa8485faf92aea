package realtime

import (
	"slices"
	"time"

	"github.com/pion/rtp"
)

const (
	// jitterBound is how long a packet waits for one that is missing before it.
	jitterBound = 60 * time.Millisecond
	// jitterHeld is how many packets wait at most: with more, what is missing
	// was lost in a burst.
	jitterHeld = 50
	// jitterRestart is a step in sequence numbers that is no loss but a new
	// stream under the same SSRC.
	jitterRestart = 500
)

// jitter puts RTP packets in order. A packet in order passes at once: the
// player after it has the playback buffer, so here only a gap costs time, and
// at most jitterBound. (pion's jitterbuffer bounds by count, not by time, and
// buffers before it begins.)
type jitter struct {
	synced bool
	fresh  bool // nothing was popped since the stream began
	ssrc   uint32
	next   uint16 // sequence number to come
	held   []heldPacket
	late   uint64 // packets that came after their turn, or twice
}

type heldPacket struct {
	*rtp.Packet
	at time.Time
}

// push takes a packet from the network.
func (j *jitter) push(p *rtp.Packet, now time.Time) {
	ahead := int16(p.SequenceNumber - j.next)
	if !j.synced || p.SSRC != j.ssrc || ahead > jitterRestart || ahead < -jitterRestart {
		j.held = j.held[:0]
		j.synced, j.fresh, j.ssrc, j.next, ahead = true, true, p.SSRC, p.SequenceNumber, 0
	}
	if ahead < 0 {
		j.late++
		return
	}
	i, twice := slices.BinarySearchFunc(j.held, ahead, func(h heldPacket, ahead int16) int {
		return int(int16(h.SequenceNumber-j.next)) - int(ahead)
	})
	if twice {
		j.late++
		return
	}
	j.held = slices.Insert(j.held, i, heldPacket{p, now})
}

// pop returns the next packet and how many before it are lost. It is empty when
// there is none, or when it is worth waiting for a missing one. fresh says that
// it begins a stream: what was lost before it is not known.
func (j *jitter) pop(now time.Time) (p heldPacket, lost int, fresh bool) {
	if len(j.held) == 0 {
		return heldPacket{}, 0, false
	}
	h := j.held[0]
	lost = int(h.SequenceNumber - j.next)
	if lost > 0 && len(j.held) < jitterHeld && now.Before(j.deadline()) {
		return heldPacket{}, 0, false
	}
	fresh, j.fresh = j.fresh, false
	j.held = slices.Delete(j.held, 0, 1)
	j.next = h.SequenceNumber + 1
	return h, lost, fresh
}

// deadline is when waiting for a missing packet ends: when the first packet
// behind the gap has waited long enough.
func (j *jitter) deadline() time.Time {
	at := farAway
	for _, h := range j.held {
		if h.at.Add(jitterBound).Before(at) {
			at = h.at.Add(jitterBound)
		}
	}
	return at
}

// drop forgets the packets that wait; the stream continues behind them.
func (j *jitter) drop() {
	if n := len(j.held); n > 0 {
		j.next = j.held[n-1].SequenceNumber + 1
		j.held = j.held[:0]
	}
}
