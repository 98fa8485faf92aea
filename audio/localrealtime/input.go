package localrealtime

import (
	"slices"

	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/opus"
	"github.com/agentvoice/agentvoice-daemon/audio/vad"
)

// window is 32 ms of the caller's audio (vad.WindowSamples samples at listenRate) and
// its probability of speech. The last window before a commit can be shorter. Windows
// are immutable.
type window struct {
	pcm    []int16
	speech float32
}

// listen is the audio input goroutine over WebRTC: it turns the caller's RTP into
// consecutive windows and posts them until the track or the call ends. It never waits
// for recognition.
func (c *call) listen(tracks <-chan *webrtc.TrackRemote) {
	// Loading the detector must not delay the SDP answer.
	loadErr := c.loadDetector()
	var track *webrtc.TrackRemote
	select {
	case track = <-tracks:
	case <-c.ctx.Done():
		return
	}
	// Input events must not precede session.created.
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

// loadDetector takes a voice detector from the pool for the input goroutine.
func (c *call) loadDetector() error {
	detector, err := c.srv.detectors.take()
	if err == nil {
		c.detector = detector
	}
	return err
}

// silentWindows is the number of windows of digital silence (0.3 s) after which the
// detector stops running. Callers send digital silence while nobody speaks.
const silentWindows = 10

// hear runs the detector on a full window and posts the window. It returns false when
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
		// A call without a detector hears nothing, so it gets one replacement.
		c.log.Warn().Err(err).Msg("voice detector failed; replacing it")
		if p, err = c.replaceDetector(pcm); err != nil {
			c.post(func() { c.fail("the voice detector failed", err) })
			return false
		}
	}
	return c.post(func() { c.onWindow(window{pcm, p}) })
}

func (c *call) replaceDetector(pcm []int16) (float32, error) {
	_ = c.srv.detectors.discard(c.detector)
	c.detector = nil
	d, err := c.srv.detectors.take()
	if err != nil {
		return 0, err
	}
	c.detector = d
	return d.Process(pcm)
}

// maxGap is the longest jump of RTP timestamps, in samples, that is filled with
// silence. A longer jump means that the caller restarted its timestamps.
const maxGap = 30 * rtpRate

// receiver orders and decodes packets and keeps the sample position aligned with the
// RTP timestamps: it conceals lost packets and inserts silence where nothing was sent.
type receiver struct {
	decoder   *opus.Decoder
	resampler *audio.Resampler // to listenRate
	order     reorder
	windows   windower

	started bool
	expect  uint32 // expected timestamp of the next packet
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

// receive processes the next packet from the network. It returns false when windows are
// no longer needed.
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
		// Treat a damaged packet as lost.
		n = opus.PacketSamples
		r.conceal(r.pcm[:n])
	}
	r.expect = p.Timestamp + uint32(n)
	return r.write(r.pcm[:n])
}

// fill generates n samples for a gap. Lost packets are concealed by Opus, which fades
// out, and the last one is recovered from the redundancy in the next packet; audio that
// was never sent becomes silence.
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

// maxHeld is the number of packets held while waiting for a missing one: 80 ms.
const maxHeld = 4

// reorder releases packets in sequence order. It waits for a missing packet until
// maxHeld later ones have arrived, and drops the missing one if it arrives after that.
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
		// Far behind: the caller restarted its sequence numbers.
		clear(o.held)
		o.next = p.SequenceNumber
		o.held[p.SequenceNumber] = p
	}
}

// pop returns the next packet and whether packets before it were lost.
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

// windower cuts samples into windows for the detector. emit receives a new slice each
// time.
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
