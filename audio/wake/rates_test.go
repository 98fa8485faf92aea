//go:build cgo

package wake

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// speechDirsEnv names folders with WAV files of human speech without the phrase, in
// which false triggers are counted in addition to the installed recordings.
const speechDirsEnv = "AGENTVOICE_WAKE_SPEECH"

// BenchmarkRates prints the table from which the threshold is chosen: for each
// phrase, how many synthetic utterances are detected, clean and in noise, and how
// often it triggers on human speech without it.
//
//	go test -run '^$' -bench Rates -benchtime 1x ./audio/wake
func BenchmarkRates(b *testing.B) {
	dirs := append([]string{recordings}, filepath.SplitList(os.Getenv(speechDirsEnv))...)
	speech := human(b, dirs...)
	for _, phrase := range []string{DefaultPhrase, "hey copilot", "hey computer"} {
		clips := map[string][]clip{}
		for _, c := range spoken(b, phrase) {
			engine, _, _ := strings.Cut(c.name, " ")
			clips[engine+"-clean"] = append(clips[engine+"-clean"], c)
			clips[engine+"-20dB"] = append(clips[engine+"-20dB"], c.atSNR(20))
			clips[engine+"-10dB"] = append(clips[engine+"-10dB"], c.atSNR(10))
		}
		for _, threshold := range []float64{1e-5, 1e-10, 1e-20, 1e-30} {
			b.Run(fmt.Sprintf("%s/%.0e", strings.ReplaceAll(phrase, " ", "-"), threshold), func(b *testing.B) {
				for b.Loop() {
					for kind, list := range clips {
						e := newTestEngine(b, phrase, threshold)
						hits := 0
						for _, c := range list {
							if n, _ := times(b, e, c); n > 0 {
								hits++
							}
						}
						b.ReportMetric(100*float64(hits)/float64(len(list)), kind+"-%")
					}
					e := newTestEngine(b, phrase, threshold)
					wrong, samples, began := 0, 0, time.Now()
					for _, c := range speech {
						n, _ := times(b, e, c)
						wrong += n
						samples += len(c.pcm)
					}
					hours := float64(samples) / SampleRate / 3600
					b.ReportMetric(float64(wrong), "false")
					b.ReportMetric(hours, "hours")
					b.ReportMetric(float64(wrong)/hours, "false/hour")
					b.ReportMetric(time.Since(began).Hours()/hours, "of-real-time")
				}
			})
		}
	}
}

// saidIn lists phrases that people say in the recordings, with the recordings.
var saidIn = map[string][]string{
	"john dashwood": {"0870"}, "leisure to consider": {"0870"}, "prudently in his power": {"0870"},
	"ill disposed": {"0880", "0890"}, "cold hearted": {"0890"}, "rather selfish": {"0890"},
	"married a more": {"0920"}, "amiable woman": {"0920"}, "still more respectable": {"0920"}, "been made amiable": {"0930"},
	"queen of clubs": {"002"}, "seven of clubs": {"003"}, "seven of hearts": {"005"}, "eight of spades": {"005"},
	"four of clubs": {"002", "005"},
}

// rates returns in how many recordings of human speech a phrase is detected, where it
// is said and where it is not.
func rates(tb testing.TB, clips []clip, phrase string, threshold float64) (heard, wrong int) {
	tb.Helper()
	e := newTestEngine(tb, phrase, threshold)
	for _, c := range clips {
		said := slices.ContainsFunc(saidIn[phrase], func(id string) bool { return strings.HasSuffix(c.name, id+".wav") })
		switch n, _ := times(tb, e, c); {
		case n > 0 && said:
			heard++
		case n > 0:
			tb.Logf("%q at %.0e is heard in %s", phrase, threshold, c.name)
			wrong++
		}
	}
	return heard, wrong
}

// BenchmarkHuman prints the table of DefaultThreshold: human speech, other phrases.
func BenchmarkHuman(b *testing.B) {
	clips := human(b, recordings)
	for _, threshold := range []float64{1e-5, 1e-10, 1e-20, 1e-30, 1e-40} {
		b.Run(fmt.Sprintf("%.0e", threshold), func(b *testing.B) {
			for b.Loop() {
				said, heard, wrong := 0, 0, 0
				for phrase, where := range saidIn {
					h, w := rates(b, clips, phrase, threshold)
					said, heard, wrong = said+len(where), heard+h, wrong+w
				}
				b.ReportMetric(float64(said), "said")
				b.ReportMetric(float64(heard), "heard")
				b.ReportMetric(float64(wrong), "wrongly")
			}
		})
	}
}

// BenchmarkSecond measures the cost of one second of speech and of silence, at both thresholds.
func BenchmarkSecond(b *testing.B) {
	var speech []int16
	for _, c := range human(b, recordings) {
		speech = append(speech, c.pcm...)
	}
	for name, pcm := range map[string][]int16{"speech": speech, "quiet": padded(make([]int16, 60*SampleRate))} {
		for _, threshold := range []float64{DefaultThreshold, CandidateThreshold} {
			b.Run(fmt.Sprintf("%s-%.0e", name, threshold), func(b *testing.B) {
				e := newTestEngine(b, DefaultPhrase, threshold)
				for b.Loop() {
					times(b, e, clip{name, pcm})
				}
				b.ReportMetric(100*b.Elapsed().Seconds()/float64(b.N)/(float64(len(pcm))/SampleRate), "%-of-a-core")
			})
		}
	}
}

func BenchmarkLoad(b *testing.B) {
	dir := modelDir(b)
	for b.Loop() {
		e, err := newEngine(Config{ModelDir: dir, Phrase: DefaultPhrase, Threshold: DefaultThreshold, Candidates: DefaultThreshold})
		if err != nil {
			b.Fatal(err)
		}
		e.close()
	}
}
