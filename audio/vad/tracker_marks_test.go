package vad

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// edgesOfWindow is a locator that assumes the sound fills its window.
type edgesOfWindow struct{}

func (edgesOfWindow) begin(w window) int64 { return w.start }
func (edgesOfWindow) end(w window) int64   { return w.start }

// hop8 is 8 ms in captured samples, the interval between windows of four detectors.
const hop8 = 8 * audio.SampleRate / 1000

// at returns the start of the nth window of four detectors, after its end.
func at(n int64) int64    { return n * hop8 }
func after(n int64) int64 { return at(n) + 4*hop8 }

// mark pushes one window per letter, every 8 ms: S is speech, s is speech for the
// raised threshold only, m is between silentBelow and the threshold, l is below
// silentBelow but above nonVoice, d is uncertain, and a dot is silence. R is s with a
// raised level, A is S with the assistant audible, H is A with a suspicion, and E is
// S that may be an echo whose delay has jumped.
func mark(cfg TrackerConfig, letters string) []Mark {
	cfg, err := cfg.complete()
	if err != nil {
		panic(err)
	}
	p := map[rune]float32{'S': 0.9, 'A': 0.9, 'H': 0.9, 'E': 0.9, 'd': 0.2, 's': 0.32, 'R': 0.32, 'm': 0.4, 'l': 0.3, '.': 0.01}
	m := newMarker(cfg, edgesOfWindow{})
	var marks []Mark
	for n, c := range letters {
		start := at(int64(n))
		marks = m.push(marks, window{start: start, end: start + 4*hop8, p: p[c], raised: c == 'R', audible: c == 'A' || c == 'H', suspicious: c == 'H', elsewhere: c == 'E'})
	}
	return marks
}

func TestMarks(t *testing.T) {
	const step = 8 * time.Millisecond
	base := TrackerConfig{
		Silent:   Rule{Threshold: 0.5, Raised: 0.3, Windows: 2},
		Audible:  Rule{Threshold: 0.5, Windows: 4},
		Hangover: 3 * step, Silence: 10 * step,
	}
	onset := func(n int64) Mark { return Mark{Kind: Onset, Pos: at(n)} }
	pause := func(n int64) Mark { return Mark{Kind: Paused, Pos: at(n)} }
	resume := func(n int64) Mark { return Mark{Kind: Resumed, Pos: at(n)} }
	end := func(n int64) Mark { return Mark{Kind: Ended, Pos: at(n)} }
	dots := func(n int) string { return strings.Repeat(".", n) }

	for _, tt := range []struct {
		name    string
		letters string
		want    []Mark
	}{
		{"silence", dots(50), nil},
		{"one window is too short", "..S.." + dots(20), nil},
		{"two windows are a voice", "..SS", []Mark{onset(2)}},
		{"a dip above nonVoice does not reset", "..SmS", []Mark{onset(2)}},
		{"a dip below it resets", "..S.SS", []Mark{onset(4)}},
		{"uncertain sound alone is not a voice", strings.Repeat("m", 50), nil},
		{"a raised level counts sooner", "..RR", []Mark{onset(2)}},
		{"without the raised level it does not count", "..ssss", nil},
		{"an audible assistant requires more windows", "..AAA" + dots(20), nil},
		{"enough windows over the assistant", "..AAAA", []Mark{onset(2)}},
		{"the deciding window selects the rule", "..AASS", []Mark{onset(2)}},
		{"a pause", "SS....", []Mark{onset(0), pause(2)}},
		{"one window short of a pause", "SS...S....", []Mark{onset(0), pause(6)}},
		{"uncertain sound is not a pause", "SSmmmmmmmm", []Mark{onset(0)}},
		{"sound below silentBelow is a pause", "SSllll", []Mark{onset(0), pause(2)}},
		{"very uncertain sound is a pause", "AAAAdddd", []Mark{onset(0), pause(4)}},
		{"very uncertain sound right after a suspicion is not a pause", "HHHHdddddddd", []Mark{onset(0)}},
		{"silence right after a suspicion is a pause", "HHHH....", []Mark{onset(0), pause(4)}},
		{"half a second later very uncertain sound is a pause", "HHHH" + strings.Repeat("d", 66), []Mark{onset(0), pause(66)}},
		{"sound at the onset threshold keeps the utterance open", "RRRRRRRRRR", []Mark{onset(0)}},
		{"resumed", "SS....SS", []Mark{onset(0), pause(2), resume(6)}},
		{"a click does not resume", "SS....S.", []Mark{onset(0), pause(2)}},
		{"paused again", "SS....SS....", []Mark{onset(0), pause(2), resume(6), pause(8)}},
		{"an echo whose delay jumped does not resume", "SS....EEEE", []Mark{onset(0), pause(2), end(12)}},
		{"ended", "SS" + dots(7), []Mark{onset(0), pause(2), end(12)}},
		{"one window short of the end", "SS" + dots(6), []Mark{onset(0), pause(2)}},
		{"a click does not delay the end", "SS....S" + dots(2), []Mark{onset(0), pause(2), end(12)}},
		{"uncertain sound does not delay the end", "SS....Smm", []Mark{onset(0), pause(2), end(12)}},
		{"resuming does", "SS....SS" + dots(7), []Mark{onset(0), pause(2), resume(6), pause(8), end(18)}},
		{"two utterances", "SS" + dots(8) + ".....SS", []Mark{onset(0), pause(2), end(12), onset(15)}},
		{"a voice at the end of an utterance starts after it", "SS....." + ".SS", []Mark{onset(0), pause(2), end(12), {Kind: Onset, Pos: at(12)}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := mark(base, tt.letters); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("%s\n got %v\nwant %v", tt.letters, got, tt.want)
			}
		})
	}
}

