package realtime

import (
	"slices"
	"time"

	"github.com/pion/rtp"
)

const (
	// jitterLeast and jitterMost bound how long a packet waits for one that is missing
	// before it: the target of delays.
	jitterLeast = 60 * time.Millisecond
	jitterMost  = 200 * time.Millisecond
	// jitterHeld is how many packets wait at most: with more, what is missing
	// was lost in a burst.
	jitterHeld = 50
	// jitterRestart is a step in sequence numbers that is no loss but a new
	// stream under the same SSRC.
	jitterRestart = 500
)

// jitter puts RTP packets in order. A packet in order passes at once: the
// player after it has the playback buffer, so here only a gap costs time: as much as
// packets of this network are late, at most jitterMost. (pion's jitterbuffer bounds by count, not by time, and
// buffers before it begins.)
type jitter struct {
	synced bool
	fresh  bool // nothing was popped since the stream began
	ssrc   uint32
	next   uint16 // sequence number to come
	held   []heldPacket
	late   uint64        // packets that came after their turn, or twice
	bound  time.Duration // how long a packet waits; jitterLeast where it is less
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
	bound := max(jitterLeast, j.bound)
	for _, h := range j.held {
		if h.at.Add(bound).Before(at) {
			at = h.at.Add(bound)
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

// delaysKept is how many packets the target is chosen by: 10 s of speech.
const delaysKept = 500

// delays is by how much the latest packets came later than the fastest of them.
type delays struct {
	transits [delaysKept]time.Duration
	n        int // all that came since the stretch began
	target   time.Duration
	before   time.Duration // the target of the stretch before
}

// add takes the transit of a packet, by clocks that may be apart, and returns the
// target: the delay that 99 of 100 packets did not exceed, within the bounds. Where
// fewer came, it is not below that of the stretch before.
func (d *delays) add(transit time.Duration) (target time.Duration) {
	d.transits[d.n%delaysKept] = transit
	d.n++
	var sorted [delaysKept]time.Duration
	n := copy(sorted[:], d.transits[:min(d.n, delaysKept)])
	slices.Sort(sorted[:n])
	d.target = min(max(sorted[(n-1)*99/100]-sorted[0], jitterLeast), jitterMost)
	if n < delaysKept {
		d.target = max(d.target, d.before)
	}
	return d.target
}

// begin forgets the delays, but not the target: the clocks of a new stretch of speech
// are apart in another way.
func (d *delays) begin() { d.n, d.before = 0, d.target }
