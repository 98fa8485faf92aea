package vad

import (
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// w returns the position of the start of the nth window.
func w(n int64) int64 { return n * WindowSamples }

// run pushes one window per letter: S is speech, s is between the two thresholds, a dot
// is silence.
func run(cfg EndpointerConfig, windows string) []Edge {
	level := map[rune]float32{'S': 0.9, 's': 0.4, '.': 0.1}
	e := NewEndpointer(cfg)
	var edges []Edge
	for _, c := range windows {
		if edge, ok := e.Push(level[c]); ok {
			edges = append(edges, edge)
		}
	}
	return edges
}

func TestEdges(t *testing.T) {
	const window = WindowTime
	base := EndpointerConfig{Threshold: 0.5, PrefixPadding: 2 * window, Silence: 3 * window, MinSpeech: 2 * window}
	with := func(change func(*EndpointerConfig)) EndpointerConfig {
		cfg := base
		change(&cfg)
		return cfg
	}
	start := func(pos, speech int64) Edge { return Edge{SpeechStart, w(pos), w(speech)} }
	end := func(pos, speech int64) Edge { return Edge{SpeechEnd, w(pos), w(speech)} }

	for _, tt := range []struct {
		name    string
		cfg     EndpointerConfig
		windows string
		want    []Edge
	}{
		{"silence", base, "..........", nil},
		{"one utterance", base, ".....SSSS...", []Edge{start(3, 5), end(12, 9)}},
		{"one window of silence short", base, ".....SSSS..", []Edge{start(3, 5)}},
		{"padding stops at the beginning", base, ".SS", []Edge{start(0, 1)}},
		{"padding stops at the last end", base, "SS...SS", []Edge{start(0, 0), end(5, 2), start(5, 5)}},
		{"a click is too short", base, "...S...S...", nil},
		{"a dip between the thresholds neither counts nor resets", base, "...SsS", []Edge{start(1, 3)}},
		{"a candidate that was reset starts over", base, "...S.SS", []Edge{start(3, 5)}},
		{"uncertain sound alone does not start speech", base, "ssssss", nil},
		{"uncertain sound does not start a silence", base, "SSsssssss", []Edge{start(0, 0)}},
		{"uncertain sound does not end a silence", base, "SS.s.", []Edge{start(0, 0), end(5, 2)}},
		{"speech ends a silence", base, "SS..S...", []Edge{start(0, 0), end(8, 5)}},
		{"no padding", with(func(c *EndpointerConfig) { c.PrefixPadding = 0 }), "...SS", []Edge{start(3, 3)}},
		{"no minimum", with(func(c *EndpointerConfig) { c.MinSpeech = 0 }), "...S...", []Edge{start(1, 3), end(7, 4)}},
		{"no silence needed", with(func(c *EndpointerConfig) { c.Silence = 0 }), "SS.", []Edge{start(0, 0), end(3, 2)}},
		{"minimum rounds up to whole windows", with(func(c *EndpointerConfig) { c.MinSpeech = window + time.Millisecond }), "S.SS", []Edge{start(0, 2)}},
		{"silence rounds up to whole windows", with(func(c *EndpointerConfig) { c.Silence = 2*window + time.Millisecond }), "SS...", []Edge{start(0, 0), end(5, 2)}},
		{"negative durations count as zero", EndpointerConfig{PrefixPadding: -1, Silence: -1, MinSpeech: -1}, ".S.", []Edge{start(1, 1), end(3, 2)}},
		{"zero threshold is the default", with(func(c *EndpointerConfig) { c.Threshold = 0 }), "ssSS...", []Edge{start(0, 2), end(7, 4)}},
		{"a high threshold", with(func(c *EndpointerConfig) { c.Threshold = 0.95 }), "SSSSSS", nil},
		{"a threshold below the hysteresis still ends", with(func(c *EndpointerConfig) { c.Threshold = 0.12 }), "SSsss", []Edge{start(0, 0)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := run(tt.cfg, tt.windows); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("%s\n got %v\nwant %v", tt.windows, got, tt.want)
			}
		})
	}
}

func TestThresholdsAreInclusiveAboveAndExclusiveBelow(t *testing.T) {
	e := NewEndpointer(EndpointerConfig{Threshold: 0.5})
	if _, ok := e.Push(0.499); ok {
		t.Error("began below the threshold")
	}
	if _, ok := e.Push(0.5); !ok {
		t.Error("did not begin at the threshold")
	}
	if _, ok := e.Push(0.351); ok {
		t.Error("ended above threshold-0.15")
	}
	if _, ok := e.Push(0.349); !ok {
		t.Error("did not end below threshold-0.15")
	}
}

func TestAThresholdBelowTheHysteresisEndsInSilence(t *testing.T) {
	e := NewEndpointer(EndpointerConfig{Threshold: 0.1})
	e.Push(0.5)
	if _, ok := e.Push(0.001); !ok {
		t.Error("speech never ends")
	}
}

// The invariants of the package, for any probabilities and parameters.
func TestEdgesAlternateAndNeverGoBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ms := func(name string) time.Duration {
			return time.Duration(rapid.IntRange(-10, 1000).Draw(t, name)) * time.Millisecond
		}
		cfg := EndpointerConfig{
			Threshold:     rapid.Float32Range(0.01, 1).Draw(t, "threshold"),
			PrefixPadding: ms("padding"), Silence: ms("silence"), MinSpeech: ms("minimum"),
		}
		e := NewEndpointer(cfg)
		last := Edge{Kind: SpeechEnd}
		for n, p := range rapid.SliceOfN(rapid.Float32Range(0, 1), 0, 200).Draw(t, "p") {
			edge, ok := e.Push(p)
			if !ok {
				continue
			}
			if edge.Kind == last.Kind {
				t.Fatalf("two edges of kind %d in a row", edge.Kind)
			}
			if edge.Pos < last.Pos || edge.Speech < last.Speech || edge.Pos > w(int64(n)+1) {
				t.Fatalf("window %d: %+v after %+v", n, edge, last)
			}
			if edge.Kind == SpeechEnd && edge.Pos-edge.Speech < samples(cfg.Silence) {
				t.Fatalf("ended after %d samples of silence", edge.Pos-edge.Speech)
			}
			last = edge
		}
	})
}

// An utterance ends although a voice goes on, once all of it was faint for long enough.
func TestAFaintVoiceHoldsNoUtteranceOpen(t *testing.T) {
	const faint = 320 * time.Millisecond // ten windows
	e := NewEndpointer(EndpointerConfig{Silence: 700 * time.Millisecond})
	if _, ok := e.PushFaint(0.9, faint); !ok {
		t.Fatal("a faint voice begins no utterance")
	}
	for range 5 {
		e.Push(0.9)
	}
	for n := 1; ; n++ {
		edge, ok := e.PushFaint(0.9, faint)
		if ok {
			if want := (Edge{SpeechEnd, 16 * WindowSamples, 6 * WindowSamples}); n != 10 || edge != want || e.Speaking() {
				t.Errorf("window %d ends it: %+v, want %+v", n, edge, want)
			}
			return
		}
		if n > 20 {
			t.Fatal("the utterance does not end")
		}
		if e.Voiced() != 6*WindowSamples {
			t.Errorf("the voice ended at %d", e.Voiced())
		}
	}
}
