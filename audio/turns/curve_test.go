package turns

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// pause is a pause of a recorded voice, either inside a sentence or at its end.
type pause struct {
	end    bool
	length time.Duration
	words  []heard
}

// heard is the text recognised at a time after the pause began.
type heard struct {
	after time.Duration
	words string
}

// pauses reads the output of bench/turnbench.
func pauses(tb testing.TB, set string) (out []pause) {
	tb.Helper()
	text, err := os.ReadFile("testdata/" + set + ".tsv")
	if err != nil {
		tb.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) != 5 {
			tb.Fatalf("%q has %d fields, want 5", line, len(f))
		}
		p := pause{end: f[2] == "end", length: milliseconds(tb, f[3])}
		for change := range strings.SplitSeq(f[4], ";") {
			if after, words, ok := strings.Cut(change, "="); ok {
				p.words = append(p.words, heard{milliseconds(tb, after), words})
			}
		}
		out = append(out, p)
	}
	return out
}

func milliseconds(tb testing.TB, s string) time.Duration {
	tb.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		tb.Fatal(err)
	}
	return time.Duration(n) * time.Millisecond
}

// ended returns how long after the start of a pause a judge ends the turn; ok is false
// if the voice continues before that.
func (p pause) ended(j Delays) (after time.Duration, ok bool) {
	const window = 32 * time.Millisecond
	for after = window; after <= p.length; after += window {
		words := ""
		for _, h := range p.words {
			if h.after <= after {
				words = h.words
			}
		}
		if after >= j.Judge(Evidence{Words: words}).Delay {
			return after, true
		}
	}
	return 0, false
}

// figures are the share of pauses inside sentences that end the turn, and the delays
// with which the ends of sentences are detected.
type figures struct {
	cut, pauses int
	delays      []time.Duration
}

func measure(list []pause, j Delays) (f figures) {
	for _, p := range list {
		after, ok := p.ended(j)
		switch {
		case !p.end:
			f.pauses++
			if ok {
				f.cut++
			}
		case ok:
			f.delays = append(f.delays, after)
		default:
			f.delays = append(f.delays, p.length) // a lower bound
		}
	}
	slices.Sort(f.delays)
	return f
}

func (f figures) share() float64 { return 100 * float64(f.cut) / float64(f.pauses) }

func (f figures) mean() (d time.Duration) {
	for _, x := range f.delays {
		d += x / time.Duration(len(f.delays))
	}
	return d
}

func (f figures) String() string {
	return fmt.Sprintf("%d of %d pauses cut off (%.0f %%), delay mean %d ms, median %d ms", f.cut, f.pauses, f.share(),
		f.mean().Milliseconds(), f.delays[len(f.delays)/2].Milliseconds())
}

// scaled returns the delays of the medium profile, slower or faster.
func scaled(by float64) Delays {
	ms := func(n float64) time.Duration { return time.Duration(n * by * float64(time.Millisecond)) }
	return Delays{Complete: ms(250), Unclear: ms(700), Open: ms(1500)}
}

// TestWordsCutOffLess checks that at the same mean delay, words cut off fewer pauses
// than silence alone. No parameter was tuned on these voices and sentences.
func TestWordsCutOffLess(t *testing.T) {
	list := pauses(t, "test")
	words := measure(list, scaled(1))
	silence := measure(list, Silence(words.mean()))
	t.Logf("words: %v; silence of %d ms: %v", words, words.mean().Milliseconds(), silence)
	if words.pauses < 40 || len(words.delays) < 40 {
		t.Fatalf("%d pauses in %d sentences are too few", words.pauses, len(words.delays))
	}
	if words.cut >= silence.cut {
		t.Errorf("words cut off %d pauses, silence %d", words.cut, silence.cut)
	}
}

// BenchmarkCurve reports false cut-offs and the end-of-turn delay, for silence alone
// and with words, each from hasty to patient.
func BenchmarkCurve(b *testing.B) {
	for _, set := range []string{"tune", "test"} {
		list := pauses(b, set)
		run := func(name string, j Delays) {
			b.Run(set+"/"+name, func(b *testing.B) {
				var f figures
				for b.Loop() {
					f = measure(list, j)
				}
				b.ReportMetric(f.share(), "%cut-off")
				b.ReportMetric(float64(f.mean().Milliseconds()), "ms-mean")
				b.ReportMetric(float64(f.delays[len(f.delays)/2].Milliseconds()), "ms-median")
				b.ReportMetric(0, "ns/op")
			})
		}
		for _, ms := range []int{300, 500, 600, 700, 800, 1000, 1200, 1500, 2000} {
			run(fmt.Sprintf("silence=%dms", ms), Silence(time.Duration(ms)*time.Millisecond))
		}
		for _, by := range []float64{0.4, 0.6, 0.8, 1, 1.2, 1.4, 1.6, 2} {
			run(fmt.Sprintf("words=%.1f", by), scaled(by))
		}
	}
}
