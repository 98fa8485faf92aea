//go:build cgo

package moonshine

import (
	"flag"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/internal/wer"
)

// folder holds the recordings of the benchmarks: 16 kHz WAV files, each with its words in a
// text file of the same name.
//
//	go test -run '^$' -bench . ./audio/hearing/moonshine -recordings DIR
var folder = flag.String("recordings", "testdata", "a folder of 16 kHz `recordings` for the benchmarks")

// answers are phrases that answer a question, by what they mean.
var answers = map[string][]string{
	"yes": {"Yes.", "Yes!", "Yes, please.", "Yes, go ahead.", "Yeah.", "Yep.", "Sure.", "Sure, do it.", "Do it.", "Okay.", "Ok.",
		"Allow it.", "Go ahead.", "Go on.", "Right.", "Yes, do it."},
	"no":   {"No.", "No!", "No, don't.", "Nope.", "Don't do that.", "Don't.", "Deny.", "Deny it.", "Not yet.", "No, thanks.", "Never."},
	"stop": {"Stop.", "Stop!", "Stop it.", "Stop that.", "Wait.", "Hold on.", "Cancel.", "Cancel that.", "Pause.", "Be quiet."},
	"hum":  {"Mm-hmm.", "Uh-huh.", "Mhm.", "Hmm."},
}

// classified returns the phrases of answers and the class of each.
func classified() (phrases, classes []string) {
	for _, class := range []string{"yes", "no", "stop", "hum"} {
		for _, p := range answers[class] {
			phrases, classes = append(phrases, p), append(classes, class)
		}
	}
	return phrases, classes
}

// BenchmarkTranscribe prints the word error rate and the real-time factor, with encoding.
func BenchmarkTranscribe(b *testing.B) {
	recordings := readRecordings(b, *folder)
	for _, threads := range []int{1, 2} {
		m := loadModel(b, threads)
		names := m.Names(Terms())
		for _, how := range []struct {
			name  string
			names *Names
			width int
		}{{"greedy", nil, 1}, {"beams", nil, beamWidth}, {"names", names, beamWidth}} {
			b.Run(fmt.Sprintf("%s-%d-threads", how.name, threads), func(b *testing.B) {
				var wrong, words, tokens int
				var heard float64
				var encoding time.Duration
				for b.Loop() {
					for _, r := range recordings {
						start := time.Now()
						s := encode(b, m, r.pcm)
						encoding += time.Since(start)
						t, err := m.transcribe(s, how.names, how.width)
						if err != nil {
							b.Fatal(err)
						}
						e, n := wer.Compute(r.words, t.Text)
						wrong, words, tokens, heard = wrong+e, words+n, tokens+t.Tokens, heard+r.seconds()
					}
				}
				each := float64(b.N * len(recordings))
				b.ReportMetric(100*float64(wrong)/float64(words), "%wrong")
				b.ReportMetric(b.Elapsed().Seconds()/heard, "realtime")
				b.ReportMetric(1000*encoding.Seconds()/each, "ms/Encode")
				b.ReportMetric(1000*(b.Elapsed()-encoding).Seconds()/each, "ms/Transcribe")
				b.ReportMetric(float64(tokens)/each, "tokens")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// BenchmarkScore logs, for each recording, the best class of answers, how far it leads, and
// how much more probable the draft is than the best answer.
func BenchmarkScore(b *testing.B) {
	recordings := readRecordings(b, *folder)
	phrases, classes := classified()
	for _, threads := range []int{1, 2} {
		m := loadModel(b, threads)
		b.Run(fmt.Sprintf("%d-threads", threads), func(b *testing.B) {
			var scoring time.Duration
			rounds := 0
			for b.Loop() {
				for _, r := range recordings {
					s := encode(b, m, r.pcm)
					start := time.Now()
					scores, err := m.Score(s, phrases)
					scoring += time.Since(start)
					if err != nil {
						b.Fatal(err)
					}
					if rounds > 0 || threads > 1 {
						continue
					}
					draft, err := m.Draft(s)
					if err != nil {
						b.Fatal(err)
					}
					best, lead := bestClass(scores, classes)
					b.Logf("%-4s leads by %4.1f, draft by %4.1f, mean %5.2f: %s | %s", best, lead,
						draft.LogProb-slices.Max(scores), draft.Mean, r.words, draft.Text)
				}
				rounds++
			}
			b.ReportMetric(1000*scoring.Seconds()/float64(rounds*len(recordings)), "ms/Score")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// bestClass returns the class with the highest probability, and its lead over the next one.
func bestClass(scores []float64, classes []string) (string, float64) {
	sums := map[string]float64{}
	for i, s := range scores {
		sums[classes[i]] += math.Exp(s)
	}
	best := classes[0]
	for class, sum := range sums {
		if sum > sums[best] {
			best = class
		}
	}
	second := 0.0
	for class, sum := range sums {
		if class != best {
			second = max(second, sum)
		}
	}
	return best, math.Log(sums[best] / second)
}
