package dsp

import (
	"math"
	"slices"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// Alignment of the far end with the near end, in samples at 48 kHz.
const (
	// lead is by how much a far-end sample precedes its echo at the canceller. An echo
	// that arrives before its reference cannot be cancelled, and one up to 100 ms after
	// it is cancelled equally well, so lead absorbs delays that are reported too long.
	lead = 30 * audio.SampleRate / 1000
	// headroom is how late a frame may be rendered and still be there for its echo. If
	// the devices are too fast for both, the lead shrinks, down to minResidual.
	headroom = audio.FrameSamples
	// jump is the error of a block's median lag that triggers a realignment. It exceeds
	// a frame, because drifting clocks step the lag by one frame.
	jump = 15 * audio.SampleRate / 1000
	// leap is the maximum error of a single lag.
	leap = 100 * audio.SampleRate / 1000
	// maxAge, and history for a delay that grows, fit into the ring with 250 ms to
	// spare for jitter.
	maxAge  = 700 * audio.SampleRate / 1000
	history = 400 * audio.SampleRate / 1000
)

// stalled is after how many frames without a new far-end frame the sink counts as stopped.
const stalled = 5

// blockFrames is the number of frames over which lag is judged. lateBlocks is how many
// consecutive blocks with a late frame trigger a realignment.
const (
	blockFrames = 50
	lateBlocks  = 2
)

// Clock control loop: each time the echo is found, about every half second, its
// offset from the anchor adjusts the reading speed by a PI controller, critically
// damped, with a time constant of 5 s. The canceller tolerates a clock difference of
// 10 ppm, and repeatedly loses the echo at 30.
const (
	proportional = 0.2
	integral     = proportional * proportional / 4
	maxSlip      = 0.5 // samples a frame: 1000 ppm
	// nearby is the maximum distance of two positions of the same echo.
	nearby = 2 * audio.SampleRate / 1000
)

// aligner reads the ring at the pace of the near end and keeps a constant distance to
// the writer: the configured delay minus the lead. Only the capturing goroutine uses
// it.
//
// It uses two measurements. The lag is how much was rendered and not read yet. It shows
// every disruption: frames that the microphone lost increase it, a speaker that stalled
// decreases it. Its resolution is one frame. The echo's position shows clock drift to
// microseconds.
type aligner struct {
	ring *ring

	read  int64 // position of the next sample
	floor int64 // samples before this position are no longer used
	live  bool  // the sink renders
	last  int64 // written at the last frame
	idle  int   // frames since the ring was written
	age   int64 // target age of a sample when it is read, beyond a frame

	lags   [blockFrames]int64 // lags of the current block
	frames int                // number of lags in it
	late   int                // consecutive blocks with a late frame
	mean   float64            // lag of the last block

	part     float64 // fraction of a sample after read
	rate     float64 // samples by which a frame is stretched (or shortened, if negative)
	speed    float64 // the part of rate that is clock drift
	anchor   float64 // target distance of the echo behind read, in samples
	anchored bool

	underruns, resyncs, slipped int64
}

// setDelay sets the delay from rendering a sample to capturing its echo.
func (a *aligner) setDelay(samples int64) {
	before := a.target()
	a.age = min(max(samples-lead, min(headroom, samples-minResidual), 0), maxAge)
	if after := a.target(); after != before && a.live {
		a.moveTo(a.read - (after - before))
	}
}

// target returns the target lag.
func (a *aligner) target() int64 { return audio.FrameSamples + a.age }

func (a *aligner) moveTo(read int64) {
	a.read = read
	// Released samples may be overwritten already.
	a.floor = max(a.floor, a.ring.released.Load())
	a.part, a.rate, a.anchored = 0, a.speed, false
	a.mean = float64(a.ring.written.Load() - read)
	a.late = 0
	a.newBlock()
}

// hold takes the echo's distance behind read, in samples, and keeps it constant. If
// found is false the distance is unknown.
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

// delay returns the delay from a rendered sample to its echo, given the echo's distance
// behind read.
func (a *aligner) delay(echo float64) int64 {
	return max(0, int64(math.Round(a.mean-audio.FrameSamples+echo)))
}

// reset makes the next rendered frame the first.
func (a *aligner) reset() {
	a.live, a.speed = false, 0
	a.read = a.ring.written.Load()
	a.floor, a.last = a.read, a.read
	a.ring.released.Store(a.read)
	a.part, a.rate, a.anchored = 0, a.speed, false
	a.newBlock()
}

// skip handles samples that the near end lost.
func (a *aligner) skip(samples int64) {
	if a.live && samples > 0 {
		a.moveTo(a.read + samples)
	}
}

func (a *aligner) newBlock() { a.frames = 0 }

// next fills f with the far end for the next near-end frame, or with silence if there
// is none. It reports whether the sink renders.
func (a *aligner) next(f *audio.Frame) bool {
	written := a.ring.written.Load()
	a.idle++
	if written != a.last {
		a.idle = 0
	}
	a.last = written
	if a.live && a.idle >= stalled && written-a.read < audio.FrameSamples {
		speed := a.speed // the clock drift stays the same when it continues
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

// copy reads a frame, resampled by the clock difference. The position advances
// evenly, in fractions of a sample: a step of a whole sample is half a period at the
// upper end of speech, and the canceller would have to adapt again.
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

// between returns the far end at a fractional position after pos. All positions are
// read halfTaps late, because the filter needs the samples after them.
func (a *aligner) between(pos int64, part float64, written int64) int16 {
	taps := &interpolation[int(part*phases)]
	sum := float32(0)
	for j, c := range taps {
		sum += c * float32(a.sample(pos-halfTaps+int64(j-halfTaps+1), written))
	}
	return int16(min(max(math.RoundToEven(float64(sum)), math.MinInt16), math.MaxInt16))
}

// Interpolation filters: sincs under Hann windows, at `phases` positions between
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

// observe adds a lag to the block and evaluates each complete block. A machine that
// stalls briefly renders some frames late and recovers, so only lasting errors are
// corrected: each move costs the canceller some of its adaptation.
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
	case a.late >= lateBlocks: // with jitter, the lag that makes the shortest one a frame
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
