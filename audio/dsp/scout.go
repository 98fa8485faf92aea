package dsp

import (
	"math"
	"math/cmplx"

	"gonum.org/v1/gonum/dsp/fourier"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// The scout's streams, at rate.
const (
	// scoutNear is the part of the near end that is compared: the last 256 ms.
	scoutNear = 4096
	// scoutFar is the part of the far end in which it is searched: the last second,
	// so that an echo is found at any delay from 0 to 768 ms.
	scoutFar = 16384
	// The peak's prominence is relative to the correlation scoutAround around it, but
	// for scoutWidth: where both streams hold little, the rest of the correlation is
	// nearly empty and tells nothing.
	scoutAround = 1024
	scoutWidth  = 24
	// scoutPeak is the prominence that proves nothing: unrelated speech is below it in
	// 99 windows of 100, and an echo above it in 97. What the windows of a sound are
	// below it is summed up; the sound is foreign from scoutForeign on. The prior is
	// scoutPrior at most, the sum scoutMost.
	scoutPeak    = 7.5
	scoutForeign = 1.5
	scoutPrior   = 3
	scoutMost    = 5
	// The first tenth of a second of an echo is less prominent. So in the first
	// scoutStart frames, in which one may begin, more evidence is asked for.
	scoutStart        = 30
	scoutStartPeak    = 6.25
	scoutStartForeign = 4.5
	// An echo is certain from scoutCertain on; scoutPresent replaces scoutPeak then,
	// since the last of its reverberation is less prominent too.
	scoutCertain = 15
	scoutPresent = 5
	// scoutGap is how many frames may pass between two questions about one sound.
	scoutGap = 4
	// A far end that was heard for scoutLate frames would be in the near end by now.
	// It begins again after a pause of scoutPause frames. From there on the two are compared every scoutEvery frames: where no echo is
	// found repeatedly, a sound is foreign with less evidence.
	scoutLate  = 40
	scoutPause = 30
	scoutEvery = 10
	// An echo that is found scoutAgree times in a row more than scoutJump from where it
	// was, and each time within scoutSame of itself, is elsewhere for good.
	// They are compared every scoutUrgent frames while the canceller takes less than
	// scoutCut dB, else every scoutSeldom.
	scoutMoved  = 9.0
	scoutAgree  = 2
	scoutUrgent = 3
	scoutSeldom = 20
	scoutCut    = 8.0
	scoutJump   = 40 * rate / 1000
	scoutSame   = 5 * rate / 1000
	// No device is as fast as scoutLeast. That both streams are cut off at their end looks
	// like an echo without a delay.
	scoutLeast = 4 * rate / 1000
	// An echo that jumped stands out by scoutElsewhere where it was not before. It is asked
	// about by frames: the last scoutShortest to scoutLongest are compared. The first
	// scoutTells of a sound may be such an echo unless scoutAtHome proves the echo where it
	// was, beside a person. After scoutDoubts it is none, unless it stands out by
	// scoutJumped, as nobody does who speaks, or was found elsewhere by the last
	// comparison, scoutMoving frames ago at most. (Room bench, seeds 61, 62 and 4.)
	scoutShortest  = 4
	scoutLongest   = 10
	scoutTells     = 7
	scoutDoubts    = 16
	scoutElsewhere = 5.2
	scoutAtHome    = 4.0
	scoutJumped    = 7.5
	scoutMoving    = 30
)

// scout answers on demand whether the sound that the microphone hears now is an echo
// of the far end. Unlike the canceller and the finder it needs no time to learn: it
// correlates the phases (as the finder does) of the last quarter of a second with all
// of the far end that may be heard in it, wherever the echo is. It costs three
// transforms for each answer. Only the capturing goroutine uses it.
type scout struct {
	ring *ring
	read int64 // the far end up to here is in far
	down *converter

	far, near     []float64 // circular; farAt and nearAt are the oldest samples
	farAt, nearAt int
	farPower      float64 // of the last frame
	frame         audio.Frame
	small         [frameSamples]int16

	fft  *fourier.FFT
	work []float64
	x, y []complex128

	frames     int64   // of the near end
	searched   int64   // the frame of the last search
	asked      int64   // the frame of the last question
	sum        float64 // evidence that the sound that is asked about is foreign
	prior      float64 // the same, of what was heard before; at least 0
	heard      int     // frames in which the far end was heard
	present    bool    // an echo was found
	run        int     // the same since it was silent for scoutPause
	quiet      int     // frames since it was heard
	home, away int     // lags at which the echo was, and at which it was found last
	aways      int     // times in a row that it was found there
	foundAway  int64   // the frame of the last time
	base       int64   // home less the delay that the streams are aligned with, at 48 kHz
	settled    bool    // home and base are known
	lag        int     // of the peak, in samples at rate
	prominence float64 // of the peak
	doubt      doubt   // of the sound that elsewhere was asked about last
}

// doubt is what is known of a sound that may be an echo whose delay jumped.
type doubt struct {
	since, asked int64 // the frames in which it began, and of the last question about it
	maybe        bool  // it may be one
	certain      bool  // it is
	lag          int   // where it was found for scoutJumped, or 0
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

// push takes the next frame of the near end, and the far end that was rendered
// meanwhile.
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

// learn compares the streams now and then while the far end is heard, during its first
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
	case s.prominence < scoutCertain: // maybe a person
		s.prior = max(s.prior-1, 0)
	}
}

