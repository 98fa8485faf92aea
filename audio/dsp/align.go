package dsp

import (
	"math"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// How the far end is laid beside the near end. All in samples at 48 kHz.
const (
	// lead is how much earlier than its echo a sample of the far end comes to the
	// canceller. An echo that comes before its reference cannot be cancelled at
	// all, and one that comes up to 100 ms after it is cancelled as well as any:
	// so the lead is for delays that are reported too long.
	lead = 30 * audio.SampleRate / 1000
	// jump is by how much the mean lag of a block may be wrong until it is put
	// right at once; less is drift, and is caught up with sample by sample. It is
	// more than a frame, by which the lag of two drifting clocks steps.
	jump = 20 * audio.SampleRate / 1000
	// leap is by how much a single lag may be too long.
	leap = 100 * audio.SampleRate / 1000
	// spareAge is kept beyond the frame that is read once the writer came too late
	// for it.
	spareAge = audio.FrameSamples
	// maxAge and history, how far back a delay that grows may go, fit into the
	// ring, with 250 ms to spare for jitter.
	maxAge  = 700 * audio.SampleRate / 1000
	history = 400 * audio.SampleRate / 1000
)

// stalled is after how many frames without a new one the sink counts as stopped.
const stalled = 5

// The clocks' loop: every block of 50 frames, the mean lag corrects the speed of
// reading, in proportion and by its integral, critically damped, with a time
// constant of 100 s. It must be slow: frames are counted, so that a drift of
// 100 ppm shows as a step of 10 ms each 100 s; the canceller follows the slow
// slide between well, and would lose its echo if the step were made up for at once.
// Clocks that differ by more than about 200 ppm are put right by jumps.
const (
	blockFrames  = 50
	proportional = 1.0 / 200
	integral     = proportional * proportional / 4
	maxSlip      = blockFrames / 2 // samples in a block: 1000 ppm
)

// aligner reads the ring at the speed of the near end and keeps a constant
// distance to the writer: the delay that it was told, less the lead. It is used by
// the capturing goroutine.
//
// Its only measure is the lag, how much was rendered and not yet read. Every
// accident shows in it: frames that the microphone lost make it longer, a
// loudspeaker that stood still makes it shorter, clocks that drift move it slowly.
type aligner struct {
	ring *ring

	read  int64 // position of the next sample
	floor int64 // what was rendered before here is not heard any more
	live  bool  // the sink renders
	last  int64 // what was written at the last frame
	idle  int   // frames since something was
	age   int64 // how old a sample should be when it is read, beyond a frame
	spare int64 // the least that age may be

	frames  int // of this block
	sum     int64
	least   int64
	pending float64 // samples to skip (or, below 0, to repeat)
	speed   float64 // samples a block, what the clocks differ by

	underruns, resyncs, slipped int64
}

// setDelay tells how long a sample takes from its rendering to its echo's capture.
func (a *aligner) setDelay(samples int64) {
	before := a.target()
	a.age = min(max(samples-lead, 0), maxAge)
	if after := a.target(); after != before && a.live {
		a.moveTo(a.read - (after - before))
	}
}

// target is the lag that is wanted.
func (a *aligner) target() int64 { return audio.FrameSamples + max(a.age, a.spare) }

func (a *aligner) moveTo(read int64) {
	a.read = read
	// What was released may be overwritten by now.
	a.floor = max(a.floor, a.ring.released.Load())
	a.pending = 0
	a.newBlock()
}

// reset lets the next frame that is rendered be the first.
func (a *aligner) reset() {
	a.live, a.spare, a.speed = false, 0, 0
	a.read = a.ring.written.Load()
	a.floor, a.last = a.read, a.read
	a.ring.released.Store(a.read)
	a.pending = 0
	a.newBlock()
}

// skip tells that the near end lost samples.
func (a *aligner) skip(samples int64) {
	if a.live && samples > 0 {
		a.moveTo(a.read + samples)
	}
}

func (a *aligner) newBlock() { a.frames, a.sum, a.least = 0, 0, math.MaxInt64 }

// next fills f with the far end that belongs to the next frame of the near end.
// Where there is none it is silent. It says whether the sink renders.
func (a *aligner) next(f *audio.Frame) bool {
	written := a.ring.written.Load()
	a.idle++
	if written != a.last {
		a.idle = 0
	}
	a.last = written
	if a.live && a.idle >= stalled && written-a.read < audio.FrameSamples {
		speed := a.speed // the clocks are the same when it goes on
		a.reset()
		a.speed = speed
	}
	if !a.live {
		if written == a.read {
			clear(f[:])
			return false
		}
		a.live = true
		a.moveTo(written - a.target())
	}
	lag := written - a.read
	if lag > a.target()+leap {
		a.resyncs++
		a.moveTo(written - a.target())
		lag = a.target()
	}
	if lag < audio.FrameSamples {
		a.underruns++
		if a.age < 2*audio.FrameSamples {
			// Nothing was in hand: wait for it, and keep something from now on.
			a.spare = spareAge
			clear(f[:])
			return true
		}
	}
	a.observe(lag)
	a.copy(f, written)
	return true
}

// copy reads a frame, one sample longer or shorter when the clocks want it.
func (a *aligner) copy(f *audio.Frame, written int64) {
	step := int64(0)
	if a.pending >= 1 {
		step = 1
	} else if a.pending <= -1 {
		step = -1
	}
	if step == 0 {
		for i := range f {
			f[i] = a.sample(a.read+int64(i), written)
		}
	} else {
		// Stretched over the frame, so that there is no click.
		for i := range f {
			f[i] = a.between(float64(i)*float64(audio.FrameSamples+step)/audio.FrameSamples, written)
		}
		a.pending -= float64(step)
		a.slipped++
	}
	a.read += audio.FrameSamples + step
	a.ring.released.Store(max(a.ring.released.Load(), min(a.read, written)-history))
}

func (a *aligner) sample(pos, written int64) int16 {
	if pos < a.floor || pos >= written {
		return 0
	}
	return a.ring.at(pos)
}

// between is the far end at offset from the read position, by a cubic through the
// four samples around it (Catmull and Rom).
func (a *aligner) between(offset float64, written int64) int16 {
	whole := math.Floor(offset)
	t := offset - whole
	pos := a.read + int64(whole)
	p0, p1 := float64(a.sample(pos-1, written)), float64(a.sample(pos, written))
	p2, p3 := float64(a.sample(pos+1, written)), float64(a.sample(pos+2, written))
	v := p1 + t/2*(p2-p0+t*(2*p0-5*p1+4*p2-p3+t*(3*(p1-p2)+p3-p0)))
	return int16(min(max(math.Round(v), math.MinInt16), math.MaxInt16))
}

// observe adds a lag to the block, and judges the block at its end.
func (a *aligner) observe(lag int64) {
	a.frames++
	a.sum += lag
	a.least = min(a.least, lag)
	if a.frames < blockFrames {
		return
	}
	mean := float64(a.sum) / blockFrames
	// With jitter the mean is kept so far from the writer that the shortest lag
	// is a frame still.
	miss := mean - max(float64(a.target()), audio.FrameSamples+mean-float64(a.least))
	if math.Abs(miss) > jump {
		a.resyncs++
		a.moveTo(a.read + int64(miss))
		return
	}
	a.speed = min(max(a.speed+integral*miss, -maxSlip), maxSlip)
	a.pending = min(max(a.pending+a.speed+proportional*miss, -maxSlip), maxSlip)
	a.newBlock()
}