// The silence that ends an utterance can be set while it lasts. One that has lasted long enough already
// ends it with the next window.
func TestTheSilenceCanBeSet(t *testing.T) {
	cfg, err := TrackerConfig{Silent: Rule{Threshold: 0.5, Windows: 2}, Audible: Rule{Threshold: 0.5}, Hangover: 24 * time.Millisecond, Silence: 80 * time.Millisecond}.complete()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name           string
		silence, faint int64 // windows, set after 6 windows
		background     bool  // the voice does not pause, but is in the background
		want           []Mark
	}{
		{"shorter than it has been", 4, 50, false, []Mark{{Kind: Ended, Pos: at(2 + 4)}}},
		{"longer", 20, 50, false, []Mark{{Kind: Ended, Pos: at(2 + 20)}}},
		{"a faint voice", 50, 20, true, []Mark{{Kind: Paused, Pos: after(1)}, {Kind: Ended, Pos: after(21), Faint: true}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMarker(cfg, edgesOfWindow{})
			var before, marks []Mark
			for n := range int64(40) {
				w := window{start: at(n), end: after(n)}
				if n < 2 || c.background {
					w.p, w.background = 0.9, n >= 2
				}
				if n < 6 {
					before = m.push(before, w)
					continue
				}
				m.silence, m.faint = at(c.silence), at(c.faint)
				marks = m.push(marks, w)
			}
			if !reflect.DeepEqual(marks[:min(len(marks), len(c.want))], c.want) {
				t.Errorf("%v, then %v, want %v", before, marks, c.want)
			}
		})
	}
}

func TestLostAudioIsSilence(t *testing.T) {
	cfg, err := ProfileConfig(ProfileDefault).complete()
	if err != nil {
		t.Fatal(err)
	}
	speak := func() *marker {
		m := newMarker(cfg, edgesOfWindow{})
		if marks := m.push(m.push(nil, window{start: 0, end: after(0), p: 1}), window{start: at(1), end: after(1), p: 1}); len(marks) != 1 {
			t.Fatalf("no onset: %v", marks)
		}
		return &m
	}
	from := after(1)
	for _, tt := range []struct {
		lost time.Duration
		want []MarkKind
	}{
		{10 * time.Millisecond, nil}, {95 * time.Millisecond, nil},
		{96 * time.Millisecond, []MarkKind{Paused}}, {699 * time.Millisecond, []MarkKind{Paused}},
		{700 * time.Millisecond, []MarkKind{Paused, Ended}}, {time.Hour, []MarkKind{Paused, Ended}},
	} {
		m := speak()
		var kinds []MarkKind
		for _, k := range m.lost(nil, from, from+audio.Samples(tt.lost)) {
			kinds = append(kinds, k.Kind)
			if want := map[MarkKind]int64{Paused: from, Ended: from + audio.Samples(cfg.Silence)}[k.Kind]; k.Pos != want {
				t.Errorf("%v lost: %v at %d, want %d", tt.lost, k.Kind, k.Pos, want)
			}
		}
		if !reflect.DeepEqual(kinds, tt.want) {
			t.Errorf("%v lost: %v, want %v", tt.lost, kinds, tt.want)
		}
	}
	// Windows before the gap do not count after it.
	m := newMarker(cfg, edgesOfWindow{})
	m.push(nil, window{start: 0, end: after(0), p: 1})
	m.lost(nil, after(0), after(9))
	if marks := m.push(nil, window{start: at(13), end: after(13), p: 1}); len(marks) != 0 {
		t.Errorf("one window on each side of a gap made %v", marks)
	}
}

// wild is a locator that returns arbitrary positions.
type wild struct{ t *rapid.T }

func (w wild) begin(x window) int64 {
	return x.end + int64(rapid.IntRange(-20000, 20000).Draw(w.t, "begin"))
}
func (w wild) end(x window) int64 {
	return x.end + int64(rapid.IntRange(-20000, 20000).Draw(w.t, "end"))
}

