//go:build cgo

package wake

import (
	"context"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	models "github.com/agentvoice/agentvoice-daemon/audio/engine"
	"github.com/agentvoice/agentvoice-daemon/audio/hearing/moonshine"
	"github.com/agentvoice/agentvoice-daemon/audio/voice/kokoro"
	"github.com/agentvoice/agentvoice-daemon/internal/assets"
	"github.com/agentvoice/agentvoice-daemon/internal/testutil/speechdata"
)

// The voices, texts, music and recordings of two halves: thresholds are chosen on the first, and
// reported on the second.
var halves = [2]struct {
	kokoro, flite, texts []string
	music                string
}{
	{
		[]string{"af_bella", "af_nicole", "am_fenrir", "bf_emma", "bm_fable"}, []string{"slt", "kal16"},
		[]string{"%s.", "%s, what is the current branch?", "%s, read this file.", "Well, %s, run the tests.", "%s. Show me the last commit."},
		"music/game",
	},
	{
		[]string{"af_heart", "af_sarah", "am_michael", "am_puck", "bf_isabella", "bm_george"}, []string{"rms", "awb"},
		[]string{"%s!", "%s, which tests are failing?", "Hmm, %s, open the readme.", "%s, stop the server and start it again.", "%s. How many files did I change?"},
		"music/menu",
	},
}

// similar are sentences that sound like the default phrase or hold a part of it.
var similar = []string{
	"Okay, copy it.", "Okay, copy a lot of it.", "Okay, cope with it.", "Okay, pilot.", "I asked Copilot about it.", "GitHub Copilot is okay.",
	"The copilot said okay.", "Okay, the pilot is late.", "Okay, compile it.", "Okay, coffee later?", "Oh, copy lots of files.", "A copilot flies the plane.",
	"Okay, computer.", "Go pilot the project.", "They'll cope a lot better.", "Okay, call Paula.", "Okay, I'll copy that.", "Hockey, polo and golf.",
	"Okay, so we pile it up.", "Okay, copper lot.",
}

// mouth says texts in Kokoro's voices.
type mouth struct{ model *kokoro.Model }

func newMouth(tb testing.TB) mouth {
	tb.Helper()
	d, runtime := described(tb, assets.Voice)
	m, err := kokoro.Load(kokoro.Files{
		Model: d.Path("model"), Vocabulary: d.Path("vocabulary"),
		Speakers: d.Path("speakers"), Pronunciations: d.Path("pronunciations"),
	}, runtime, 2)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = m.Close() })
	return mouth{m}
}

// described returns an installed model, and ONNX Runtime.
func described(tb testing.TB, find func() (string, error)) (models.Model, string) {
	tb.Helper()
	dir, err := find()
	if err != nil {
		tb.Fatal(err)
	}
	d, err := models.ReadModel(dir)
	if err != nil {
		tb.Fatal(err)
	}
	runtime, err := assets.ONNXRuntime()
	if err != nil {
		tb.Fatal(err)
	}
	return d, runtime
}

