//go:build cgo

package moonshine

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/internal/assets"
	"github.com/agentvoice/agentvoice-daemon/internal/wer"
)

func loadModel(tb testing.TB, threads int) *Model {
	tb.Helper()
	lib, err := assets.ONNXRuntime()
	if err != nil {
		tb.Fatal(err)
	}
	m, err := Load(modelFiles(tb), lib, threads)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := m.Close(); err != nil {
			tb.Error(err)
		}
	})
	return m
}

func encode(tb testing.TB, m *Model, pcm []int16) *Sound {
	tb.Helper()
	s, err := m.Encode(pcm)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func mustTranscribe(tb testing.TB, m *Model, s *Sound, names *Names) Transcript {
	tb.Helper()
	t, err := m.Transcribe(s, names)
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

// TestNamesAreHeard: names correct what is about as probable. Processors round quantized
// numbers differently, so single words may differ.
func TestNamesAreHeard(t *testing.T) {
	m := loadModel(t, 1)
	var errs [2]int
	for _, r := range readRecordings(t, "testdata") {
		if r.name == "stop" { // not understood
			continue
		}
		s := encode(t, m, r.pcm)
		for i, names := range []*Names{nil, m.Names(Terms())} {
			got := mustTranscribe(t, m, s, names)
			wrong, _ := wer.Compute(r.words, got.Text)
			errs[i] += wrong
			if got.Cut || got.Text != textOf(got.Words) || got.Mean < -0.6 || math.Abs(got.Mean*float64(got.Tokens)-got.LogProb) > 1e-9 {
				t.Errorf("%s: %+v", r.name, got)
			}
			if wrong > 0 {
				t.Logf("%s: %s", r.name, got.Text)
			}
		}
	}
	if errs[0] > 4 || errs[1] > 1 || errs[0] < 2 {
		t.Errorf("%d errors without names, %d with names", errs[0], errs[1])
	}
}

// TestStop: a sentence that breaks off is less finished than the whole one.
func TestStop(t *testing.T) {
	m := loadModel(t, 1)
	r := readRecording(t, "archive")
	for _, tt := range []struct {
		part     float64
		finished bool
	}{{0.5, false}, {0.7, false}, {1, true}} { // "older than seven", "but keep"
		got := mustTranscribe(t, m, encode(t, m, r.pcm[:int(tt.part*float64(len(r.pcm)))]), nil)
		if tt.finished != (got.Stop > 0.7) {
			t.Errorf("%v of it: %s %.2f", tt.part, got.Text, got.Stop)
		}
	}
}

// TestClosedQuestion: the probabilities of given texts tell an answer from a sentence that is
// not one of them.
//
//test:long
func TestClosedQuestion(t *testing.T) {
	m := loadModel(t, 1)
	phrases, classes := classified()
	for name, want := range map[string]string{"stop": "stop", "unsure": "", "archive": ""} {
		s := encode(t, m, readRecording(t, name).pcm)
		draft, err := m.Draft(s)
		if err != nil {
			t.Fatal(err)
		}
		scores, err := m.Score(s, phrases)
		if err != nil {
			t.Fatal(err)
		}
		class, lead := bestClass(scores, classes)
		less := draft.LogProb - slices.Max(scores)
		if want != "" && (class != want || lead < 3 || less > 4) || want == "" && less < 6 {
			t.Errorf("%s: %s leads by %.1f, the draft %q by %.1f", name, class, lead, draft.Text, less)
		}
	}
}

// TestScoreIsTheTranscripts: the probability of a transcript as a phrase is that of the
// transcript, alone and among others, in any order.
//
//test:long
func TestScoreIsTheTranscripts(t *testing.T) {
	m := loadModel(t, 1)
	for _, r := range readRecordings(t, "testdata") {
		s := encode(t, m, r.pcm)
		draft, err := m.Draft(s)
		if err != nil {
			t.Fatal(err)
		}
		scores, err := m.Score(s, []string{draft.Text})
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(scores[0]-draft.LogProb) > 1e-3 {
			t.Errorf("%s: %v, transcript %v", r.name, scores[0], draft.LogProb)
		}
		scores, err = m.Score(s, []string{"Yes.", draft.Text, draft.Text + " Yes.", "", draft.Text})
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(scores[1]-draft.LogProb) > 0.2 || scores[4] != scores[1] || scores[0] > scores[1] || scores[2] > scores[1] {
			t.Errorf("%s: among others %v, transcript %v", r.name, scores, draft.LogProb)
		}
	}
}

// TestOneBeamIsTheDraft compares the search with a plain loop over the most probable tokens.
//
//test:long
func TestOneBeamIsTheDraft(t *testing.T) {
	m := loadModel(t, 1)
	for _, r := range readRecordings(t, "testdata") {
		s := encode(t, m, r.pcm)
		run, err := m.decoder.resume(s)
		if err != nil {
			t.Fatal(err)
		}
		var tokens []int32
		sum, logits := 0.0, s.logits
		for {
			d := normalize(logits)
			token := d.best(1)[0]
			sum += d.log(token)
			if token == tokenEnd {
				break
			}
			tokens = append(tokens, token)
			rows, err := run.step([]int{0}, []int32{token})
			if err != nil {
				t.Fatal(err)
			}
			logits = rows[0]
		}
		run.close()
		draft, err := m.Draft(s)
		if err != nil {
			t.Fatal(err)
		}
		if text := m.vocabulary.decode(tokens); draft.Text != text || math.Abs(draft.LogProb-sum) > 1e-9 {
			t.Errorf("%s: %q %v, greedy %q %v", r.name, draft.Text, draft.LogProb, text, sum)
		}
		if got := m.vocabulary.encode(draft.Text); !slices.Equal(got, tokens) {
			t.Errorf("%s: the model writes %q with %v, the vocabulary with %v", r.name, draft.Text, tokens, got)
		}
	}
}

// TestLongSpeechIsWhole: 74 s of sentences arrive without a missing, repeated or extra word.
//
//test:long
func TestLongSpeechIsWhole(t *testing.T) {
	m := loadModel(t, 2)
	var pcm []int16
	var said []string
	recordings := readRecordings(t, "testdata")
	for i := 0; len(pcm) < 74*SampleRate; i++ {
		if r := recordings[i%len(recordings)]; r.name != "stop" { // not understood on its own
			pcm, said = append(pcm, r.pcm...), append(said, r.words)
		}
	}
	got, err := m.Recognize(pcm, m.Names(Terms()))
	if err != nil {
		t.Fatal(err)
	}
	words := len(strings.Fields(strings.Join(said, " ")))
	errs, _ := wer.Compute(strings.Join(said, " "), got.Text)
	// The recognizer hears "mean" and "under" in long pieces.
	if errs > words*7/100 || max(len(got.Words)-words, words-len(got.Words)) > 2 || words < 150 || got.Cut {
		t.Errorf("%d words with %d errors of %d: %s", len(got.Words), errs, words, got.Text)
	}
}

// TestAnyAudio: silence, noise, clicks and audio of any length have a short transcript.
//
//test:long
func TestAnyAudio(t *testing.T) {
	m := loadModel(t, 2)
	chance := rand.New(rand.NewPCG(1, 2))
	for _, length := range []int{0, 1, 100, 894, 895, SampleRate / 10, SampleRate, 20 * SampleRate} {
		for name, sample := range map[string]func(i int) int16{
			"silence":    func(int) int16 { return 0 },
			"noise":      func(int) int16 { return int16(chance.NormFloat64() * 1000) },
			"clipped":    func(i int) int16 { return []int16{-32768, 32767}[i/40%2] },
			"faint":      func(int) int16 { return int16(chance.IntN(3) - 1) },
			"keystrokes": func(i int) int16 { return int16(20000 * math.Exp(-float64(i%8000)/50)) },
		} {
			pcm := make([]int16, length)
			for i := range pcm {
				pcm[i] = sample(i)
			}
			got, err := m.Recognize(pcm, nil)
			if err != nil {
				t.Fatalf("%s, %d samples: %v", name, length, err)
			}
			if length < shortestSound && (got.Text != "" || got.Tokens != 0) || len(got.Words) > tokensAtLeast+length/SampleRate*2 || math.IsNaN(got.LogProb) {
				t.Errorf("%s, %d samples: %+v", name, length, got)
			}
			if length <= SampleRate {
				encode(t, m, pcm)
			}
		}
	}
}

//test:long
func TestEqualCallsGiveEqualResults(t *testing.T) {
	m := loadModel(t, 2)
	names := m.Names(Terms())
	r := readRecording(t, "async")
	var first Transcript
	var scores []float64
	pcm := slices.Clone(r.pcm)
	for i := range 3 {
		s := encode(t, m, pcm)
		for j := range 2 { // a sound can be asked again
			got := mustTranscribe(t, m, s, names)
			sc, err := m.Score(s, []string{"Yes.", "Yes, please.", "No."})
			if err != nil {
				t.Fatal(err)
			}
			if i+j == 0 {
				first, scores = got, sc
			} else if !reflect.DeepEqual(got, first) || !slices.Equal(sc, scores) {
				t.Errorf("call %d, %d: %+v %v, first %+v %v", i, j, got, sc, first, scores)
			}
		}
	}
	if !slices.Equal(pcm, r.pcm) {
		t.Error("the audio was changed")
	}
}
