package vad

import (
	"math"
	"testing"
)

// heard returns the levels after a sequence of 1 kHz tones, each given by amplitude and
// length in milliseconds, captured from a base position.
func heard(base int64, tones ...[2]int) *levels {
	l := &levels{}
	l.reset(base)
	n := 0
	for _, tone := range tones {
		pcm := make([]int16, tone[1]*SampleRate/1000)
		for i := range pcm {
			pcm[i] = int16(math.Round(float64(tone[0]) * math.Sin(2*math.Pi*float64(n)/16)))
			n++
		}
		l.push(pcm)
	}
	return l
}

// captured returns a position in milliseconds after a base, in captured samples.
func captured(base, ms int64) int64 { return base + ms*captureRatio*SampleRate/1000 }

func TestLevelsRaised(t *testing.T) {
	const base = 12_345
	for _, tt := range []struct {
		name  string
		tones [][2]int
		want  bool
	}{
		{"noise floor not known yet", [][2]int{{10, 100}, {10000, 50}}, false},
		{"12 dB above the noise", [][2]int{{1000, 1000}, {4000, 50}}, true},
		{"8 dB above the noise", [][2]int{{1000, 1000}, {2500, 50}}, false},
		{"as loud as the noise", [][2]int{{1000, 1050}}, false},
		{"louder, then faint again", [][2]int{{1000, 1000}, {4000, 30}, {1000, 20}}, false},
		{"not a part of a second longer", [][2]int{{1000, 1000}, {4000, 1500}}, false},
	} {
		total := int64(0)
		for _, tone := range tt.tones {
			total += int64(tone[1])
		}
		l := heard(base, tt.tones...)
		if got := l.raised(captured(base, total)); got != tt.want {
			t.Errorf("%s: raised is %v", tt.name, got)
		}
	}
	l := heard(0, [2]int{1000, 1000})
	l.hold = true
	loud := make([]int16, 2*SampleRate)
	for i := range loud {
		loud[i] = int16(4000 * math.Sin(2*math.Pi*float64(i)/16))
	}
	l.push(loud)
	if !l.raised(captured(0, 3000)) {
		t.Error("a continuing voice became noise")
	}
	l.reset(0)
	l.push(loud[:SampleRate/10])
	if !l.raised(captured(0, 100)) {
		t.Error("a gap reset the noise floor")
	}
}

func TestLevelsFindWhereASoundBegins(t *testing.T) {
	const base = 48_000_000
	for _, tt := range []struct {
		name  string
		tones [][2]int
		want  int64 // ms after the base
	}{
		{"in this window", [][2]int{{20, 1000}, {5000, 20}}, 1000},
		{"before it", [][2]int{{20, 1000}, {5000, 100}}, 1000},
		{"softly before it", [][2]int{{20, 1000}, {500, 60}, {5000, 30}}, 1000},
		{"a short hole belongs to it", [][2]int{{20, 900}, {5000, 60}, {20, 25}, {5000, 30}}, 900},
		{"a long hole does not", [][2]int{{20, 900}, {5000, 60}, {20, 60}, {5000, 30}}, 1020},
		{"not further than 120 ms before the window", [][2]int{{20, 500}, {5000, 500}}, 1000 - 30 - 120 - 5},
		{"sound close to the noise does not belong to it", [][2]int{{1000, 900}, {1500, 60}, {8000, 30}}, 960},
	} {
		total := int64(0)
		for _, tone := range tt.tones {
			total += int64(tone[1])
		}
		end := captured(base, total)
		got := heard(base, tt.tones...).begin(window{start: end - captureRatio*WindowSamples, end: end})
		if off := got - captured(base, tt.want); off < -within || off > within {
			t.Errorf("%s: begins %d ms after the base, want %d", tt.name, (got-base)*1000/(captureRatio*SampleRate), tt.want)
		}
	}
	silent := heard(base, [2]int{0, 1000})
	w := window{start: captured(base, 900), end: captured(base, 932)}
	if got := silent.begin(w); got != w.start {
		t.Errorf("in silence a sound begins at %d", got)
	}
}

func TestLevelsFindWhereASoundEnds(t *testing.T) {
	for _, tt := range []struct {
		name  string
		tones [][2]int
		want  int64
	}{
		{"in this window", [][2]int{{20, 500}, {5000, 300}, {20, 20}}, 800},
		{"before it", [][2]int{{20, 500}, {5000, 300}, {20, 150}}, 800},
		{"too long ago", [][2]int{{20, 500}, {5000, 300}, {20, 400}}, 1200 - 32},
	} {
		total := int64(0)
		for _, tone := range tt.tones {
			total += int64(tone[1])
		}
		end := captured(0, total)
		got := heard(0, tt.tones...).end(window{start: end - captureRatio*WindowSamples, end: end})
		if off := got - captured(0, tt.want); off < -within || off > within {
			t.Errorf("%s: ends at %d ms, want %d", tt.name, got*1000/(captureRatio*SampleRate), tt.want)
		}
	}
}
