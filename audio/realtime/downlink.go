package realtime

import (
	"time"

	"github.com/pion/rtp"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/opus"
)

const (
	// maxConcealed bounds the packets made up for in a row; beyond, made-up
	// speech is worse than a hole.
	maxConcealed = 5
	// silencePeak is the highest sample of digital silence that went through
	// Opus.
	silencePeak = 8
)

// downlink turns RTP into decoded audio in order. It belongs to the loop.
type downlink struct {
	jitter  jitter
	dec     *opus.Decoder
	pcm     [opus.MaxPacketSamples]int16
	samples int    // in the last packet: what a lost one is taken to have had
	ends    uint32 // timestamp at which the last packet ended

	received, lost, concealed, broken uint64
	transit                           time.Duration // RFC 3550, section 6.4.1
	jitterEst                         time.Duration
	delays                            delays
	began                             time.Time
}

// chunk is decoded audio. pcm is valid until the next one is made.
type chunk struct {
	pcm    []int16
	marker bool
	// resumes: the stream begins with it, or packets before it were lost and a
	// pause in the stream was among them, whose marker nobody saw.
	resumes bool
	silent  bool
}

func newDownlink() (*downlink, error) {
	dec, err := opus.NewDecoder()
	return &downlink{dec: dec, samples: packetSamples}, err
}

func (d *downlink) push(p *rtp.Packet, now time.Time) {
	d.received++
	d.measure(p, now)
	d.jitter.push(p, now)
}

// measure estimates the interarrival jitter, RFC 3550, section 6.4.1. A step
// of the clocks against each other is a pause in the stream, not jitter.
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

// drain hands over what can be played now, in order.
func (d *downlink) drain(now time.Time, play func(chunk)) {
	for {
		p, lost, fresh := d.jitter.pop(now)
		if p.Packet == nil {
			return
		}
		d.lost += uint64(lost)
		if len(p.Payload) == 0 { // padding probes the network
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

// conceal makes up for lost packets: the last one from the redundancy in the
// packet after it, those before by extrapolation.
func (d *downlink) conceal(lost int, next heldPacket, play func(chunk)) {
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