// The invariants of the marks, for arbitrary probabilities, rules, gaps and levels.
func TestMarksAlternateAndNeverGoBack(t *testing.T) {
	next := map[MarkKind][]MarkKind{
		0: {Onset, Suspected}, Onset: {Paused}, Paused: {Resumed, Ended}, Resumed: {Paused}, Ended: {Onset, Suspected},
		Suspected: {Onset, Dismissed}, Dismissed: {Onset, Suspected},
	}
	rapid.Check(t, func(t *rapid.T) {
		rule := func(name string) Rule {
			th := rapid.Float32Range(0.05, 1).Draw(t, name)
			return Rule{
				Threshold: th, Raised: rapid.Float32Range(0, th).Draw(t, name+" raised"),
				Windows: rapid.IntRange(0, 8).Draw(t, name+" windows"),
			}
		}
		hangover := rapid.IntRange(1, 300).Draw(t, "hangover")
		suspicious := Rule{}
		if rapid.Bool().Draw(t, "suspects") {
			suspicious = rule("suspicious")
		}
		cfg, err := TrackerConfig{
			Suspicious: suspicious,
			Detectors:  rapid.SampledFrom([]int{1, 2, 4}).Draw(t, "detectors"),
			Silent:     rule("silent"), Audible: rule("audible"),
			Hangover: time.Duration(hangover) * time.Millisecond,
			Silence:  time.Duration(rapid.IntRange(hangover, 900).Draw(t, "silence")) * time.Millisecond,
		}.complete()
		if err != nil {
			t.Fatal(err)
		}
		m := newMarker(cfg, wild{t})
		length := int64(captureRatio * WindowSamples)
		hop := length / int64(cfg.Detectors)
		start, last := int64(0), Mark{}
		for range rapid.IntRange(0, 150).Draw(t, "windows") {
			var marks []Mark
			if gap := rapid.IntRange(-40, 3).Draw(t, "gap"); gap > 0 {
				to := start + length + int64(gap)*audio.SampleRate/4
				marks = m.lost(nil, start+length, to)
				start = to
				if last.Kind == Suspected { // a probe ends with the audio
					last.Kind = Dismissed
				}
			}
			w := window{
				start: start, end: start + length, p: rapid.Float32Range(0, 1).Draw(t, "p"),
				raised: rapid.Bool().Draw(t, "raised"), audible: rapid.Bool().Draw(t, "audible"),
				suspicious: rapid.Bool().Draw(t, "suspicious"), adapting: rapid.Bool().Draw(t, "first"),
				found: rapid.Bool().Draw(t, "found"), cut: rapid.Float64Range(0, 30).Draw(t, "cut"),
			}
			start += hop
			for _, got := range m.push(marks, w) {
				if !contains(next[last.Kind], got.Kind) {
					t.Fatalf("%v after %v", got, last)
				}
				if got.Pos < last.Pos || got.Pos > w.end {
					t.Fatalf("%v after %v, in the window to %d", got, last, w.end)
				}
				if got.Kind == Ended && got.Pos-last.Pos != audio.Samples(cfg.Silence) {
					t.Fatalf("%v after %v: silence of %d samples", got, last, got.Pos-last.Pos)
				}
				last = got
			}
			if open := last.Kind == Onset || last.Kind == Paused || last.Kind == Resumed; open != m.speaking() {
				t.Fatalf("speaking is %v after %v", m.speaking(), last)
			}
		}
	})
}

func contains(list []MarkKind, k MarkKind) bool {
	for _, v := range list {
		if v == k {
			return true
		}
	}
	return false
}

func TestMarkKindsHaveNames(t *testing.T) {
	for k, want := range map[MarkKind]string{Onset: "onset", Paused: "paused", Resumed: "resumed", Ended: "ended", 9: "mark 9"} {
		if got := k.String(); got != want {
			t.Errorf("%d is called %q", k, got)
		}
	}
}

// The rule of a suspicion depends on how much the canceller removed.
func TestSuspicionRequiresMoreAfterHighReduction(t *testing.T) {
	cfg, err := ProfileConfig(ProfileDefault).complete()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		cut     float64
		p       float32
		windows int // until the onset; 0 means no onset
	}{
		{0, cfg.Suspicious.Threshold, 1}, {personCut - 1, cfg.Suspicious.Threshold, 1},
		{personCut, cfg.Suspicious.Threshold, 0}, {personCut, cfg.Silent.Threshold, 2}, {echoCut - 1, cfg.Silent.Threshold, 2},
		{echoCut, 1, 0},
	} {
		m, got := newMarker(cfg, edgesOfWindow{}), 0
		for n := int64(0); n < 10 && got == 0; n++ {
			if len(m.push(nil, window{start: at(n), end: after(n), p: tt.p, cut: tt.cut, audible: true, suspicious: true})) > 0 {
				got = int(n) + 1
			}
		}
		if got != tt.windows {
			t.Errorf("%.0f dB removed, probability %.1f: onset after %d windows, want %d", tt.cut, tt.p, got, tt.windows)
		}
	}
}
