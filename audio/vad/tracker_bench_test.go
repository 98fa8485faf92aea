//go:build cgo

package vad

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/internal/assets"
	"github.com/agentvoice/agentvoice-daemon/internal/testutil/speechdata"
)

// scene is a human recording in a quiet or noisy room, as it would be captured.
type scene struct {
	pcm                []int16
	onset, strong, end int64
}

// lead and tail of a scene around its recording.
const (
	sceneLead = 3 * audio.SampleRate / 2
	sceneTail = 6 * audio.SampleRate / 5
)

// sceneLevel is the level of the voice in dBFS; the noise of a quiet room lies 45 dB
// below.
const sceneLevel = -20.0

func newWebRTCTracker(tb testing.TB, cfg TrackerConfig) *Tracker {
	tb.Helper()
	tr, err := NewTracker(NewWebRTC, cfg)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := tr.Close(); err != nil {
			tb.Error(err)
		}
	})
	return tr
}

// newScene mixes a clip with noise. The seed selects the noise and the offset of the
// voice within a window. snr is in dB, for the voice as a whole; quiet means a room
// of -65 dBFS.
func newScene(c *speechdata.Clip, seed uint64, noise string, snr float64, babble []int16) scene {
	random := rand.New(rand.NewPCG(seed, 7))
	lead := int64(sceneLead + random.IntN(captureRatio*WindowSamples))
	s := scene{
		pcm:   make([]int16, lead+int64(len(c.PCM))+sceneTail),
		onset: lead + c.Onset, strong: lead + c.Strong, end: lead + c.End,
	}
	n := noiseOf(random, noise, len(s.pcm), babble)
	gain := math.Pow(10, (sceneLevel-c.Level)/20)
	want := 32768 * math.Pow(10, -65.0/20)
	if noise != "quiet" {
		want = effective(c.PCM[c.Onset:c.End]) * gain * math.Pow(10, -snr/20)
	}
	scale := want / effective(n)
	for i := range s.pcm {
		v := n[i] * scale
		if j := int64(i) - lead; j >= 0 && j < int64(len(c.PCM)) {
			v += float64(c.PCM[j]) * gain
		}
		s.pcm[i] = int16(math.Round(min(max(v, math.MinInt16), math.MaxInt16)))
	}
	return s
}

// noiseOf returns noise at any level: babble, or fan noise that falls by 3 dB per
// octave.
func noiseOf(random *rand.Rand, kind string, n int, babble []int16) []float64 {
	out := make([]float64, n)
	if kind == "babble" {
		from := random.IntN(len(babble))
		for i := range out {
			out[i] = float64(babble[(from+i)%len(babble)])
		}
		return out
	}
	var b0, b1, b2 float64 // Paul Kellet's filter
	for i := range out {
		w := random.NormFloat64()
		b0 = 0.99765*b0 + w*0.0990460
		b1 = 0.96300*b1 + w*0.2965164
		b2 = 0.57000*b2 + w*1.0526913
		out[i] = b0 + b1 + b2 + w*0.1848
	}
	return out
}

func effective[T int16 | float64](x []T) float64 {
	sum := 1e-9
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	return math.Sqrt(sum / float64(len(x)))
}

// babbleOf returns the sum of eight passages, as long as the longest.
func babbleOf(passages []*speechdata.Clip) []int16 {
	sums := make([]float64, 30*audio.SampleRate)
	for k := range 8 {
		p := passages[k*len(passages)/8].PCM
		for i := range sums {
			sums[i] += float64(p[(i+k*50_000)%len(p)]) / 8
		}
	}
	out := make([]int16, len(sums))
	for i, v := range sums {
		out[i] = int16(v)
	}
	return out
}

func newSileroTracker(tb testing.TB, cfg TrackerConfig) *Tracker {
	tb.Helper()
	model, err := assets.Silero()
	if err != nil {
		tb.Fatal(err)
	}
	lib, err := assets.ONNXRuntime()
	if err != nil {
		tb.Fatal(err)
	}
	tr, err := NewTracker(func() (Detector, error) { return NewSilero(model, lib) }, cfg)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := tr.Close(); err != nil {
			tb.Error(err)
		}
	})
	return tr
}