// absent reports whether no echo is in the near end, as far as was seen.
func (s *scout) absent() bool { return s.prior >= scoutForeign }

// foreign reports whether what was captured last is not an echo of the far end. Questions
// that follow one another are about one sound.
func (s *scout) foreign() bool {
	if s.asked != s.frames {
		if s.frames-s.asked > scoutGap {
			s.sum = s.prior
		}
		s.asked = s.frames
		s.search()
		s.sum = min(max(s.sum+s.peak()-s.prominence, -scoutMost), scoutMost)
	}
	if s.run < scoutStart && !s.present {
		return s.sum >= scoutStartForeign
	}
	return s.sum >= scoutForeign
}

// behind is how far the echo is behind the far end that an aligner read up to here, in
// samples at 48 kHz, and whether that was found in this frame for certain.
func (s *scout) behind(read int64) (echo float64, certain bool) {
	if s.searched != s.frames || s.prominence < scoutCertain {
		return 0, false
	}
	return float64(int64(s.lag)*audio.SampleRate/rate - (s.read - read) - halfTaps), true
}

// relocate compares the streams now and then, and returns the delay to align with once
// the echo moved. aligned is the delay of now, known says that it is right, and cut is
// what the canceller took lately, in dB.
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

// peak is the prominence that proves nothing now.
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

// compare finds the most prominent peak of the correlation of the far end with so many
// samples of the near end, the last ones.
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
	best := scoutLeast
	for l := scoutLeast; l < pad; l++ {
		if s.work[l] > s.work[best] {
			best = l
		}
	}
	return best, s.stands(best, s.work[best])
}

// stands is by how much a value of the correlation stands out around a lag.
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

// elsewhere reports whether the sound of the last frames, so many, may be an echo that is
// not where it was. Once two of its frames place it at the same other delay it is one to its
// end, in which there is too little of it to tell, since the assistant is held.
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

// atHome is by how much the echo stands out where it was, in what was compared last.
func (s *scout) atHome() float64 {
	best := 0.0
	for l := s.home - scoutWidth; l <= s.home+scoutWidth; l++ {
		best = max(best, s.work[(l+scoutFar)%scoutFar])
	}
	return s.stands(s.home, best)
}

// moving says whether the echo was found elsewhere of late, and is to be found there once
// more before the streams are realigned.
func (s *scout) moving() bool {
	return s.aways > 0 && s.frames-s.foundAway < scoutMoving && s.moved(s.away)
}

// moved says whether a lag is not that of an echo which is where it was.
func (s *scout) moved(lag int) bool { return lag-s.home > scoutJump || s.home-lag > scoutJump }

// at says whether two lags are the same.
func (s *scout) at(lag, other int) bool { return lag-other <= scoutSame && other-lag <= scoutSame }
