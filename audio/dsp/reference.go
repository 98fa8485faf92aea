package dsp

import (
	"sync/atomic"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// ringSamples is the far end that is kept: 1.4 s, more than any delay that is
// cancelled. A power of two.
const ringSamples = 1 << 16

// ring carries the rendered audio from the goroutine that renders to the one that
// captures. Positions count rendered samples from 0. When nobody captures it fills
// up, and what comes then is dropped and counted; the aligner notices afterwards.
type ring struct {
	buf      [ringSamples]int16
	written  atomic.Int64 // up to here the renderer wrote
	released atomic.Int64 // before here it may write again
	dropped  atomic.Int64 // frames that found no room
}

// write is called by the renderer.
func (r *ring) write(f *audio.Frame) {
	at := r.written.Load()
	if at+audio.FrameSamples-r.released.Load() > ringSamples {
		r.dropped.Add(1)
		return
	}
	n := copy(r.buf[at%ringSamples:], f[:])
	copy(r.buf[:], f[n:])
	r.written.Store(at + audio.FrameSamples)
}

// at is the sample at pos, which is between what was released and what is written.
func (r *ring) at(pos int64) int16 { return r.buf[pos&(ringSamples-1)] }
