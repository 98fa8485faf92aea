package localrealtime

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime/machine"
	"github.com/agentvoice/agentvoice-daemon/audio/opus"
	"github.com/agentvoice/agentvoice-daemon/audio/voice"
)

const (
	// packetsAhead limits how far synthesis runs ahead of the pacer, to 3 s. This
	// bounds memory and the work wasted by a cancellation.
	packetsAhead = 150
	// lead is how long before its playback time a packet is sent. A talkspurt therefore
	// begins with a burst of 100 ms, which fills the caller's jitter buffer.
	lead      = 80 * time.Millisecond
	leadTicks = int64(lead * rtpRate / time.Second)
	// pauseTicks is the minimum gap between two responses: one packet. The gap in the
	// timestamps marks the start of a response even if the packet with the marker is
	// lost.
	pauseTicks = opus.PacketSamples
)

// speaker plays the responses of a call one after the other. Over RTP it runs at most
// one response ahead of the pacer, so that queued sentences play without a gap.
type speaker struct {
	call  *call
	synth voice.Synthesizer // nil while the calls rest; used by generate
	queue chan *response
	// restChanged is like that of the call.
	restChanged chan struct{}
}

func newSpeaker(c *call) *speaker {
	s := &speaker{call: c, queue: make(chan *response, 1), restChanged: make(chan struct{}, 1)}
	s.load()
	return s
}

// generate processes the queued responses in order. Every response gets an end, even a
// cancelled one.
func (s *speaker) generate() {
	c := s.call
	for {
		s.adaptToRest()
		var r *response
		select {
		case r = <-s.queue:
		case <-s.restChanged:
			continue
		case <-c.ctx.Done():
			return
		}
		g := generated{err: r.ctx.Err()}
		if g.err == nil {
			g = s.answer(r)
		}
		c.post(func() { c.onAnswer(machine.Generated, r, news{generated: g}) })
		c.link.end(r)
	}
}

// segmentsAhead limits how many pieces of an answer can wait to be spoken.
const segmentsAhead = 256

// answer speaks the text of r, or the Model's answer while it streams.
func (s *speaker) answer(r *response) (g generated) {
	segments := make(chan string, segmentsAhead)
	ctx, stop := context.WithCancel(r.ctx)
	defer stop()
	if r.verbatim != "" {
		segments <- r.verbatim
		close(segments)
	} else {
		s.call.workers.Go(func() {
			defer close(segments)
			g = s.call.ask(ctx, r, segments)
		})
	}
	// Read the Model's text only after segments is closed.
	err := s.speak(r, segments)
	if err != nil {
		stop()
	}
	for range segments {
	}
	if err != nil {
		g = generated{err: err, what: "synthesis"}
	}
	return g
}

// speak synthesises the pieces of an answer until segments is closed.
func (s *speaker) speak(r *response, segments <-chan string) error {
	c := s.call
	w := c.link.speech(r)
	ms := int64(0)
	s.load() // speech that is requested at rest
	s.synth.SetRate(r.speed)
	for text := range segments {
		if r.ctx.Err() != nil {
			break
		}
		c.post(func() { c.onAnswer(machine.Segment, r, news{text: text}) })
		samples, rate := int64(0), 1
		err := voice.SpeakPromptly(r.ctx, s.synth, c.engineVoice(r.voice), text, func(pcm []int16, hz int) error {
			samples, rate = samples+int64(len(pcm)), hz
			return w.write(pcm, hz)
		})
		if err != nil {
			_ = w.flush()
			return err
		}
		ms += samples * 1000 / int64(rate)
		end := ms
		c.post(func() { c.onAnswer(machine.Spoken, r, news{text: text, endMs: end}) })
	}
	return w.flush()
}

// ask requests the Model's answer to r and sends the pieces that can be spoken.
func (c *call) ask(ctx context.Context, r *response, segments chan<- string) generated {
	var written strings.Builder
	var calls []FunctionCall
	cut := c.srv.cfg.Segmenter()
	speak := func(pieces []string) {
		for _, p := range pieces {
			if p = strings.TrimSpace(p); p == "" {
				continue
			}
			select {
			case segments <- p:
			case <-ctx.Done():
			}
		}
	}
	err := c.srv.cfg.Model.Answer(ctx, r.prompt, func(text string) {
		if written.Len()+len(text) <= maxWritten {
			written.WriteString(text)
			speak(cut.Push(text))
		}
	}, func(f FunctionCall) { calls = append(calls, f) })
	if err == nil {
		speak(cut.Flush())
	}
	return generated{written: written.String(), calls: calls, err: err, what: "model"}
}

// maxWritten limits an answer of the Model, in bytes. The rest is dropped.
const maxWritten = 64 << 10

// rtpSpeech paces the speech of the responses onto a track.
type rtpSpeech struct {
	call    *call
	encoder *opus.Encoder
	track   *webrtc.TrackLocalStaticRTP
	packets chan packet

	// mu prevents kill from running while a packet is being sent.
	mu   sync.Mutex
	dead map[*response]bool  // killed: no more packets may be sent
	sent map[*response]int64 // samples sent, for responses that are not over
}

// packet is 20 ms of Opus. Without a payload, it marks the end of a response.
type packet struct {
	response *response
	payload  []byte
	// audible is closed just before the first packet of the response is sent.
	audible chan struct{}
}

