package vad

import "math"

// frameSamples are 10 ms, a frame of WebRTC's voice detection.
const frameSamples = SampleRate / 100

// The parameters of the detector of WebRTC. docs/design/audio.md has the figures of others.
const (
	// likelihood is how easily WebRTC takes a frame for a voice, from 0 to 3.
	likelihood = 1
	// A frame counts if it exceeds the noise floor by overFloor and is within belowPeak of
	// the recent peak, in dB: the ring of a key falls by 20 dB within 60 ms.
	overFloor = 9.0
	belowPeak = 15.0
	peakFalls = 0.4 // dB per frame
	// The floor takes a tenth of the way to a lower level per frame, and rises by 3 dB/s.
	floorFalls = 0.1
	floorRises = 0.03 // dB per frame
	// floorStarts is how many frames the floor takes the loudest level of.
	floorStarts = 5
	// voicedFrom is the autocorrelation at the period of a voice from which a frame is
	// voiced.
	voicedFrom = 0.7
	// The estimate of a voice takes these parts of the way per frame.
	risesVoiced   = 0.25
	risesUnvoiced = 0.06
	falls         = 0.15
)

// The period of a voice is searched at pitchRate, from 70 to 400 Hz, in the last pitchKept
// samples.
const (
	pitchRate   = SampleRate / 4
	pitchFrame  = frameSamples / 4
	pitchWindow = 100
	shortest    = pitchRate / 400
	longest     = pitchRate / 70
	pitchKept   = pitchWindow + longest
)

// soundMeter measures level and pitch of consecutive frames. It does not allocate.
type soundMeter struct {
	floor, peak float64 // in dB
	frames      int     // up to floorStarts
	x, y        float64 // of the high-pass at 130 Hz
	low         [pitchKept]float64
}

// push processes the next frame and reports whether it stands out.
func (m *soundMeter) push(frame *[frameSamples]int16) bool {
	copy(m.low[:], m.low[pitchFrame:])
	low := m.low[pitchKept-pitchFrame:]
	clear(low)
	energy := 1.0
	for i, s := range frame {
		m.y = float64(s) - m.x + 0.95*m.y
		m.x = float64(s)
		energy += m.y * m.y
		low[i/4] += float64(s)
	}
	level := 10 * math.Log10(energy/frameSamples)
	switch {
	case m.frames < floorStarts:
		m.floor = max(m.floor, level)
		m.frames++
	case level < m.floor:
		m.floor += (level - m.floor) * floorFalls
	default:
		m.floor += min(level-m.floor, floorRises)
	}
	m.peak = max(level, m.peak-peakFalls)
	return level-m.floor >= overFloor && m.peak-level <= belowPeak
}

// voiced reports whether the last 45 ms have the pitch of a voice.
func (m *soundMeter) voiced() bool {
	mean := 0.0
	for _, v := range m.low {
		mean += v / pitchKept
	}
	for lag := shortest; lag <= longest; lag++ {
		var xy, xx, yy float64
		for i := pitchKept - pitchWindow; i < pitchKept; i++ {
			x, y := m.low[i]-mean, m.low[i-lag]-mean
			xy, xx, yy = xy+x*y, xx+x*x, yy+y*y
		}
		if xy >= voicedFrom*math.Sqrt(xx*yy+1) {
			return true
		}
	}
	return false
}

// forget discards the audio. The floor stays: the room is the same.
func (m *soundMeter) forget() {
	m.x, m.y, m.peak = 0, 0, 0
	clear(m.low[:])
}

// voiceEstimate is the probability of a voice, smoothed over frames.
type voiceEstimate float32

// push adds a frame. A voiced frame counts more: the sound of a key has no pitch.
func (p *voiceEstimate) push(voice bool, voiced func() bool) {
	switch {
	case !voice:
		*p -= *p * falls
	case voiced():
		*p += (1 - *p) * risesVoiced
	default:
		*p += (1 - *p) * risesUnvoiced
	}
}
