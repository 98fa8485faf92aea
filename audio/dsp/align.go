package dsp

import (
	"math"
	"slices"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// How the far end is aligned with the near end. All in samples at 48 kHz.
const (
	// lead is how much earlier than its echo a sample of the far end comes to the
	// canceller. An echo that comes before its reference cannot be cancelled at
	// all, and one that comes up to 100 ms after it is cancelled as well as any:
	// so the lead is for delays that are reported too long.
	lead = 30 * audio.SampleRate / 1000
	// headroom is by how much a frame may be rendered later than usual and still be
	// there for its echo. Where the devices are too fast for both, the lead is less,
	// down to leastResidual.
	headroom = audio.FrameSamples
	// jump is by how much the median lag of a block may be wrong until it is put
	// right. It is more than a frame, by which the lag of two drifting clocks steps.
	jump = 15 * audio.SampleRate / 1000
	// leap is by how much a single lag may be too long.
	leap = 100 * audio.SampleRate / 1000
	// maxAge and history, how far back a delay that grows may go, fit into the
	// ring, with 250 ms to spare for jitter.
	maxAge  = 700 * audio.SampleRate / 1000
	history = 400 * audio.SampleRate / 1000
)

// stalled is after how many frames without a new one the sink counts as stopped.
const stalled = 5

// blockFrames is over how many frames a lag is judged, and lateBlocks after how many
// of them frames that come too late are more than an accident.
const (
	blockFrames = 50
	lateBlocks  = 2
)

// The clocks' loop: each time that the echo was found, about every half second, how
// far it is from where it was corrects the speed of reading, in proportion and by
// its integral, critically damped, with a time constant of 5 s. The canceller bears
// a difference of 10 ppm, and loses its echo time and again at 30.
const (
	proportional = 0.2
	integral     = proportional * proportional / 4
	maxSlip      = 0.5 // samples a frame: 1000 ppm
	// nearby is by how much an echo may be elsewhere to be the same.
	nearby = 2 * audio.SampleRate / 1000
)

// aligner reads the ring at the speed of the near end and keeps a constant
// distance to the writer: the delay that it was told, less the lead. It is used by
// the capturing goroutine.
//
// It has two measures. The lag is how much was rendered and not yet read. Every
// accident shows in it: frames that the microphone lost make it longer, a
// loudspeaker that stood still makes it shorter. It is coarse, being counted in
// frames. The echo tells to microseconds whether the clocks drift.
type aligner struct {
	ring *ring

	read  int64 // position of the next sample
	floor int64 // what was rendered before here is not heard any more
	live  bool  // the sink renders
	last  int64 // what was written at the last frame
	idle  int   // frames since something was
	age   int64 // how old a sample should be when it is read, beyond a frame

	lags   [blockFrames]int64 // of this block
	frames int                // that are in it
	late   int                // blocks in a row in which a frame came too late
	mean   float64            // lag of the last block

	part     float64 // of a sample, after read
	rate     float64 // samples that a frame is longer, or, below 0, shorter
	speed    float64 // of that, what the clocks differ by
	anchor   float64 // how far the echo is kept behind what is read, samples
	anchored bool

	underruns, resyncs, slipped int64
}

// setDelay tells how long a sample takes from its rendering to its echo's capture.
func (a *aligner) setDelay(samples int64) {
	before := a.target()
	a.age = min(max(samples-lead, min(headroom, samples-leastResidual), 0), maxAge)
	if after := a.target(); after != before && a.live {
		a.moveTo(a.read - (after - before))
	}
}

// target is the lag that is wanted.
func (a *aligner) target() int64 { return audio.FrameSamples + a.age }

func (a *aligner) moveTo(read int64) {
	a.read = read
	// What was released may be overwritten by now.
	a.floor = max(a.floor, a.ring.released.Load())
	a.part, a.rate, a.anchored = 0, a.speed, false
	a.mean = float64(a.ring.written.Load() - read)
	a.late = 0
	a.newBlock()
}

// hold takes how far the echo is behind what is read, in samples, and keeps it
// there; without found nothing is known about it.
func (a *aligner) hold(echo float64, found bool) {
	a.rate = a.speed
	if !found {
		return
	}
	off := echo - a.anchor
	if !a.anchored || math.Abs(off) > nearby {
		a.anchor, a.anchored = echo, true
		return
	}
	a.speed = min(max(a.speed-integral*off/blockFrames, -maxSlip), maxSlip)
	a.rate = min(max(a.speed-proportional*off/blockFrames, -maxSlip), maxSlip)
}

// delay is the delay from a rendered sample to its echo that is so far behind what
// is read.
func (a *aligner) delay(echo float64) int64 {
	return max(0, int64(math.Round(a.mean-audio.FrameSamples+echo)))
}

// reset lets the next frame that is rendered be the first.
func (a *aligner) reset() {
	a.live, a.speed = false, 0
	a.read = a.ring.written.Load()
	a.floor, a.last = a.read, a.read
	a.ring.released.Store(a.read)
	a.part, a.rate, a.anchored = 0, a.speed, false
	a.newBlock()
}

// skip tells that the near end lost samples.
func (a *aligner) skip(samples int64) {
	if a.live && samples > 0 {
		a.moveTo(a.read + samples)
	}
}

func (a *aligner) newBlock() { a.frames = 0 }

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
		speed := a.speed // the clocks are the same when it continues
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
	}
	a.observe(lag)
	a.copy(f, written)
	return true
}

