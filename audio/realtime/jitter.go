package realtime

import (
	"slices"
	"time"

	"github.com/pion/rtp"
)

const (
	// jitterLeast and jitterMost limit how long a packet waits for a missing
	// predecessor: the target of delays.
	jitterLeast = 60 * time.Millisecond
	jitterMost  = 200 * time.Millisecond
	// jitterHeld is the maximum number of waiting packets; with more, a burst was lost.
	jitterHeld = 50
	// jitterRestart is a step in sequence numbers that means a new stream under the
	// same SSRC rather than loss.
	jitterRestart = 500
)

// jitter orders RTP packets. A packet in order passes immediately, because the player
// has its own playback buffer. Only a gap adds delay: as much as this network's packets
// are late, up to jitterMost. (pion's jitterbuffer limits by count rather than time,
// and buffers before it starts.)
type jitter struct {
	synced bool
	fresh  bool // nothing was popped since the stream began
	ssrc   uint32
	next   uint16 // next expected sequence number
	held   []heldPacket
	late   uint64        // late or duplicate packets
	bound  time.Duration // how long a packet waits; at least jitterLeast
}

type heldPacket struct {
	*rtp.Packet
	at time.Time
}

// push adds a packet from the network.
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

// pop returns the next packet and how many packets before it are lost. It returns an
// empty packet if none is available, or while it still waits for a missing one. fresh
// means that the packet begins a stream, so earlier losses are unknown.
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

// deadline returns when waiting for a missing packet ends, which depends on the first
// packet after the gap.
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

// drop discards the waiting packets; the stream continues after them.
func (j *jitter) drop() {
	if n := len(j.held); n > 0 {
		j.next = j.held[n-1].SequenceNumber + 1
		j.held = j.held[:0]
	}
}

// delaysKept is the number of packets from which the target is computed: 10 s of
// speech.
const delaysKept = 500

// delays tracks how much later than the fastest packet the latest packets arrived.
type delays struct {
	transits [delaysKept]time.Duration
	n        int // packets since the stretch of speech began
	target   time.Duration
	before   time.Duration // target of the previous stretch
}

// add records the transit time of a packet, which may include a clock offset, and
// returns the target: the 99th percentile of the delays, within the limits. Until
// enough packets have arrived, the target is not lower than that of the previous
// stretch.
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

// begin resets the delays but not the target, because the clock offset differs in a new
// stretch of speech.
func (d *delays) begin() { d.n, d.before = 0, d.target }
