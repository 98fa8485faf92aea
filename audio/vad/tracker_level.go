package vad

import (
	"math"
	"slices"
)

// levelSamples is how much audio, at SampleRate, has one level: 5 ms.
const levelSamples = SampleRate / 200

// What the levels remember, in levels: 1.6 s; and of what the noise is told: 1 s,
// every fifth of a second.
const (
	levelsKept  = 320
	levelsNoise = 200
	levelsStep  = 40
)

// How much the noise rises with each step, by mode, in dB: 3 dB in a second of the
// assistant's silence, which is seldom, so that a long hum makes nobody unheard
// afterwards.
var noiseRises = [2]float64{0.6, math.Inf(1)}

// A sound is louder than the noise by so much, and not fainter than its loudest
// part by more, in dB; so many levels in its midst may be fainter.
const (
	soundOverNoise = 6.0
	soundBelowPeak = 25.0
	soundHoles     = 6
)

// How far a sound is followed back from the window that told it, in levels: before
// its start when it begins, for the detector is late with a voice that begins
// softly; from its end when it ends, for the detector is later with that. Further
// back the breath before a sentence would be its beginning.
const (
	beginsBack = 24
	endsBack   = 40
)

// levels follows how loud the captured audio is, without its lowest tones, and
// finds where a sound began and ended. It allocates nothing.
type levels struct {
	base  int64 // capture position of the first level
	count int64 // levels so far
	ring  [levelsKept]float64
	hold  bool // a voice is speaking: the noise stays as it was

	backgrounds [2]background // by mode
	audible     bool          // the assistant is to be heard
	stable      int64         // levels since that changed

	sum     float64 // of the level that is not complete
	in      int
	x, y    float64
	scratch [levelsNoise]float64
}

// background is what the microphone hears when nobody speaks to it, in dB.
type background struct {
	noise   float64 // how loud it mostly is
	ceiling float64 // how loud it gets; see suspicion
	loud    spread  // what tells the ceiling
	known   bool    // both were told at least once
	sure    bool    // by a whole second: before, it may have been a voice
}

// The modes: an echo canceller lets less of everything through while the assistant
// is audible, so each has a background of its own.
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

// background is what is heard beside a voice now; the other mode's where that of this
// one is not known yet. In the assistant's first second it is as loud as the louder one
// of both, if that of silence is sure: of one who asked something before.
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

// setAudible says whether the assistant is to be heard from the next level on.
func (l *levels) setAudible(audible bool) {
	if audible != l.audible {
		l.audible, l.stable = audible, 0
	}
}

// reset restarts at a capture position. What the background is stays known.
func (l *levels) reset(base int64) {
	*l = levels{base: base, backgrounds: l.backgrounds, audible: l.audible}
}

// window is the effective level of the detector's window that ends at a capture
// position, in dB; without end below 0 where nothing is known of it.
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

// push takes the next samples.
func (l *levels) push(pcm []int16) {
	for _, v := range pcm {
		// A high-pass at 130 Hz: hum and rumble are no sounds.
		x := float64(v)
		l.y = x - l.x + 0.95*l.y
		l.x = x
		l.sum += l.y * l.y
		if l.in++; l.in == levelSamples {
			// One unit of a sample's square keeps silence from being endless.
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

// listen takes the quarter of the last second that is least loud for the noise: of
// what there is of it since the mode changed. The noise rises by at most so many dB.
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

// at is a level by its number, one of the last levelsKept.
func (l *levels) at(n int64) float64 { return l.ring[n%levelsKept] }

// number is the last level that ended by a capture position.
func (l *levels) number(pos int64) int64 {
	return min((pos-l.base)/(captureRatio*levelSamples), l.count) - 1
}

// oldest is the first level that is still remembered.
func (l *levels) oldest() int64 { return max(0, l.count-levelsKept) }

// raised says whether the sound at a capture position is louder than the noise.
func (l *levels) raised(pos int64) bool {
	n := l.number(pos)
	b := l.background()
	if !b.known || n < l.oldest()+1 {
		return false
	}
	return max(l.at(n), l.at(n-1)) >= b.noise+RaisedBy
}

// sound is the level from which on something is a sound, next to the loudest of
// the levels from one number to another.
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

// dynamics is by how many dB what was loud in the last 1.6 s is louder than what was
// faint, in pieces of 40 ms: much for one who talks, even without a pause, and little
// for many who talk at once, and for noise. It is 0 before so much was heard.
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

// begin implements locator: it follows the sound back from the window's end, over
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

// end implements locator: it looks back from the window's end for the sound.
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
