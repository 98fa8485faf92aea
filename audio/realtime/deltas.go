package realtime

import (
	"encoding/base64"
	"encoding/binary"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

const (
	// deltaLead is how far delivered audio may run ahead of real time. A WebSocket
	// delivers audio as fast as the service generates it. The player buffers two
	// minutes, which leaves room for a pause by the user.
	deltaLead = 20 * time.Second
	// deltaPiece is how many bytes are delivered at once: 100 ms.
	deltaPiece = socketRate / 10 * 2
	// deltasHeld limits the queue, in bytes: five minutes. Audio beyond it is dropped.
	deltasHeld = 5 * 60 * socketRate * 2
	// deltaCost is the size of an event without its audio.
	deltaCost = 128
	// deltaTarget is how much audio playback must buffer, which covers the delay of a
	// TCP retransmission.
	deltaTarget = 200 * time.Millisecond
)

// deltas is the voice over a WebSocket: PCM in events, each of which names its
// response.
type deltas struct {
	resampler *audio.Resampler // to audio.SampleRate
	queue     []delta
	held      int       // bytes in queue
	of        string    // the response whose tail is in the resampler
	half      delta     // the first byte of a sample that the next event of the response completes
	raw, pcm  []int16   // the latest chunk, at both rates
	gen       uint32    // generation of the last delivered audio
	until     time.Time // when the delivered audio will have been played
	received  uint64    // audio events
	broken    uint64    // audio events that were rejected
}

// delta is a piece of a response, or its end.
type delta struct {
	response string
	raw      []byte // 16 bits, little-endian, at socketRate
	ends     bool
}

// push implements voice.
func (d *deltas) push(s sound, _ time.Time) (ok bool) {
	if s.ends {
		d.held += deltaCost
		d.queue = append(d.queue, delta{response: s.response, ends: true})
		return true
	}
	d.received++
	raw, err := base64.StdEncoding.DecodeString(s.delta)
	if err != nil || s.response == "" || d.held+len(raw)+deltaCost > deltasHeld {
		d.broken++
		return false
	}
	if d.half.response == s.response {
		raw = append(d.half.raw, raw...)
	}
	whole := len(raw) / 2 * 2
	d.half = delta{response: s.response, raw: raw[whole:]}
	d.held += whole + deltaCost
	d.queue = append(d.queue, delta{response: s.response, raw: raw[:whole]})
	return true
}

// drain implements voice.
func (d *deltas) drain(now time.Time, play func(chunk) (audio.SegmentID, bool)) {
	for len(d.queue) > 0 && !now.Before(d.deadline()) {
		next := d.queue[0]
		if next.response != d.of {
			d.rest(now, play)
			d.of = next.response
		}
		piece := next.raw[:min(len(next.raw), deltaPiece)]
		d.held -= len(piece)
		if next.raw = next.raw[len(piece):]; len(next.raw) > 0 {
			d.queue[0] = next
		} else {
			d.held -= deltaCost
			d.queue = d.queue[1:]
		}
		d.raw = d.raw[:0]
		for i := 0; i < len(piece); i += 2 {
			d.raw = append(d.raw, int16(binary.LittleEndian.Uint16(piece[i:])))
		}
		d.pcm = d.resampler.Process(d.pcm[:0], d.raw)
		d.hand(now, play)
		if next.ends {
			d.rest(now, play)
			play(chunk{response: next.response, ends: true})
		}
	}
}

// rest delivers the samples that the resampler holds back of a response.
func (d *deltas) rest(now time.Time, play func(chunk) (audio.SegmentID, bool)) {
	d.pcm = d.resampler.Flush(d.pcm[:0])
	d.hand(now, play)
}

// hand delivers d.pcm. Audio that is not played takes no playback time, and delivered
// audio of an older generation is no longer playing.
func (d *deltas) hand(now time.Time, play func(chunk) (audio.SegmentID, bool)) {
	if len(d.pcm) == 0 {
		return
	}
	seg, heard := play(chunk{pcm: d.pcm, response: d.of})
	if !heard {
		return
	}
	if d.until.Before(now) || seg.Gen != d.gen {
		d.gen, d.until = seg.Gen, now
	}
	d.until = d.until.Add(audio.Duration(int64(len(d.pcm))))
}

// deadline implements voice.
func (d *deltas) deadline() time.Time {
	if len(d.queue) == 0 {
		return farAway
	}
	return d.until.Add(-deltaLead)
}

// drop implements voice.
func (d *deltas) drop() {
	d.queue, d.held, d.of, d.half, d.until = nil, 0, "", delta{}, time.Time{}
	d.resampler.Reset()
}

func (*deltas) names() bool          { return true }
func (*deltas) bound() time.Duration { return 0 }

// publish implements voice.
func (d *deltas) publish(c *counters) {
	c.received.Store(d.received)
	c.broken.Store(d.broken)
	c.target.Store(int64(deltaTarget))
}