// follow pushes audio from position 0 and returns the utterance marks. The assistant is
// audible from the first second on, unless playback is held.
func follow(tb testing.TB, tr *Tracker, pcm []int16, audible bool) []Mark {
	tb.Helper()
	tr.Reset()
	var all []Mark
	silent := len(pcm) // where the assistant is held
	for at := 0; at+audio.FrameSamples <= len(pcm); at += audio.FrameSamples {
		tr.SetAudible(audible && at >= audio.SampleRate && at < silent)
		marks, err := tr.Push(int64(at), (*audio.Frame)(pcm[at:]))
		if err != nil {
			tb.Fatal(err)
		}
		for _, m := range marks {
			switch m.Kind {
			case Suspected:
				silent = at + int(audio.Samples(held))
			case Dismissed:
				silent = len(pcm)
			case Onset, Paused, Resumed, Ended:
				all = append(all, m)
			}
		}
	}
	return all
}

// BenchmarkTrackerPush measures the cost of a 10 ms frame.
func BenchmarkTrackerPush(b *testing.B) {
	for _, detectors := range []int{1, 2, 4} {
		b.Run(fmt.Sprintf("detectors=%d", detectors), func(b *testing.B) {
			cfg := ProfileConfig(ProfileDefault)
			cfg.Detectors = detectors
			tr := newSileroTracker(b, cfg)
			r, err := speechdata.Find("en/librivox/0870")
			if err != nil {
				b.Fatal(err)
			}
			clip, err := r.Load()
			if err != nil {
				b.Fatal(err)
			}
			frames := len(clip.PCM) / audio.FrameSamples
			b.ReportAllocs()
			pos, n := int64(0), 0
			for b.Loop() {
				if _, err := tr.Push(pos, (*audio.Frame)(clip.PCM[n%frames*audio.FrameSamples:])); err != nil {
					b.Fatal(err)
				}
				pos += audio.FrameSamples
				n++
			}
			b.ReportMetric(100*b.Elapsed().Seconds()/(float64(n)*audio.FrameTime.Seconds()), "%core")
		})
	}
}

// rooms lists the rooms of BenchmarkOnset.
var rooms = []struct {
	name, noise string
	snr         float64
}{
	{"quiet", "quiet", 0},
	{"fan20dB", "fan", 20},
	{"fan10dB", "fan", 10},
	{"fan5dB", "fan", 5},
	{"babble20dB", "babble", 20},
}

// BenchmarkOnset reports the detection delay in milliseconds after the labelled
// onset, and the misses, over the recordings of internal/testutil/speechdata without comic
// voices. It needs the downloads of scripts/speech.sh.
//
//	go test -tags nolibopusfile -run - -bench Onset -benchtime 1x ./audio/vad
func BenchmarkOnset(b *testing.B) {
	clips := load(b, speechdata.Utterance)
	babble := babbleOf(load(b, speechdata.Passage))
	for name, run := range onsetRules(b) {
		for _, room := range rooms {
			b.Run(name+"/"+room.name, func(b *testing.B) {
				for b.Loop() {
					var r result
					for i, c := range clips {
						s := newScene(c, uint64(i), room.noise, room.snr, babble)
						// The acted voices have added reverb, which hides their end.
						r.add(s, run(s.pcm), c.Style == speechdata.Read)
					}
					r.report(b)
				}
			})
		}
	}
}

// BenchmarkFalseOnset reports how many of the recordings of keys, music and coughs are taken
// for a voice, by Silero and by its fallback. It needs the downloads of scripts/speech.sh.
//
//	go test -tags nolibopusfile -run - -bench FalseOnset -benchtime 1x ./audio/vad
func BenchmarkFalseOnset(b *testing.B) {
	for name, tracker := range map[string]func(testing.TB, TrackerConfig) *Tracker{"silero": newSileroTracker, "webrtc": newWebRTCTracker} {
		for _, kind := range []speechdata.Kind{speechdata.Noise, speechdata.Music, speechdata.Cough} {
			clips, err := speechdata.LoadAll(kind)
			if err != nil {
				b.Fatal(err)
			}
			b.Run(fmt.Sprintf("%s/%s", name, kind), func(b *testing.B) {
				tr := tracker(b, ProfileConfig(ProfileDefault))
				for b.Loop() {
					onsets := 0
					for i, c := range clips {
						if len(follow(b, tr, newScene(c, uint64(i), "quiet", 0, nil).pcm, false)) > 0 {
							onsets++
						}
					}
					b.ReportMetric(0, "ns/op") // not meaningful here
					b.ReportMetric(float64(len(clips)), "n")
					b.ReportMetric(float64(onsets), "onsets")
				}
			})
		}
	}
}

func load(b *testing.B, kind speechdata.Kind) []*speechdata.Clip {
	b.Helper()
	clips, err := speechdata.LoadAll(kind)
	if err != nil {
		b.Fatal(err)
	}
	return slices.DeleteFunc(clips, func(c *speechdata.Clip) bool { return c.Style == speechdata.Cartoon })
}

