//go:build cgo

package moonshine

import (
	"flag"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/copilot/spoken"
	"github.com/agentvoice/agentvoice-daemon/internal/wer"
)

// folder holds the recordings of the benchmarks: 16 kHz WAV files, each with its words in a
// text file of the same name.
//
//	go test -run '^$' -bench . ./audio/hearing/moonshine -recordings DIR
var folder = flag.String("recordings", "testdata", "a folder of 16 kHz `recordings` for the benchmarks")

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

// BenchmarkCompare prints, for each recording, the answer that it fits, with the silence that a
// worker adds, and reports how long comparing takes.
func BenchmarkCompare(b *testing.B) {
	recordings := readRecordings(b, *folder)
	for _, threads := range []int{1, 2} {
		m := loadModel(b, threads)
		b.Run(fmt.Sprintf("%d-threads", threads), func(b *testing.B) {
			var comparing time.Duration
			rounds := 0
			for b.Loop() {
				for _, r := range recordings {
					s := encode(b, m, slices.Concat(r.pcm, silence))
					start := time.Now()
					a, err := m.Compare(s, spoken.Answers)
					comparing += time.Since(start)
					if err != nil {
						b.Fatal(err)
					}
					if rounds == 0 && threads == 1 {
						fmt.Printf("%-14s leads by %4.1f, behind by %4.1f: %s: %s\n", a.Phrase, a.Lead, a.Behind, r.name, r.words)
					}
				}
				rounds++
			}
			b.ReportMetric(1000*comparing.Seconds()/float64(rounds*len(recordings)), "ms/Compare")
			b.ReportMetric(0, "ns/op")
		})
	}
}