func (m mouth) say(tb testing.TB, name, text string, speed float64) clip {
	tb.Helper()
	var pcm []int16
	err := m.model.Speak(context.Background(), name, text, speed, time.Minute, func(p kokoro.Piece) error {
		pcm = append(pcm, p.PCM...)
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return clip{fmt.Sprintf("kokoro %s %g: %s", name, speed, text), padded(resampled(tb, pcm, kokoro.SampleRate, SampleRate))}
}

// utterances returns the phrase in the voices of a half.
func utterances(tb testing.TB, m mouth, half int, phrase string) (clips []clip) {
	tb.Helper()
	h, speeds := halves[half], []float64{1, 1.2}
	if phrase != DefaultPhrase {
		h.texts, speeds = h.texts[:2], speeds[:1]
	}
	phrase = strings.ToUpper(phrase[:1]) + phrase[1:]
	for _, text := range h.texts {
		text = fmt.Sprintf(text, phrase)
		for _, v := range h.kokoro {
			for _, speed := range speeds {
				clips = append(clips, m.say(tb, v, text, speed))
			}
		}
		for _, v := range h.flite {
			clips = append(clips, flite(tb, v, text))
		}
	}
	return clips
}

// espeaks returns the phrase in voices of espeak-ng, if it is installed: of the second half only.
func espeaks(tb testing.TB, half int) (clips []clip) {
	tb.Helper()
	for _, text := range halves[half].texts {
		for _, v := range []string{"en-us", "en-us+f2", "en-us+m3", "en-gb", "en-gb+f3"} {
			if c, ok := espeak(tb, fmt.Sprintf(text, DefaultPhrase), "-v", v, "-s", "150"); ok && half == 1 {
				clips = append(clips, c)
			}
		}
	}
	return clips
}

// music returns the music of a half at the engine's rate: a recording of scripts/speech.sh, or
// chords that are made if it is missing.
func music(tb testing.TB, half int) []int16 {
	tb.Helper()
	if r, err := speechdata.Find(halves[half].music); err == nil && r.Present() {
		c, err := r.Load()
		if err != nil {
			tb.Fatal(err)
		}
		return resampled(tb, c.PCM, audio.SampleRate, SampleRate)
	}
	tb.Log("the recorded music is missing; run scripts/speech.sh")
	pcm := make([]int16, 20*SampleRate)
	roots := []float64{220, 174.6, 261.6, 196}
	for i := range pcm {
		t := float64(i) / SampleRate
		beat := math.Mod(t, 0.5)
		v := 0.0
		for k, ratio := range []float64{1, 1.25, 1.5, 2, 3} {
			v += math.Sin(2*math.Pi*roots[(int(t/2)+half)%4]*ratio*t) / float64(k+1)
		}
		v += 2 * math.Exp(-30*beat) * math.Sin(2*math.Pi*60*beat)
		pcm[i] = int16(4000 * v * (0.4 + 0.6*math.Exp(-4*beat)))
	}
	return pcm
}

// over adds a part of the music, the n-th, at a ratio in dB.
func (c clip) over(music []int16, n int, db float64) clip {
	power := func(pcm []int16, least int16) float64 {
		sum, n := 0.0, 0.0
		for _, s := range pcm {
			if s > least || s < -least {
				sum += float64(s) * float64(s)
				n++
			}
		}
		return math.Sqrt(sum / max(n, 1))
	}
	at := n * 7919 * 13 % len(music)
	part := make([]int16, len(c.pcm))
	for i := range part {
		part[i] = music[(at+i)%len(music)]
	}
	gain := power(c.pcm, 300) / power(part, 0) * math.Pow(10, -db/20)
	out := make([]int16, len(c.pcm))
	for i, s := range c.pcm {
		out[i] = int16(math.Round(min(max(float64(s)+gain*float64(part[i]), math.MinInt16), math.MaxInt16)))
	}
	return clip{c.name, out}
}

// others returns speech without the phrase of a half: recordings of people, the documents of this
// tree in synthetic voices, and sentences that are similar to the phrase.
func others(tb testing.TB, m mouth, half int) map[string][]clip {
	tb.Helper()
	kinds := map[string][]clip{}
	for i, c := range human(tb, append([]string{recordings}, filepath.SplitList(os.Getenv(speechDirsEnv))...)...) {
		if i%2 == half {
			kinds["people"] = append(kinds["people"], c)
		}
	}
	for i, r := range speechdata.All(speechdata.Utterance, speechdata.Passage) {
		if i%2 != half || !r.Present() || r.Package == "pocketsphinx-testdata" {
			continue
		}
		c, err := r.Load()
		if err != nil {
			tb.Fatal(err)
		}
		kinds["people"] = append(kinds["people"], clip{r.ID, padded(resampled(tb, c.PCM, audio.SampleRate, SampleRate))})
	}
	for i, text := range documents(tb) {
		if i%2 == half {
			kinds["documents"] = append(kinds["documents"], flite(tb, halves[half].flite[i/2%2], text))
		}
	}
	for i, text := range similar {
		for k := range 3 {
			voices := halves[half].kokoro
			kinds["similar"] = append(kinds["similar"], m.say(tb, voices[(i+k)%len(voices)], text, 1))
		}
	}
	return kinds
}

var markup = regexp.MustCompile("(?s)```.*?```|[^A-Za-z0-9 .,;:?!'\n-]|https?:\\S*")

// documents returns paragraphs of this tree's documents: about an hour, read aloud.
func documents(tb testing.TB) (texts []string) {
	tb.Helper()
	for _, pattern := range []string{"../../*.md", "../../docs/*.md", "../../docs/design/*.md"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			tb.Fatal(err)
		}
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				tb.Fatal(err)
			}
			for _, p := range strings.Split(markup.ReplaceAllString(string(b), " "), "\n\n") {
				p = strings.Join(strings.Fields(p), " ")
				if len(p) > 100 && !strings.Contains(strings.ToLower(p), "copilot") && !strings.Contains(p, "---") {
					texts = append(texts, p)
				}
			}
		}
	}
	const perHour = 54_000 // letters
	total := 0
	for i, p := range texts {
		if total += len(p); total > perHour {
			return texts[:i]
		}
	}
	return texts
}

// detection is what the engine detected, which ended before a position at its rate.
type detection struct {
	match
	end int
}

func detections(tb testing.TB, e engine, c clip) (all []detection) {
	tb.Helper()
	if err := e.restart(); err != nil {
		tb.Fatal(err)
	}
	const piece = SampleRate / 20
	for at := 0; at < len(c.pcm); at += piece {
		end := min(at+piece, len(c.pcm))
		m, err := e.listen(c.pcm[at:end])
		if err != nil {
			tb.Fatal(err)
		}
		if m.found {
			all = append(all, detection{m, end})
		}
	}
	return all
}

// model is Moonshine.
type model struct{ *moonshine.Model }

func newModel(tb testing.TB) model {
	tb.Helper()
	d, runtime := described(tb, assets.Recogniser)
	m, err := moonshine.Load(filepath.Dir(d.Path("encoder")), runtime, 1)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = m.Close() })
	return model{m}
}

