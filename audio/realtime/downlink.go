package realtime

import (
	"time"

	"github.com/pion/rtp"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/opus"
)

const (
	// maxConcealed limits how many consecutive packets are concealed; beyond that,
	// concealment sounds worse than a gap.
	maxConcealed = 5
	// silencePeak is the highest sample value of digital silence after Opus coding.
	silencePeak = 8
)

// downlink decodes RTP into ordered audio. It belongs to the loop.
type downlink struct {
	jitter  jitter
	dec     *opus.Decoder
	pcm     [opus.MaxPacketSamples]int16
	samples int    // of the last packet; assumed for a lost one
	ends    uint32 // timestamp of the end of the last packet

	received, lost, concealed, broken uint64
	transit                           time.Duration // RFC 3550, section 6.4.1
	jitterEst                         time.Duration
	delays                            delays
	began                             time.Time
}

func newDownlink() (*downlink, error) {
	dec, err := opus.NewDecoder()
	return &downlink{dec: dec, samples: packetSamples}, err
}

// push implements voice. It rejects audio in events, because the audio comes from the
// track.
func (d *downlink) push(s sound, now time.Time) (ok bool) {
	if s.packet != nil {
		d.received++
		d.measure(s.packet, now)
		d.jitter.push(s.packet, now)
	}
	return true
}

func (d *downlink) deadline() time.Time  { return d.jitter.deadline() }
func (d *downlink) drop()                { d.jitter.drop() }
func (d *downlink) bound() time.Duration { return d.jitter.bound }
func (d *downlink) names() bool          { return false }

// publish implements voice.
func (d *downlink) publish(c *counters) {
	c.received.Store(d.received)
	c.lost.Store(d.lost)
	c.concealed.Store(d.concealed)
	c.late.Store(d.jitter.late)
	c.broken.Store(d.broken)
	c.jitter.Store(int64(d.jitterEst))
	c.target.Store(int64(max(jitterLeast, d.jitter.bound)))
}

// measure estimates the interarrival jitter (RFC 3550, section 6.4.1). It treats a step
// between the clocks as a pause in the stream, not as jitter.
func (d *downlink) measure(p *rtp.Packet, now time.Time) {
	if d.began.IsZero() {
		d.began = now
	}
	transit := now.Sub(d.began) - audio.Duration(int64(p.Timestamp))
	diff := (transit - d.transit).Abs()
	d.transit = transit
	if diff < time.Second {
		d.jitterEst += (diff - d.jitterEst) / 16
	}
	if diff >= time.Second || p.Marker {
		d.delays.begin()
	}
	d.jitter.bound = d.delays.add(transit)
}

// drain implements voice.
func (d *downlink) drain(now time.Time, play func(chunk) (audio.SegmentID, bool)) {
	for {
		p, lost, fresh := d.jitter.pop(now)
		if p.Packet == nil {
			return
		}
		d.lost += uint64(lost)
		if len(p.Payload) == 0 { // padding that probes the network
			continue
		}
		d.conceal(lost, p, play)
		paused := int32(p.Timestamp-d.ends-uint32(lost*d.samples)) > 0 // RFC 3551, section 4.1
		d.ends = p.Timestamp + uint32(d.samples)
		n, err := d.dec.Decode(p.Payload, d.pcm[:])
		if err != nil || n == 0 {
			d.broken++
			continue
		}
		d.samples, d.ends = n, p.Timestamp+uint32(n)
		c := d.chunk(n)
		c.marker, c.resumes = p.Marker, fresh || lost > 0 && paused
		play(c)
	}
}

// conceal replaces lost packets: the last one from the redundancy in the next packet,
// earlier ones by extrapolation.
func (d *downlink) conceal(lost int, next heldPacket, play func(chunk) (audio.SegmentID, bool)) {
	if lost > maxConcealed {
		return
	}
	for i := range lost {
		pcm := d.pcm[:d.samples]
		var err error
		if i == lost-1 {
			err = d.dec.DecodeFEC(next.Payload, pcm)
		} else {
			err = d.dec.DecodePLC(pcm)
		}
		if err != nil {
			d.broken++
			continue
		}
		d.concealed++
		play(d.chunk(d.samples))
	}
}

func (d *downlink) chunk(n int) chunk {
	c := chunk{pcm: d.pcm[:n], silent: true}
	for _, s := range c.pcm {
		if s > silencePeak || s < -silencePeak {
			c.silent = false
			break
		}
	}
	return c
}
