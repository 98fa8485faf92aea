package vad

import (
	"math"
	"slices"
)

// levelSamples is how many samples one level covers: 5 ms at SampleRate.
const levelSamples = SampleRate / 200

// History in levels: levelsKept (1.6 s) are stored; the noise floor is estimated from
// levelsNoise (1 s), every levelsStep (0.2 s).
const (
	levelsKept  = 320
	levelsNoise = 200
	levelsStep  = 40
)

// noiseRises is how far the noise floor may rise per step, in dB, by mode: 3 dB/s while
// the assistant is silent, which is rare, so that a long hum does not mask a voice
// afterwards.
var noiseRises = [2]float64{0.6, math.Inf(1)}

// A sound exceeds the noise floor by soundOverNoise and stays within soundBelowPeak
// of its peak, in dB. It may contain soundHoles fainter levels in a row.
const (
	soundOverNoise = 6.0
	soundBelowPeak = 25.0
	soundHoles     = 6
)

// A window within overNoise dB of the noise floor is at the noise floor.
const overNoise = 3.0

// How far a sound is traced back, in levels. beginsBack is before the start of the
// window that detected it, because detection lags on a soft onset. endsBack is before
// the end of the window that detected its end, because detection lags more there.
// Tracing back further would include the breath before a sentence.
const (
	beginsBack = 24
	endsBack   = 40
)

// levels tracks the level of the captured audio above 130 Hz and locates where a sound
// started and ended. It does not allocate.
type levels struct {
	base  int64 // capture position of the first level
	count int64 // levels so far
	ring  [levelsKept]float64
	hold  bool // a voice is speaking: the noise floor is frozen

	backgrounds [2]background // by mode
	audible     bool          // the assistant is audible
	stable      int64         // levels since audible changed

	sum     float64 // of the incomplete level
	in      int
	x, y    float64
	scratch [levelsNoise]float64
}

// background is the level at the microphone without speech, in dB.
type background struct {
	noise   float64 // noise floor
	ceiling float64 // upper limit of the background; see suspicion
	loud    spread  // distribution that gives the ceiling
	known   bool    // noise and ceiling were estimated at least once
	sure    bool    // estimated from a whole second; shorter stretches may have been a voice
}

// The modes. An echo canceller attenuates everything while the assistant is audible, so
// each mode has its own background.
const (
	silentMode = iota
	audibleMode
)

func (l *levels) mode() int {
	if l.audible {
		return audibleMode
	}
	return silentMode
}

// background returns the background of the current mode, or that of the other mode if
// it is not known yet. During the assistant's first second it is the louder of the
// two if that of silence is sure, which it is if the user has asked something before.
func (l *levels) background() background {
	b, other := l.backgrounds[l.mode()], l.backgrounds[1-l.mode()]
	if !b.known {
		return other
	}
	if l.audible && !b.sure && other.sure {
		b.noise, b.ceiling, b.sure = max(b.noise, other.noise), max(b.ceiling, other.ceiling), true
	}
	return b
}

// setAudible sets whether the assistant is audible from the next level on.
func (l *levels) setAudible(audible bool) {
	if audible != l.audible {
		l.audible, l.stable = audible, 0
	}
}

// reset restarts at a capture position and keeps the backgrounds.
func (l *levels) reset(base int64) {
	*l = levels{base: base, backgrounds: l.backgrounds, audible: l.audible}
}

// window returns the RMS level of the detector window that ends at a capture
// position, in dB, or -Inf if its levels are not known.
func (l *levels) window(end int64) float64 {
	last := l.number(end)
	first := max(l.oldest(), last-WindowSamples/levelSamples+1)
	if first > last {
		return math.Inf(-1)
	}
	sum := 0.0
	for n := first; n <= last; n++ {
		sum += math.Pow(10, l.at(n)/10)
	}
	return 10 * math.Log10(sum/float64(last-first+1))
}

// atNoise reports whether the window that ends at a capture position is at the noise
// floor. It is false until a whole second of the mode was heard.
func (l *levels) atNoise(end int64) bool {
	b := l.background()
	return b.sure && l.window(end) <= b.noise+overNoise
}

