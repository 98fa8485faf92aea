//go:build cgo && !noapm

package dsp

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/bench/room"
)

// BenchmarkLibraries compares the cancellers, each with the defaults in all rooms with an
// echo of -6 dB: the reduction of the echo in the second to fifth second of speech
// (first-dB) and after it (echo-dB), the voice detector's errors as in BenchmarkTrigger, the
// median time for a frame and the memory of a Processor with what it loads. Run it with
// -benchtime 1x.
func BenchmarkLibraries(b *testing.B) {
	for _, l := range libraries {
		for _, c := range []struct {
			name string
			rc   room.Config
		}{
			{"Echo", room.Config{EchoGain: -6}},
			{"Loud", room.Config{EchoGain: 6}},
			{"Distorted", room.Config{EchoGain: -6, SpeakerClip: 0.2}},
			{"Fan", room.Config{EchoGain: -6, Noise: room.Fan(1), NoiseLevel: -46}},
		} {
			b.Run(c.name+"/"+l.name, func(b *testing.B) {
				for range b.N {
					var t triggerTally
					first, later := 0.0, 0.0
					for _, shape := range room.Shapes {
						rc := c.rc
						rc.Echo, rc.Delay = shape.EchoResponse(), atMs(60)
						s := withDelay(b, l, rc)
						s.run(time.Second, nil)
						first += s.run(4*time.Second, nil) / float64(len(room.Shapes))
						later += s.run(6*time.Second, nil) / float64(len(room.Shapes))
						t.alone(b, withDelay(b, l, rc))
						t.together(b, withDelay(b, l, rc))
					}
					t.report(b)
					b.ReportMetric(first, "first-dB")
					b.ReportMetric(later, "echo-dB")
				}
			})
		}
		b.Run("Cost/"+l.name, func(b *testing.B) {
			for range b.N {
				b.ReportMetric(0, "ns/op")
				megabytes, median := costOf(b, l)
				b.ReportMetric(median, "µs/frame")
				if megabytes > 0 {
					b.ReportMetric(megabytes, "MB")
				}
			}
		})
	}
}

func withDelay(b *testing.B, l library, rc room.Config) *scene {
	s := l.scene(b, Default(), rc)
	s.p.SetDelay(rc.Delay, 0)
	return s
}

// costOf returns the memory of a Processor, in MB or 0 where it is unknown, and the median
// time of Process in microseconds, which a busy machine changes less than the mean.
func costOf(b *testing.B, l library) (megabytes, median float64) {
	far := assistantSpeech(b)
	debug.FreeOSMemory()
	before := resident()
	p := l.processor(b, Default())
	var out Output
	took := make([]float64, 0, 3000)
	for n := range cap(took) {
		at := n * audio.FrameSamples % (len(far) - audio.FrameSamples)
		f := (*audio.Frame)(far[at : at+audio.FrameSamples])
		p.Reference(f)
		start := time.Now()
		if err := p.Process(f, &out); err != nil {
			b.Fatal(err)
		}
		took = append(took, float64(time.Since(start))/float64(time.Microsecond))
	}
	debug.FreeOSMemory()
	megabytes = resident() - before
	runtime.KeepAlive(p)
	slices.Sort(took)
	return math.Max(megabytes, 0), took[len(took)/2]
}

// resident returns the resident memory of this process in MB, or 0.
func resident() float64 {
	text, err := os.ReadFile("/proc/self/statm")
	fields := strings.Fields(string(text))
	if err != nil || len(fields) < 2 {
		return 0
	}
	pages, err := strconv.Atoi(fields[1])
	if err != nil {
		return 0
	}
	return float64(pages*os.Getpagesize()) / 1e6
}