func newRTPSpeech(c *call) (*rtpSpeech, error) {
	track, err := webrtc.NewTrackLocalStaticRTP(opusCapability, "audio", "agentvoice")
	if err != nil {
		return nil, err
	}
	encoder, err := opus.NewEncoder(opus.Config{FEC: true})
	if err != nil {
		return nil, err
	}
	return &rtpSpeech{
		call: c, encoder: encoder, track: track, packets: make(chan packet, packetsAhead),
		dead: make(map[*response]bool), sent: make(map[*response]int64),
	}, nil
}

// kill implements transport.
func (s *rtpSpeech) kill(r *response) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dead[r] = true
}

// played implements transport. Packets sent ahead of their playback time do not count.
func (s *rtpSpeech) played(r *response) (int64, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(s.sent[r]-leadTicks, 0) * 1000 / rtpRate, true
}

// speech implements transport.
func (s *rtpSpeech) speech(r *response) speechWriter {
	audible := make(chan struct{})
	sent := false
	push := func(payload []byte) error {
		select {
		case s.packets <- packet{r, payload, audible}:
			sent = true
			return nil
		case <-r.ctx.Done():
			return r.ctx.Err()
		}
	}
	// response.done waits until the audio starts, so that the order of events does not
	// depend on the speed of synthesis.
	started := func() {
		if !sent {
			return
		}
		select {
		case <-audible:
		case <-r.ctx.Done():
		}
	}
	return &packetWriter{framer: framer{encoder: s.encoder, push: push}, started: started}
}

// packetWriter is a framer that waits until its audio starts.
type packetWriter struct {
	framer
	started func()
}

func (w *packetWriter) flush() error {
	err := w.framer.flush()
	w.started()
	return err
}

// end implements transport.
func (s *rtpSpeech) end(r *response) {
	select {
	case s.packets <- packet{response: r}:
	case <-s.call.ctx.Done():
	}
}

// pace sends the packets in real time, multiplied by the server's speed.
func (s *rtpSpeech) pace() {
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
			c.post(func() { c.onAnswer(machine.AudioStopped, r, news{}); s.forget(r) })
			continue
		}
		first := r != current
		if first {
			current = r
			c.post(func() { c.onAnswer(machine.AudioStarted, r, news{}) })
			close(p.audible)
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

// forget drops the bookkeeping of a response that is over.
func (s *rtpSpeech) forget(r *response) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.dead, r)
	delete(s.sent, r)
}

// next returns the next packet and whether it had to wait for it.
func (s *rtpSpeech) next() (p packet, waited, ok bool) {
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

func (s *rtpSpeech) send(r *response, out *rtpClock, payload []byte, first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dead[r] {
		return
	}
	s.sent[r] += opus.PacketSamples
	// An unbound track drops the packet; a closed connection ends the call through its
	// own event.
	_ = s.track.WriteRTP(&rtp.Packet{Header: out.header(first), Payload: payload})
}

// rtpClock numbers packets and computes when they are due. Deadlines are absolute, so
// they do not drift. Timestamps follow the wall clock across gaps; sequence numbers are
// contiguous.
type rtpClock struct {
	origin   time.Time
	base     uint32 // timestamp at origin
	seq      uint16
	perTick  float64 // wall-clock nanoseconds per tick
	position int64   // ticks from origin to the next packet
}

func newRTPClock(now time.Time, speed float64) *rtpClock {
	return &rtpClock{
		origin: now, base: rand.Uint32(), seq: uint16(rand.Uint32()),
		perTick:  float64(time.Second) / rtpRate / speed,
		position: -pauseTicks, // the first response needs no pause
	}
}

// at returns the playback position at the time now.
func (o *rtpClock) at(now time.Time) int64 { return int64(float64(now.Sub(o.origin)) / o.perTick) }

// pause inserts the minimum pause before the next packet.
func (o *rtpClock) pause() { o.position += pauseTicks }

// resume moves the next packet to now if its position has passed.
func (o *rtpClock) resume(now time.Time) { o.position = max(o.position, o.at(now)) }

// starved reports whether the next packet is too late for the caller's jitter buffer,
// which causes a gap in the audio. The pacer catches up on smaller delays.
func (o *rtpClock) starved(now time.Time) bool { return o.at(now)-o.position > leadTicks }

// due returns when the next packet must be sent.
func (o *rtpClock) due() time.Time {
	return o.origin.Add(time.Duration(float64(o.position-leadTicks) * o.perTick))
}

// header returns the header of the next packet. The marker is set only on the first
// packet of a response (RFC 3551, section 4.1), not after a gap within one, so that a
// caller can tell the responses apart.
func (o *rtpClock) header(marker bool) rtp.Header {
	h := rtp.Header{Version: 2, Marker: marker, SequenceNumber: o.seq, Timestamp: o.base + uint32(o.position)}
	o.seq++
	o.position += opus.PacketSamples
	return h
}

// framer encodes the speech of one response as 20 ms Opus packets. push receives each
// packet in a new slice.
type framer struct {
	encoder   *opus.Encoder
	push      func(packet []byte) error
	resampler *audio.Resampler // from rate; nil before the first sample
	rate      int
	pcm       []int16 // at 48 kHz, less than a packet between calls
}

// write appends speech at rate Hz. It does not retain pcm.
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

// flush ends the speech and pads the last packet with silence.
func (f *framer) flush() error {
	f.drain()
	if over := len(f.pcm) % opus.PacketSamples; over > 0 {
		f.pcm = append(f.pcm, make([]int16, opus.PacketSamples-over)...)
	}
	return f.encode()
}

// drain appends the samples that the resampler holds back.
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
