package dsp

import (
	"sync/atomic"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// ringSamples is the capacity for the far end: 1.4 s, more than any delay that can be
// cancelled. It is a power of two.
const ringSamples = 1 << 16

// ring carries rendered audio from the rendering to the capturing goroutine.
// Positions count rendered samples from 0. If nothing captures, the ring fills up,
// and further frames are dropped and counted; the aligner detects this later.
type ring struct {
	buf      [ringSamples]int16
	written  atomic.Int64 // end of what the renderer wrote
	released atomic.Int64 // samples before this may be overwritten
	dropped  atomic.Int64 // frames dropped because the ring was full
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

// at returns the sample at pos, with released <= pos < written.
func (r *ring) at(pos int64) int16 { return r.buf[pos&(ringSamples-1)] }
