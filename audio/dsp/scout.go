package dsp

import (
	"math"
	"math/cmplx"

	"gonum.org/v1/gonum/dsp/fourier"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// Parameters of the scout, at rate.
const (
	// scoutNear is the compared part of the near end: the last 256 ms.
	scoutNear = 4096
	// scoutFar is the part of the far end that is searched: the last second, so that an
	// echo is found at any delay from 0 to 768 ms.
	scoutFar = 16384
	// The peak's prominence is relative to the correlation within scoutAround of it,
	// except within scoutWidth. Further away the streams overlap too little for the
	// correlation to be meaningful.
	scoutAround = 1024
	scoutWidth  = 24
	// scoutPeak is the neutral prominence: 99 % of windows with unrelated speech are
	// below it, 97 % with an echo above. The evidence for a foreign sound is the sum of
	// the differences below it over the windows of a sound; from scoutForeign on the
	// sound is foreign. The prior is at most scoutPrior, the sum at most scoutMax.
	scoutPeak    = 7.5
	scoutForeign = 1.5
	scoutPrior   = 3
	scoutMax     = 5
	// The first tenth of a second of an echo is less prominent, so during the first
	// scoutStart frames, in which one may start, more evidence is required.
	scoutStart        = 30
	scoutStartPeak    = 6.25
	scoutStartForeign = 4.5
	// An echo is certain from scoutCertain on. After that scoutPresent replaces
	// scoutPeak, because the end of its reverberation is less prominent.
	scoutCertain = 15
	scoutPresent = 5
	// scoutGap is the maximum number of frames between two calls about the same sound.
	scoutGap = 4
	// A far end that was active for scoutLate frames must have reached the near end.
	// It starts again after a pause of scoutPause frames. From then on the two are
	// compared every scoutEvery frames: where repeatedly no echo is found, less
	// evidence makes a sound foreign.
	scoutLate  = 40
	scoutPause = 30
	scoutEvery = 10
	// An echo that is found scoutAgree times in a row more than scoutJump from its
	// old position, each time within scoutSame of itself, has moved. The streams are
	// compared every scoutUrgent frames while the canceller's reduction is below
	// scoutCut dB, and every scoutSeldom frames otherwise.
	scoutMoved  = 9.0
	scoutAgree  = 2
	scoutUrgent = 3
	scoutSeldom = 20
	scoutCut    = 8.0
	scoutJump   = 40 * rate / 1000
	scoutSame   = 5 * rate / 1000
	// scoutMin is below the delay of any device. Streams that are both truncated at
	// their end look like an echo with zero delay.
	scoutMin = 4 * rate / 1000
	// An echo that jumped has a prominence of scoutElsewhere at a new position. The
	// last scoutShortest to scoutLongest frames are compared. The first scoutTells
	// frames of a sound may be such an echo, unless scoutAtHome shows the echo at its
	// old position beside a person. After scoutDoubts frames the sound is not such an
	// echo, unless its prominence is scoutJumped, which a talker never reaches, or
	// the last comparison, at most scoutMoving frames ago, found the echo moved.
	// (Room bench, seeds 61, 62 and 4.)
	scoutShortest  = 4
	scoutLongest   = 10
	scoutTells     = 7
	scoutDoubts    = 16
	scoutElsewhere = 5.2
	scoutAtHome    = 4.0
	scoutJumped    = 7.5
	scoutMoving    = 30
)

// scout reports on demand whether the current sound of the microphone is an echo of
// the far end. Unlike the canceller and the finder it needs no adaptation: it
// correlates the phases (like the finder) of the last quarter of a second with all of
// the far end that may be audible in it, at any delay. Each answer costs three FFTs.
// Only the capturing goroutine uses it.
type scout struct {
	ring *ring
	read int64 // end of the far end that is in far
	down *converter

	far, near     []float64 // circular; farAt and nearAt are the oldest samples
	farAt, nearAt int
	farPower      float64 // power of the last frame
	frame         audio.Frame
	small         [frameSamples]int16

	fft  *fourier.FFT
	work []float64
	x, y []complex128

	frames     int64   // near-end frames so far
	searched   int64   // the frame of the last search
	asked      int64   // the frame of the last call of foreign
	sum        float64 // evidence that the current sound is foreign
	prior      float64 // evidence from earlier sounds; at least 0
	heard      int     // frames with an active far end
	present    bool    // an echo was found
	run        int     // the same, since a pause of scoutPause
	quiet      int     // frames since the far end was active
	home, away int     // lag of the settled echo, and lag at which an echo was last found
	aways      int     // times in a row that it was found at away
	foundAway  int64   // the frame of the last of these
	base       int64   // home minus the alignment delay, at 48 kHz
	settled    bool    // home and base are known
	lag        int     // of the peak, in samples at rate
	prominence float64 // of the peak
	doubt      doubt   // about the sound of the last call of elsewhere
}

// doubt describes a sound that may be an echo whose delay has jumped.
type doubt struct {
	since, asked int64 // frame of its start, and of the last call about it
	maybe        bool  // it may be such an echo
	certain      bool  // it is such an echo
	lag          int   // where it reached scoutJumped, or 0
}

func newScout(r *ring) (*scout, error) {
	down, err := newConverter(audio.SampleRate, rate)
	if err != nil {
		return nil, err
	}
	return &scout{
		ring: r, down: down,
		far: make([]float64, scoutFar), near: make([]float64, scoutNear),
		fft: fourier.NewFFT(scoutFar), work: make([]float64, scoutFar),
		x: make([]complex128, scoutFar/2+1), y: make([]complex128, scoutFar/2+1),
	}, nil
}

func (s *scout) reset() {
	s.read = s.ring.written.Load()
	s.down.reset()
	clear(s.far)
	clear(s.near)
	s.frames, s.searched, s.asked, s.sum, s.prior = 0, 0, 0, 0, 0
	s.heard, s.run, s.quiet, s.present = 0, 0, 0, false
	s.aways, s.settled = 0, false
	s.doubt = doubt{}
}

// push takes the next near-end frame, and the far end rendered since the last.
func (s *scout) push(near []int16) {
	s.frames++
	written := s.ring.written.Load()
	s.read = max(s.read, written-ringSamples/2)
	for ; s.read+audio.FrameSamples <= written; s.read += audio.FrameSamples {
		for i := range s.frame {
			s.frame[i] = s.ring.at(s.read + int64(i))
		}
		s.down.process(s.small[:], s.frame[:])
		s.farPower = power(s.small[:])
		for _, v := range s.small {
			s.far[s.farAt] = float64(v)
			s.farAt = (s.farAt + 1) % scoutFar
		}
	}
	for _, v := range near {
		s.near[s.nearAt] = float64(v)
		s.nearAt = (s.nearAt + 1) % scoutNear
	}
}

// learn compares the streams periodically while the far end is active, during its first
// seconds.
func (s *scout) learn() {
	if s.farPower <= heard {
		if s.quiet++; s.quiet == scoutPause {
			s.run = 0
		}
		return
	}
	s.quiet = 0
	s.run++
	if s.heard >= firstLines {
		return
	}
	s.heard++
	if s.run < scoutLate || s.run%scoutEvery != 0 {
		return
	}
	switch s.search(); {
	case s.prominence < scoutPeak:
		if s.prior = min(s.prior+1, scoutPrior); s.prior == scoutPrior {
			s.present = false
		}
	case s.prominence < scoutCertain: // possibly a person
		s.prior = max(s.prior-1, 0)
	}
}

// absent reports whether the near end has shown no echo so far.
func (s *scout) absent() bool { return s.prior >= scoutForeign }

// foreign reports whether the last captured sound is not an echo of the far end.
// Calls in close succession are about the same sound.
func (s *scout) foreign() bool {
	if s.asked != s.frames {
		if s.frames-s.asked > scoutGap {
			s.sum = s.prior
		}
		s.asked = s.frames
		s.search()
		s.sum = min(max(s.sum+s.peak()-s.prominence, -scoutMax), scoutMax)
	}
	if s.run < scoutStart && !s.present {
		return s.sum >= scoutStartForeign
	}
	return s.sum >= scoutForeign
}

// behind returns the echo's distance behind the far end that an aligner has read up to
// read, in samples at 48 kHz, and whether it was found with certainty in this frame.
func (s *scout) behind(read int64) (echo float64, certain bool) {
	if s.searched != s.frames || s.prominence < scoutCertain {
		return 0, false
	}
	return float64(int64(s.lag)*audio.SampleRate/rate - (s.read - read) - halfTaps), true
}

// relocate compares the streams periodically, and returns the delay to align with
// once the echo has moved. aligned is the current delay, known reports whether it is
// right, and cut is the recent reduction by the canceller, in dB.
func (s *scout) relocate(aligned int64, known bool, cut float64) (delay int64, moved bool) {
	every := int64(scoutSeldom)
	if cut < scoutCut {
		every = scoutUrgent
	}
	if s.quiet > scoutPause || s.frames%every != 0 {
		return 0, false
	}
	if s.search(); s.prominence < scoutMoved {
		return 0, false
	}
	if !s.at(s.lag, s.away) {
		s.away, s.aways = s.lag, 0
	}
	s.foundAway = s.frames
	if s.aways++; s.aways < scoutAgree {
		return 0, false
	}
	switch {
	case s.settled && s.moved(s.away):
		s.home, s.aways = s.away, 0
		return max(0, int64(s.home)*audio.SampleRate/rate-s.base), true
	case known:
		s.home, s.settled = s.away, true
		s.base = int64(s.home)*audio.SampleRate/rate - aligned
	}
	return 0, false
}

// peak returns the neutral prominence at present.
func (s *scout) peak() float64 {
	switch {
	case s.present:
		return scoutPresent
	case s.run < scoutStart:
		return scoutStartPeak
	}
	return scoutPeak
}

// search finds the most prominent peak of the correlation.
func (s *scout) search() {
	if s.searched == s.frames {
		return
	}
	s.searched = s.frames
	s.lag, s.prominence = s.compare(scoutNear)
	if s.prominence >= scoutCertain {
		s.present, s.prior = true, 0
	}
}

// compare returns the most prominent peak of the correlation between the far end and
// the last samples of the near end.
func (s *scout) compare(samples int) (lag int, prominence float64) {
	n := copy(s.work, s.far[s.farAt:])
	copy(s.work[n:], s.far[:s.farAt])
	s.fft.Coefficients(s.x, s.work)
	const pad = scoutFar - scoutNear
	n = pad + copy(s.work[pad:], s.near[s.nearAt:])
	copy(s.work[n:], s.near[:s.nearAt])
	clear(s.work[:scoutFar-samples])
	s.fft.Coefficients(s.y, s.work)
	for k := range s.y {
		if k < findLow*scoutFar/rate || k >= findHigh*scoutFar/rate {
			s.y[k] = 0
			continue
		}
		c := s.y[k] * cmplx.Conj(s.x[k])
		if size := cmplx.Abs(c); size > 0 {
			c /= complex(size, 0)
		}
		s.y[k] = c
	}
	s.fft.Sequence(s.work, s.y)
	best := scoutMin
	for l := scoutMin; l < pad; l++ {
		if s.work[l] > s.work[best] {
			best = l
		}
	}
	return best, s.stands(best, s.work[best])
}

// stands returns the prominence of a correlation value at a lag.
func (s *scout) stands(lag int, value float64) (prominence float64) {
	sum := 0.0
	for d := scoutWidth; d < scoutAround; d++ {
		before, after := s.work[(lag-d+scoutFar)%scoutFar], s.work[(lag+d)%scoutFar]
		sum += before*before + after*after
	}
	if sum == 0 {
		return 0
	}
	return value / math.Sqrt(sum/(2*(scoutAround-scoutWidth)))
}

// elsewhere reports whether the sound of the last frames may be an echo at a new
// position. Once two of its frames place it at the same other delay, it counts as
// such an echo until it ends, because playback is held and the rest is too short to
// judge.
func (s *scout) elsewhere(frames int) bool {
	if !s.settled || !s.present {
		return false
	}
	if since := s.frames - int64(frames); since > s.doubt.since+scoutGap {
		s.doubt = doubt{since: since}
	}
	d := &s.doubt
	if d.certain || d.asked == s.frames {
		return d.maybe
	}
	d.asked, d.maybe = s.frames, false
	lag, prominence := s.compare(min(max(frames, scoutShortest), scoutLongest) * frameSamples)
	switch {
	case s.at(lag, s.home):
	case prominence >= scoutJumped:
		d.maybe, d.certain, d.lag = true, d.lag > 0 && s.at(lag, d.lag), lag
	case s.moving():
		d.maybe = true
	case frames > scoutDoubts:
	case prominence >= scoutElsewhere:
		d.maybe = true
	case frames < scoutTells:
		d.maybe = s.atHome() < scoutAtHome
	}
	return d.maybe
}

// atHome returns the prominence at the old position, in the last comparison.
func (s *scout) atHome() float64 {
	best := 0.0
	for l := s.home - scoutWidth; l <= s.home+scoutWidth; l++ {
		best = max(best, s.work[(l+scoutFar)%scoutFar])
	}
	return s.stands(s.home, best)
}

// moving reports whether the echo was recently found at a new position, and must be
// found there once more before the streams are realigned.
func (s *scout) moving() bool {
	return s.aways > 0 && s.frames-s.foundAway < scoutMoving && s.moved(s.away)
}

// moved reports whether a lag is too far from home for the settled echo.
func (s *scout) moved(lag int) bool { return lag-s.home > scoutJump || s.home-lag > scoutJump }

// at reports whether two lags are the same.
func (s *scout) at(lag, other int) bool { return lag-other <= scoutSame && other-lag <= scoutSame }
