package spoken_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/tools/txtar"

	"github.com/agentvoice/agentvoice-daemon/copilot/spoken"
)

// tokenRate is the speed of a coding assistant's model: tokens of four characters per
// second.
const tokenRate = 60

// BenchmarkFirstWords measures how long after the first delta the first words can be
// spoken, over the answers of testdata at the speed of a model, and the share of
// computing time.
func BenchmarkFirstWords(b *testing.B) {
	files, err := filepath.Glob("testdata/answers/*.txtar")
	if err != nil || len(files) == 0 {
		b.Fatal("no answers", err)
	}
	var answers []string
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			b.Fatal(err)
		}
		answers = append(answers, string(txtar.Parse(data).Files[0].Data))
	}
	var waits, computing []float64 // milliseconds
	for b.Loop() {
		waits, computing = waits[:0], computing[:0]
		for _, answer := range answers {
			c := spoken.New(spoken.Options{})
			begun := time.Now()
			tokens := 0
			for rest := answer; rest != ""; tokens++ {
				n := 0
				for range min(4, utf8.RuneCountInString(rest)) {
					_, size := utf8.DecodeRuneInString(rest[n:])
					n += size
				}
				if len(c.Push(rest[:n])) > 0 {
					break
				}
				rest = rest[n:]
			}
			computing = append(computing, time.Since(begun).Seconds()*1000)
			waits = append(waits, float64(tokens)*1000/tokenRate)
		}
	}
	slices.Sort(waits)
	slices.Sort(computing)
	at := func(list []float64, share float64) float64 { return list[int(share*float64(len(list)-1))] }
	b.ReportMetric(at(waits, 0.5), "ms-p50")
	b.ReportMetric(at(waits, 0.95), "ms-p95")
	b.ReportMetric(at(waits, 1), "ms-max")
	b.ReportMetric(at(computing, 0.95)*1000, "us-computing-p95")
}
