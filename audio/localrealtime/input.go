package localrealtime

import (
	"slices"

	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/opus"
	"github.com/agentvoice/agentvoice-daemon/audio/vad"
)

// window is 32 ms of what the caller said: vad.WindowSamples samples at
// listenRate and the probability of speech. What is left before a commit is shorter. It is not changed after it is made.
type window struct {
	pcm    []int16
	speech float32
}

// listen is the audio-in goroutine over WebRTC: it turns the caller's RTP into
// consecutive windows and posts them, until the track or the call ends. Nothing of it
// waits for recognition.
func (c *call) listen(tracks <-chan *webrtc.TrackRemote) {
	// Loading it must not delay the answer.
	loadErr := c.loadDetector()
	var track *webrtc.TrackRemote
	select {
	case track = <-tracks:
	case <-c.ctx.Done():
		return
	}
	// Events of what is heard must not come before session.created.
	select {
	case <-c.opened:
	case <-c.ctx.Done():
		return
	}
	if loadErr != nil {
		c.post(func() { c.fail("the voice detector cannot start", loadErr) })
		return
	}
	in, err := newReceiver(c.hear)
	if err != nil {
		c.post(func() { c.fail("the audio decoder cannot start", err) })
		return
	}
	for {
		p, _, err := track.ReadRTP()
		if err != nil {
			return
		}
		if !in.receive(p) {
			return
		}
	}
}

// loadDetector takes a voice detector for the goroutine that hears.
func (c *call) loadDetector() error {
	detector, err := c.srv.detectors.take()
	if err == nil {
		c.detector = detector
	}
	return err
}

// silentWindows is after how many windows of digital silence, 0.3 s, the detector does
// not run any more: a caller sends nothing while nobody speaks.
const silentWindows = 10

// hear runs the detector on a full window and posts it. It reports false when
// the call is over.
func (c *call) hear(pcm []int16) bool {
	if slices.ContainsFunc(pcm, func(s int16) bool { return s != 0 }) {
		c.silent = 0
	} else if c.silent++; c.silent > silentWindows {
		if c.silent == silentWindows+1 {
			c.detector.Reset()
		}
		return c.post(func() { c.onWindow(window{pcm, 0}) })
	}
	p, err := c.detector.Process(pcm)
	if err != nil {
		// Without the detector the call is deaf: it gets one new one.
		c.log.Warn().Err(err).Msg("voice detector failed; replacing it")
		if p, err = c.replaceDetector(pcm); err != nil {
			c.post(func() { c.fail("the voice detector failed", err) })
			return false
		}
	}
	return c.post(func() { c.onWindow(window{pcm, p}) })
}

func (c *call) replaceDetector(pcm []int16) (float32, error) {
	_ = c.detector.Close()
	c.detector = nil
	d, err := c.srv.cfg.Detector()
	if err != nil {
		return 0, err
	}
	c.detector = d
	return d.Process(pcm)
}

// maxGap is the longest silence that is made for a jump of RTP timestamps, in
// samples. A longer jump is a caller that began a new count.
const maxGap = 30 * rtpRate

// receiver puts packets in order, decodes them and keeps the sample position
// true to the RTP timestamp: what was lost is concealed, and what was not sent
// is silence.
type receiver struct {
	decoder   *opus.Decoder
	resampler *audio.Resampler // to listenRate
	order     reorder
	windows   windower

	started bool
	expect  uint32 // timestamp after the last packet
	pcm     [opus.MaxPacketSamples]int16
	low     []int16 // pcm at listenRate, reused
}

func newReceiver(emit func(pcm []int16) bool) (*receiver, error) {
	decoder, err := opus.NewDecoder()
	if err != nil {
		return nil, err
	}
	resampler, err := audio.NewResampler(rtpRate, listenRate)
	if err != nil {
		return nil, err
	}
	return &receiver{decoder: decoder, resampler: resampler, windows: windower{emit: emit}}, nil
}

