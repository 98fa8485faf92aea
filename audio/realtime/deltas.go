package realtime

import (
	"encoding/base64"
	"encoding/binary"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

const (
	// deltaLead is how far the audio that is handed over may run ahead of real time: a
	// WebSocket brings it as fast as the service makes it. The player holds two minutes,
	// so a pause of the user has room behind it.
	deltaLead = 20 * time.Second
	// deltaPiece is how many bytes are handed over at once: 100 ms.
	deltaPiece = socketRate / 10 * 2
	// deltasHeld bounds what waits, in bytes: five minutes. What comes beyond is not taken.
	deltasHeld = 5 * 60 * socketRate * 2
	// deltaCost is what an event takes besides its audio.
	deltaCost = 128
	// deltaTarget is how much playback needs ahead: a packet that TCP sends again is late
	// by that much.
	deltaTarget = 200 * time.Millisecond
)

// deltas is the voice over a WebSocket: PCM in events, each of which says which response
// it is of.
type deltas struct {
	resampler *audio.Resampler // to audio.SampleRate
	queue     []delta
	held      int       // bytes that queue takes
	of        string    // the response that the resampler holds a rest of
	raw, pcm  []int16   // of the latest chunk, at both rates
	gen       uint32    // generation of what was handed over last
	until     time.Time // when what was handed over will have been heard
	received  uint64    // events with audio
	broken    uint64    // of those, not taken
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
	if err != nil || len(raw)%2 != 0 || s.response == "" || d.held+len(raw)+deltaCost > deltasHeld {
		d.broken++
		return false
	}
	d.held += len(raw) + deltaCost
	d.queue = append(d.queue, delta{response: s.response, raw: raw})
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

// rest hands over what the resampler holds back of a response.
func (d *deltas) rest(now time.Time, play func(chunk) (audio.SegmentID, bool)) {
	d.pcm = d.resampler.Flush(d.pcm[:0])
	d.hand(now, play)
}

// hand hands over d.pcm. Audio that nobody hears takes no time, and what was handed over
// of an older generation is not heard any more.
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
	d.queue, d.held, d.of, d.until = nil, 0, "", time.Time{}
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