// push processes the next samples.
func (l *levels) push(pcm []int16) {
	for _, v := range pcm {
		// High-pass at 130 Hz, against hum and rumble.
		x := float64(v)
		l.y = x - l.x + 0.95*l.y
		l.x = x
		l.sum += l.y * l.y
		if l.in++; l.in == levelSamples {
			// Adding 1 keeps digital silence finite.
			l.ring[l.count%levelsKept] = 10 * math.Log10(l.sum/levelSamples+1)
			l.count++
			l.stable++
			l.sum, l.in = 0, 0
			known := l.backgrounds[l.mode()].known
			if l.count%levelsStep == 0 && (!known || !l.hold && l.stable >= levelsNoise) {
				l.listen(noiseRises[l.mode()])
			}
		}
	}
}

// listen estimates the noise floor as the lower quartile of the last second, or of
// the time since the mode changed if that is shorter. It raises the noise by at most
// rises dB.
func (l *levels) listen(rises float64) {
	n := min(l.stable, l.count, levelsNoise)
	if n < levelsStep {
		return
	}
	last := l.scratch[:n]
	for i := range last {
		last[i] = l.at(l.count - 1 - int64(i))
	}
	slices.Sort(last)
	b := &l.backgrounds[l.mode()]
	noise := last[n/4]
	if b.known {
		noise = min(noise, b.noise+rises)
	} else {
		b.known, b.ceiling = true, noise
	}
	b.noise, b.sure = noise, b.sure || n == levelsNoise
}

// at returns level n, one of the last levelsKept.
func (l *levels) at(n int64) float64 { return l.ring[n%levelsKept] }

// number returns the last level that ended by a capture position.
func (l *levels) number(pos int64) int64 {
	return min((pos-l.base)/(captureRatio*levelSamples), l.count) - 1
}

// oldest returns the first level still stored.
func (l *levels) oldest() int64 { return max(0, l.count-levelsKept) }

// raised reports whether the sound at a capture position exceeds the noise by RaisedBy.
func (l *levels) raised(pos int64) bool {
	n := l.number(pos)
	b := l.background()
	if !b.known || n < l.oldest()+1 {
		return false
	}
	return max(l.at(n), l.at(n-1)) >= b.noise+RaisedBy
}

// sound returns the level above which audio counts as sound, given the peak between two
// level numbers.
func (l *levels) sound(from, to int64) float64 {
	peak := math.Inf(-1)
	for n := max(from, l.oldest()); n <= to; n++ {
		peak = max(peak, l.at(n))
	}
	b := l.background()
	if !b.known {
		return peak - soundBelowPeak
	}
	return max(peak-soundBelowPeak, b.noise+soundOverNoise)
}

// dynamics returns the spread in dB between loud and faint 40 ms pieces of the last
// 1.6 s. It is high for one talker even without pauses, and low for babble and noise.
// It is 0 until 1.6 s were captured.
func (l *levels) dynamics() float64 {
	const piece = 8
	if l.count < levelsKept {
		return 0
	}
	pieces := l.scratch[:levelsKept/piece]
	for i := range pieces {
		sum := 0.0
		for _, v := range l.ring[i*piece : (i+1)*piece] {
			sum += v
		}
		pieces[i] = sum / piece
	}
	slices.Sort(pieces)
	return pieces[len(pieces)*9/10] - pieces[len(pieces)/10]
}

// begin implements locator. It traces the sound back from the window's end, across
// short holes.
func (l *levels) begin(w window) int64 {
	last := l.number(w.end)
	const wide = WindowSamples / levelSamples
	least, found, hole := l.sound(last-wide, last), int64(-1), 0
	for n := last; n >= max(l.oldest(), last-wide-beginsBack) && hole <= soundHoles; n-- {
		hole++
		if l.at(n) >= least {
			found, hole = n, 0
		}
	}
	if found < 0 {
		return w.start
	}
	return l.base + found*captureRatio*levelSamples
}

// end implements locator. It searches back from the window's end for the last sound.
func (l *levels) end(w window) int64 {
	last := l.number(w.end)
	least := l.sound(last-2*endsBack, last)
	for n := last; n >= max(l.oldest(), last-endsBack); n-- {
		if l.at(n) >= least {
			return l.base + (n+1)*captureRatio*levelSamples
		}
	}
	return w.start
}