// receive takes the next packet of the network. It reports false when the
// windows are not wanted any more.
func (r *receiver) receive(p *rtp.Packet) bool {
	r.order.push(p)
	for {
		next, lost, ok := r.order.pop()
		if !ok {
			return true
		}
		if len(next.Payload) > 0 && !r.decode(next, lost) {
			return false
		}
	}
}

func (r *receiver) decode(p *rtp.Packet, lost bool) bool {
	if gap := p.Timestamp - r.expect; r.started && gap > 0 && gap <= maxGap {
		if !r.fill(int(gap), lost, p.Payload) {
			return false
		}
	}
	r.started = true
	n, err := r.decoder.Decode(p.Payload, r.pcm[:])
	if err != nil {
		// A damaged packet is as good as lost.
		n = opus.PacketSamples
		r.conceal(r.pcm[:n])
	}
	r.expect = p.Timestamp + uint32(n)
	return r.write(r.pcm[:n])
}

// fill makes n samples for a gap. Lost packets are extrapolated, which Opus
// fades out, and the last one is taken from the redundancy in the packet after
// it; what was never sent is silence.
func (r *receiver) fill(n int, lost bool, next []byte) bool {
	for n > 0 {
		piece := r.pcm[:min(n, opus.PacketSamples)]
		switch whole := len(piece) == opus.PacketSamples; {
		case lost && whole && n == opus.PacketSamples:
			if r.decoder.DecodeFEC(next, piece) != nil {
				r.conceal(piece)
			}
		case lost && whole:
			r.conceal(piece)
		default:
			clear(piece)
		}
		if !r.write(piece) {
			return false
		}
		n -= len(piece)
	}
	return true
}

func (r *receiver) conceal(pcm []int16) {
	if r.decoder.DecodePLC(pcm) != nil {
		clear(pcm)
	}
}

func (r *receiver) write(pcm []int16) bool {
	r.low = r.resampler.Process(r.low[:0], pcm)
	return r.windows.write(r.low)
}

// maxHeld is how many packets wait for a missing one: 80 ms.
const maxHeld = 4

// reorder gives packets out by sequence number. A missing packet is waited for
// until maxHeld later ones have come; what comes later still is dropped.
type reorder struct {
	started bool
	next    uint16
	held    map[uint16]*rtp.Packet
}

func (o *reorder) push(p *rtp.Packet) {
	if o.held == nil {
		o.held = make(map[uint16]*rtp.Packet, maxHeld+1)
	}
	if !o.started {
		o.started, o.next = true, p.SequenceNumber
	}
	switch ahead := p.SequenceNumber - o.next; {
	case ahead < 1<<15:
		o.held[p.SequenceNumber] = p
	case -ahead > 1000:
		// Far behind: the caller began a new count.
		clear(o.held)
		o.next = p.SequenceNumber
		o.held[p.SequenceNumber] = p
	}
}

// pop is the next packet, and whether packets before it were given up.
func (o *reorder) pop() (p *rtp.Packet, lost, ok bool) {
	if _, there := o.held[o.next]; !there {
		if len(o.held) <= maxHeld {
			return nil, false, false
		}
		lost = true
		nearest := uint16(1<<16 - 1)
		for seq := range o.held {
			nearest = min(nearest, seq-o.next)
		}
		o.next += nearest
	}
	p = o.held[o.next]
	delete(o.held, o.next)
	o.next++
	return p, lost, true
}

// windower cuts samples into windows for the detector. emit gets a slice of its
// own.
type windower struct {
	emit func(pcm []int16) bool
	part []int16
}

func (w *windower) write(pcm []int16) bool {
	for len(pcm) > 0 {
		if w.part == nil {
			w.part = make([]int16, 0, vad.WindowSamples)
		}
		n := min(len(pcm), vad.WindowSamples-len(w.part))
		w.part = append(w.part, pcm[:n]...)
		pcm = pcm[n:]
		if len(w.part) == vad.WindowSamples {
			full := w.part
			w.part = nil
			if !w.emit(full) {
				return false
			}
		}
	}
	return true
}