// copy reads a frame, stretched by as much as the clocks differ. The position moves
// on evenly, in parts of a sample: a step of a whole one is half a turn of what is
// at the upper end of speech, and the canceller would have to relearn it.
func (a *aligner) copy(f *audio.Frame, written int64) {
	step := 1 + a.rate/audio.FrameSamples
	if a.rate == 0 && a.part == 0 {
		for i := range f {
			f[i] = a.sample(a.read-halfTaps+int64(i), written)
		}
		a.read += audio.FrameSamples
	} else {
		for i := range f {
			at := a.part + float64(i)*step
			whole := math.Floor(at)
			f[i] = a.between(a.read+int64(whole), at-whole, written)
		}
		end := a.part + audio.FrameSamples + a.rate
		whole := math.Floor(end)
		a.read += int64(whole)
		a.part = end - whole
		a.slipped += abs(int64(whole) - audio.FrameSamples)
	}
	a.ring.released.Store(max(a.ring.released.Load(), min(a.read, written)-history))
}

func abs(n int64) int64 { return max(n, -n) }

func (a *aligner) sample(pos, written int64) int16 {
	if pos < a.floor || pos >= written {
		return 0
	}
	return a.ring.at(pos)
}

// between is the far end at a part of a sample after pos. All positions are read
// halfTaps late, since the filter needs what comes after them.
func (a *aligner) between(pos int64, part float64, written int64) int16 {
	taps := &interpolation[int(part*phases)]
	sum := float32(0)
	for j, c := range taps {
		sum += c * float32(a.sample(pos-halfTaps+int64(j-halfTaps+1), written))
	}
	return int16(min(max(math.RoundToEven(float64(sum)), math.MinInt16), math.MaxInt16))
}

// The interpolation: sincs under Hann windows, at phases places between two
// samples.
const (
	halfTaps = 8
	phases   = 256
)

var interpolation = func() (table [phases][2 * halfTaps]float32) {
	for p := range table {
		for j := range table[p] {
			t := float64(j-halfTaps+1) - float64(p)/phases
			switch {
			case t == 0:
				table[p][j] = 1
			case math.Abs(t) < halfTaps:
				table[p][j] = float32(math.Sin(math.Pi*t) / (math.Pi * t) * (0.5 + 0.5*math.Cos(math.Pi*t/halfTaps)))
			}
		}
	}
	return table
}()

// observe adds a lag to the block, and judges the block at its end. A machine that
// stalls for a moment renders some frames too late and is on time again: only what
// lasts is put right, since each move costs the canceller some of what it learnt.
func (a *aligner) observe(lag int64) {
	a.lags[a.frames] = lag
	a.frames++
	if a.frames < blockFrames {
		return
	}
	sum := int64(0)
	for _, lag := range a.lags {
		sum += lag
	}
	a.mean = float64(sum) / blockFrames
	slices.Sort(a.lags[:])
	least, middle := a.lags[0], a.lags[blockFrames/2]
	a.late++
	if least >= audio.FrameSamples {
		a.late = 0
	}
	miss := middle - a.target()
	switch shortest := least - audio.FrameSamples; {
	case a.late >= lateBlocks: // with jitter the lag is so long that the shortest is a frame
		miss = min(miss, shortest)
	case middle < audio.FrameSamples:
	case miss > 0 && min(miss, shortest) > jump:
		miss = min(miss, shortest)
	case miss < -jump:
	default:
		a.newBlock()
		return
	}
	a.resyncs++
	a.moveTo(a.read + miss)
}