// confirms asks the model about a detection as the daemon does.
func (m model) confirms(tb testing.TB, question [][]string, c clip, d detection) bool {
	tb.Helper()
	to := d.end - int((reportedAfter+d.ago)*SampleRate/audio.SampleRate)
	from := max(to-int((d.length+BeforePhrase)*SampleRate/audio.SampleRate), 0)
	sound, err := m.Encode(slices.Concat(c.pcm[from:to], make([]int16, SampleRate/2))) // as its worker does
	if err != nil {
		tb.Fatal(err)
	}
	a, err := m.Compare(sound, question)
	if err != nil {
		tb.Fatal(err)
	}
	return Confirms(question, a.Phrase, a.Behind)
}

// counted is how many detections count, and in how many clips.
type counted struct{ times, clips int }

func (c *counted) add(n int) {
	if c.times += n; n > 0 {
		c.clips++
	}
}

// counts runs the spotter and the model over clips: the spotter alone, with the model for what
// it is not sure of, and with the model for all.
func counts(b *testing.B, ear model, phrase string, candidates float64, clips []clip) (alone, doubted, all counted) {
	e, err := newEngine(Config{ModelDir: modelDir(b), Phrase: phrase, Threshold: DefaultThreshold, Candidates: candidates})
	if err != nil {
		b.Fatal(err)
	}
	defer e.close()
	question := Question(phrase)
	for _, c := range clips {
		found, confirmed, certain := detections(b, e, c), 0, 0
		for _, d := range found {
			yes := ear.confirms(b, question, c, d)
			if yes {
				confirmed++
			}
			if yes || d.sure {
				certain++
			}
		}
		alone.add(len(found))
		doubted.add(certain)
		all.add(confirmed)
	}
	return alone, doubted, all
}

// BenchmarkConfirmed prints the table of docs/design/measurements.md: utterances of the phrase that are
// detected, and detections in speech without it, with the old threshold and with lower ones that
// the local model confirms. The lower one was chosen on the first half. The recorded people are
// those of scripts/speech.sh, and the folders of AGENTVOICE_WAKE_SPEECH.
//
//	go test -run '^$' -bench Confirmed -benchtime 1x ./audio/wake
func BenchmarkConfirmed(b *testing.B) {
	for half := range 2 {
		b.Run(fmt.Sprintf("half-%d", half), func(b *testing.B) {
			m, ear := newMouth(b), newModel(b)
			for b.Loop() {
				for _, phrase := range []string{DefaultPhrase, "hey computer"} {
					sets := inMusic(b, half, utterances(b, m, half, phrase))
					thresholds := []float64{DefaultThreshold, 1e-30, CandidateThreshold, 1e-70}
					printCounts(b, ear, half, phrase, thresholds, sets)
				}
				both := []float64{DefaultThreshold, CandidateThreshold}
				for kind, clips := range inMusic(b, half, espeaks(b, half)) {
					printCounts(b, ear, half, DefaultPhrase, both, map[string][]clip{"espeak-ng, " + kind: clips})
				}
				printCounts(b, ear, half, DefaultPhrase, both, others(b, m, half))
			}
		})
	}
}

// inMusic returns clips as they are, and over the music of a half.
func inMusic(tb testing.TB, half int, said []clip) map[string][]clip {
	tb.Helper()
	tune, sets := music(tb, half), map[string][]clip{"clean": said}
	for i, c := range said {
		for _, db := range []float64{20, 10, 5} {
			kind := fmt.Sprintf("music at %g dB", db)
			sets[kind] = append(sets[kind], c.over(tune, i, db))
		}
	}
	return sets
}

func printCounts(b *testing.B, ear model, half int, phrase string, thresholds []float64, sets map[string][]clip) {
	for _, kind := range slices.Sorted(maps.Keys(sets)) {
		seconds := 0.0
		for _, c := range sets[kind] {
			seconds += float64(len(c.pcm))/SampleRate - 1 // without the noise around it
		}
		for _, threshold := range thresholds {
			alone, doubted, all := counts(b, ear, phrase, threshold, sets[kind])
			fmt.Printf("half %d, %s, %s, %.0e: %d clips (%.1f min); in that many, and times, alone %d %d, confirmed if not sure %d %d, all confirmed %d %d\n",
				half, phrase, kind, threshold, len(sets[kind]), seconds/60, alone.clips, alone.times, doubted.clips, doubted.times, all.clips, all.times)
		}
	}
}

// BenchmarkConfirm measures how long the model takes for a detection, on one thread.
func BenchmarkConfirm(b *testing.B) {
	c := flite(b, "slt", DefaultPhrase)
	found := detections(b, newTestEngine(b, DefaultPhrase, DefaultThreshold), c)
	if len(found) != 1 {
		b.Fatalf("detected %d times, want once", len(found))
	}
	began := time.Now()
	ear := newModel(b)
	loaded := time.Since(began)
	for b.Loop() {
		ear.confirms(b, Question(DefaultPhrase), c, found[0])
	}
	b.ReportMetric(float64(loaded.Milliseconds()), "ms-to-load")
}
