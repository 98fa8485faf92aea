package localrealtime

import (
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime/tts"
	"github.com/agentvoice/agentvoice-daemon/audio/opus"
)

const (
	// packetsAhead bounds how far synthesis runs ahead of the pacer: 3 s. What
	// is cancelled was then not made in vain, and memory is bounded.
	packetsAhead = 150
	// lead is how much earlier than its time of play a packet is sent. A
	// talkspurt so begins with 100 ms at once, which fills the caller's jitter
	// buffer.
	lead      = 80 * time.Millisecond
	leadTicks = int64(lead * rtpRate / time.Second)
	// pauseTicks is how far two responses are apart at least: one packet. The
	// timestamps so tell a response's beginning whose marker is lost.
	pauseTicks = opus.PacketSamples
)

// speaker makes the responses of a call audible, one after the other. generate
// runs at most one response ahead of pace, so that a queue of sentences plays
// without a gap.
type speaker struct {
	call    *call
	synth   tts.Synthesizer
	encoder *opus.Encoder
	track   *webrtc.TrackLocalStaticRTP
	queue   chan *response
	packets chan packet

	// mu makes "dead" and the sending of a packet exclude each other.
	mu sync.Mutex
}

// packet is 20 ms of Opus, or, without a payload, the end of a response.
type packet struct {
	response *response
	payload  []byte
}

func newSpeaker(c *call, synth tts.Synthesizer) (*speaker, error) {
	track, err := webrtc.NewTrackLocalStaticRTP(opusCapability, "audio", "agentvoice")
	if err != nil {
		return nil, err
	}
	encoder, err := opus.NewEncoder(opus.Config{FEC: true})
	if err != nil {
		return nil, err
	}
	return &speaker{
		call: c, synth: synth, encoder: encoder, track: track,
		queue: make(chan *response, maxResponses), packets: make(chan packet, packetsAhead),
	}, nil
}

// kill lets no further packet of r out.
func (s *speaker) kill(r *response) {
	s.mu.Lock()
	r.dead = true
	s.mu.Unlock()
	r.cancel()
}

// generate synthesises the queued responses in order. Each ends with an end
// packet, even when it was cancelled in the queue.
func (s *speaker) generate() {
	c := s.call
	for {
		var r *response
		select {
		case r = <-s.queue:
		case <-c.ctx.Done():
			return
		}
		if r.ctx.Err() == nil {
			c.post(func() { c.onBegun(r) })
			sent, err := s.synthesize(r)
			if sent {
				// response.done follows the start of its audio, so that the
				// order of events does not depend on the speed of synthesis.
				select {
				case <-r.audible:
				case <-r.ctx.Done():
				}
			}
			// A cancelled response has had its response.done.
			if r.ctx.Err() == nil {
				c.post(func() { c.onGenerated(r, err) })
			}
		}
		select {
		case s.packets <- packet{response: r}:
		case <-c.ctx.Done():
			return
		}
	}
}

// synthesize encodes the speech of r and hands it to the pacer. sent is whether
// there was any.
func (s *speaker) synthesize(r *response) (sent bool, err error) {
	push := func(payload []byte) error {
		select {
		case s.packets <- packet{r, payload}:
			sent = true
			return nil
		case <-r.ctx.Done():
			return r.ctx.Err()
		}
	}
	frames := framer{encoder: s.encoder, push: push}
	s.synth.SetRate(r.speed)
	err = tts.SpeakPromptly(r.ctx, s.synth, s.call.engineVoice(r.voice), r.text, frames.write)
	if flushErr := frames.flush(); err == nil {
		err = flushErr
	}
	return sent, err
}

// pace sends the packets in real time, times the server's speed.
func (s *speaker) pace() {
	c := s.call
	var current *response
	out := newRTPClock(time.Now(), c.srv.cfg.Speed)
	timer := stoppedTimer()
	defer timer.Stop()
	for {
		p, waited, ok := s.next()
		if !ok {
			return
		}
		r := p.response
		if p.payload == nil {
			current = nil
			c.post(func() { c.onStopped(r) })
			continue
		}
		first := r != current
		if first {
			current = r
			c.post(func() { c.onStarted(r) })
			close(r.audible)
		}
		if now := time.Now(); first {
			out.pause()
			out.resume(now)
		} else if waited && out.starved(now) {
			out.resume(now)
		}
		if wait := time.Until(out.due()); wait > 0 {
			timer.Reset(wait)
			select {
			case <-timer.C:
			case <-c.ctx.Done():
				return
			}
		}
		s.send(r, out, p.payload, first)
	}
}