// onsetRules lists the compared detection methods: the Endpointer of the embedded
// server, and the Tracker with one detector and with each profile.
func onsetRules(b *testing.B) map[string]func(pcm []int16) []Mark {
	b.Helper()
	rules := map[string]func(pcm []int16) []Mark{}
	d := newDetector(b)
	for name, least := range map[string]time.Duration{"endpointer32ms": 32 * time.Millisecond, "endpointer96ms": 96 * time.Millisecond} {
		rules[name] = func(pcm []int16) []Mark {
			narrow, err := speechdata.Resample(pcm, audio.SampleRate, SampleRate)
			if err != nil {
				b.Fatal(err)
			}
			d.Reset()
			e := NewEndpointer(EndpointerConfig{Silence: 700 * time.Millisecond, MinSpeech: least})
			var marks []Mark
			for at := 0; at+WindowSamples <= len(narrow); at += WindowSamples {
				p, err := d.Process(narrow[at : at+WindowSamples])
				if err != nil {
					b.Fatal(err)
				}
				if edge, ok := e.Push(p); ok && edge.Kind == SpeechStart {
					decided := int64(at+WindowSamples)*captureRatio + audio.FrameSamples
					marks = append(marks, Mark{Kind: Onset, Pos: edge.Speech * captureRatio, Decided: decided / audio.FrameSamples * audio.FrameSamples})
				}
			}
			return marks
		}
	}
	for _, p := range []Profile{ProfileDefault, ProfileAssertive, ProfileCautious} {
		for _, audible := range []bool{false, true} {
			tr := newSileroTracker(b, ProfileConfig(p))
			rules[fmt.Sprintf("%s,audible=%v", p, audible)] = func(pcm []int16) []Mark { return follow(b, tr, pcm, audible) }
		}
	}
	for _, audible := range []bool{false, true} {
		tr := newWebRTCTracker(b, ProfileConfig(ProfileDefault))
		rules[fmt.Sprintf("webrtc,audible=%v", audible)] = func(pcm []int16) []Mark { return follow(b, tr, pcm, audible) }
	}
	for _, n := range []int{1, 2} {
		cfg := ProfileConfig(ProfileDefault)
		cfg.Detectors = n
		tr := newSileroTracker(b, cfg)
		rules[fmt.Sprintf("default,detectors=%d", n)] = func(pcm []int16) []Mark { return follow(b, tr, pcm, false) }
	}
	return rules
}

// result collects the detections over all scenes.
type result struct {
	n, missed, early, whole, torn int
	late, off, gone, wrong        []float64 // ms
}

// add evaluates the marks of a scene. A voice without a mark before its end is a
// miss; a mark before its onset is a false alarm. A voice is split if it pauses
// before its end and resumes; only recordings with a reliable end label count.
func (r *result) add(s scene, marks []Mark, ends bool) {
	r.n++
	ms := func(samples int64) float64 { return float64(samples) * 1000 / audio.SampleRate }
	for len(marks) > 0 && (marks[0].Kind != Onset || marks[0].Decided < s.onset) {
		if marks[0].Kind == Onset {
			r.early++
		}
		marks = marks[1:]
	}
	if len(marks) == 0 || marks[0].Decided > s.end {
		r.missed++
		return
	}
	r.late = append(r.late, ms(marks[0].Decided-s.onset))
	r.off = append(r.off, math.Abs(ms(marks[0].Pos-s.onset)))
	if ends {
		r.whole++
	}
	for i, m := range marks {
		if m.Kind != Paused || !ends {
			continue
		}
		if i+1 < len(marks) && marks[i+1].Kind == Resumed && marks[i+1].Pos < s.end {
			r.torn++
			return
		}
		r.gone = append(r.gone, ms(m.Decided-s.end))
		r.wrong = append(r.wrong, math.Abs(ms(m.Pos-s.end)))
		return
	}
}

func (r *result) report(b *testing.B) {
	quantile := func(name string, values []float64) {
		if len(values) == 0 {
			return
		}
		slices.Sort(values)
		b.ReportMetric(values[len(values)/2], name+"-p50-ms")
		b.ReportMetric(values[len(values)*95/100], name+"-p95-ms")
	}
	b.ReportMetric(0, "ns/op") // not meaningful here
	quantile("late", r.late)
	quantile("off", r.off)
	quantile("gone", r.gone)
	quantile("goneoff", r.wrong)
	b.ReportMetric(float64(r.n), "n")
	b.ReportMetric(float64(r.missed), "missed")
	b.ReportMetric(float64(r.early), "false")
	b.ReportMetric(100*float64(r.torn)/float64(max(r.whole, 1)), "torn-%")
}
