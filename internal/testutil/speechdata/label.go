package speechdata

import (
	"math"
	"slices"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// Label locates the sound in a clip. Positions are samples at audio.SampleRate.
type Label struct {
	Onset int64 // the first sample of the sound
	End   int64 // the first sample after it
	// Strong is where the loud part starts, usually the first vowel. It is not before
	// Onset.
	Strong int64
	// WeakOnset means that the loud part starts more than 60 ms after the onset:
	// after an initial fricative, a breath or a nasal. In noise its detection is
	// late.
	WeakOnset bool
	// Level is the RMS of the loud parts in dBFS: of the loudest twentieth of the
	// windows.
	Level float64
}

// The analysis windows: 5 ms, with a hop of 1 ms.
const (
	labelHop    = audio.SampleRate / 1000
	labelWindow = 5
)

// How far below Level a sound still counts as part of the recording, and how far its
// loud part extends. The first is limited by the noise of the worst recordings in the
// table, 28 to 35 dB below the voice.
const (
	faint = 25.0
	loud  = 10.0
)

// A voice lasts: of the 60 ms after its onset, windows totalling 36 ms exceed the
// threshold. Clicks of buttons or lips are shorter.
const (
	lasting     = 60
	lastingThat = 36
)

// LabelOf labels a clean recording, at audio.SampleRate, by its energy above 100 Hz
// (which excludes hum and handling noise). The onset is the first loud millisecond of
// the first 5 ms window that is within 25 dB of the recording's level and followed by
// a lasting sound; the end is found the same way from the end. It returns false for
// silence.
func LabelOf(pcm []int16) (Label, bool) {
	energy := hopEnergies(pcm)
	levels := windowLevels(energy)
	if len(levels) == 0 {
		return Label{}, false
	}
	sorted := slices.Sorted(slices.Values(levels))
	l := Label{Level: sorted[len(sorted)*95/100]}
	if l.Level < -70 {
		return Label{}, false
	}
	first := firstLasting(levels, l.Level-faint)
	strong := firstLasting(levels, l.Level-loud)
	reversed := slices.Clone(levels)
	slices.Reverse(reversed)
	last := firstLasting(reversed, l.Level-faint)
	if first < 0 || last < 0 {
		// A sound that is too short to be a voice, such as a keystroke.
		above := func(v float64) bool { return v >= l.Level-faint }
		first, last = slices.IndexFunc(levels, above), slices.IndexFunc(reversed, above)
	}
	last = len(levels) - 1 - last + labelWindow // the hop after it
	// A window is above the threshold as soon as one of its hops is.
	for least := threshold(l.Level - faint); first < last-1 && energy[first] < least; {
		first++
	}
	for least := threshold(l.Level - faint); last > first+1 && energy[last-1] < least; {
		last--
	}
	for least := threshold(l.Level - loud); strong >= 0 && strong < last-1 && energy[strong] < least; {
		strong++
	}
	l.Onset, l.End = int64(first)*labelHop, int64(last)*labelHop
	l.Strong = max(l.Onset, int64(strong)*labelHop)
	l.WeakOnset = l.Strong-l.Onset > audio.SampleRate*60/1000
	return l, true
}

// firstLasting returns the first window at or above the threshold for which most of
// the next windows are too, or -1.
func firstLasting(levels []float64, threshold float64) int {
	for i, v := range levels {
		if v < threshold {
			continue
		}
		n := 0
		for _, v := range levels[i:min(i+lasting, len(levels))] {
			if v >= threshold {
				n++
			}
		}
		if n >= lastingThat {
			return i
		}
	}
	return -1
}

// threshold converts a level in dBFS to the energy of a hop.
func threshold(level float64) float64 {
	return labelHop * math.Pow(10, level/10) * 32768 * 32768
}

// hopEnergies returns the energy above 100 Hz of each millisecond.
func hopEnergies(pcm []int16) []float64 {
	var energy []float64 // of each hop
	var filter highPass
	for at := 0; at+labelHop <= len(pcm); at += labelHop {
		sum := 0.0
		for _, v := range pcm[at : at+labelHop] {
			y := filter.next(float64(v))
			sum += y * y
		}
		energy = append(energy, sum)
	}
	return energy
}

// windowLevels returns the level of each window in dBFS; a window starts at each hop.
func windowLevels(energy []float64) []float64 {
	var levels []float64
	for i := 0; i+labelWindow <= len(energy); i++ {
		sum := 0.0
		for _, e := range energy[i : i+labelWindow] {
			sum += e
		}
		rms := math.Sqrt(sum / (labelHop * labelWindow))
		levels = append(levels, 20*math.Log10(rms/32768+1e-6))
	}
	return levels
}

// highPass attenuates frequencies below 100 Hz: a second-order Butterworth filter.
type highPass struct{ x1, x2, y1, y2 float64 }

// The coefficients at audio.SampleRate, of the usual bilinear transform.
var (
	hpW  = math.Tan(math.Pi * 100 / audio.SampleRate)
	hpN  = 1 / (1 + math.Sqrt2*hpW + hpW*hpW)
	hpA1 = 2 * (hpW*hpW - 1) * hpN
	hpA2 = (1 - math.Sqrt2*hpW + hpW*hpW) * hpN
)

func (h *highPass) next(x float64) float64 {
	y := hpN*(x-2*h.x1+h.x2) - hpA1*h.y1 - hpA2*h.y2
	h.x2, h.x1, h.y2, h.y1 = h.x1, x, h.y1, y
	return y
}