// next takes a packet, and reports whether it had to be waited for.
func (s *speaker) next() (p packet, waited, ok bool) {
	select {
	case p = <-s.packets:
		return p, false, true
	default:
	}
	select {
	case p = <-s.packets:
		return p, true, true
	case <-s.call.ctx.Done():
		return packet{}, true, false
	}
}

func (s *speaker) send(r *response, out *rtpClock, payload []byte, first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.dead {
		return
	}
	// A track that is not bound drops the packet; a closed connection ends the
	// call by its own event.
	_ = s.track.WriteRTP(&rtp.Packet{Header: out.header(first), Payload: payload})
}

// rtpClock numbers packets and says when they are due: deadlines are absolute,
// so nothing drifts. Timestamps follow the wall clock over gaps, and sequence
// numbers are contiguous.
type rtpClock struct {
	origin   time.Time
	base     uint32 // timestamp at origin
	seq      uint16
	perTick  float64 // nanoseconds of wall clock
	position int64   // ticks from origin to the next packet
}

func newRTPClock(now time.Time, speed float64) *rtpClock {
	return &rtpClock{
		origin: now, base: rand.Uint32(), seq: uint16(rand.Uint32()),
		perTick:  float64(time.Second) / rtpRate / speed,
		position: -pauseTicks, // the first response waits for nothing
	}
}

// at is the position that is played at now.
func (o *rtpClock) at(now time.Time) int64 { return int64(float64(now.Sub(o.origin)) / o.perTick) }

// pause leaves the shortest pause before the next packet.
func (o *rtpClock) pause() { o.position += pauseTicks }

// resume moves the next packet to now, if now is later.
func (o *rtpClock) resume(now time.Time) { o.position = max(o.position, o.at(now)) }

// starved is whether the next packet comes too late for the caller's jitter
// buffer: then there is a gap in the audio. A smaller delay is caught up with.
func (o *rtpClock) starved(now time.Time) bool { return o.at(now)-o.position > leadTicks }

// due is when the next packet has to be sent.
func (o *rtpClock) due() time.Time {
	return o.origin.Add(time.Duration(float64(o.position-leadTicks) * o.perTick))
}

// header is that of the next packet. The marker is set on the first packet of
// a response (RFC 3551, section 4.1), and not again after a gap within one, so
// that a caller can tell the responses apart.
func (o *rtpClock) header(marker bool) rtp.Header {
	h := rtp.Header{Version: 2, Marker: marker, SequenceNumber: o.seq, Timestamp: o.base + uint32(o.position)}
	o.seq++
	o.position += opus.PacketSamples
	return h
}

// framer turns the speech of one response into Opus packets of 20 ms. push gets
// each packet in a slice of its own.
type framer struct {
	encoder   *opus.Encoder
	push      func(packet []byte) error
	resampler *audio.Resampler // from rate; nil before the first sample
	rate      int
	pcm       []int16 // at 48 kHz, less than a packet between calls
}

// write takes the next piece of speech, at rate Hz. It keeps nothing of pcm.
func (f *framer) write(pcm []int16, rate int) error {
	if rate != f.rate {
		f.drain()
		resampler, err := audio.NewResampler(rate, rtpRate)
		if err != nil {
			return err
		}
		f.resampler, f.rate = resampler, rate
	}
	f.pcm = f.resampler.Process(f.pcm, pcm)
	return f.encode()
}

// flush ends the speech: what is left is filled up with silence.
func (f *framer) flush() error {
	f.drain()
	if over := len(f.pcm) % opus.PacketSamples; over > 0 {
		f.pcm = append(f.pcm, make([]int16, opus.PacketSamples-over)...)
	}
	return f.encode()
}

// drain takes what the resampler holds back.
func (f *framer) drain() {
	if f.resampler != nil {
		f.pcm = f.resampler.Flush(f.pcm)
	}
}

func (f *framer) encode() error {
	rest := f.pcm
	for ; len(rest) >= opus.PacketSamples; rest = rest[opus.PacketSamples:] {
		payload, err := f.encoder.Encode((*audio.Frame)(rest), (*audio.Frame)(rest[audio.FrameSamples:]))
		if err != nil {
			return err
		}
		if err := f.push(slices.Clone(payload)); err != nil {
			return err
		}
	}
	f.pcm = append(f.pcm[:0], rest...)
	return nil
}
