//go:build cgo

package moonshine

import (
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	ort "github.com/yalue/onnxruntime_go"

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

// TestNamesAreHeard: names correct what is about as probable, and nothing else.
func TestNamesAreHeard(t *testing.T) {
	m := loadModel(t, 1)
	names := m.Names(Terms())
	for name, want := range map[string][2]string{ // without names, with names
		"undo":    {"Under the last change, please.", "Undo the last change, please."},
		"main":    {"Open the file mean dot go.", "Open the file main dot go."},
		"async":   {"Is the asink function awaited everywhere?", "Is the async function awaited everywhere?"},
		"archive": {"Delete the log files older than seven days, but keep the archive.", "Delete the log files older than seven days, but keep the archive."},
		"unsure":  {"I'm not sure.", "I'm not sure."},
	} {
		s := encode(t, m, readRecording(t, name).pcm)
		for i, n := range []*Names{nil, names} {
			got := mustTranscribe(t, m, s, n)
			if got.Text != want[i] || got.Cut || got.Text != textOf(got.Words) {
				t.Errorf("%s: %+v, want %q", name, got, want[i])
			}
			if got.Stop < 0.5 || got.Mean < -0.5 || math.Abs(got.Mean*float64(got.Tokens)-got.LogProb) > 1e-9 {
				t.Errorf("%s: %+v", name, got)
			}
		}
	}
}

// TestClosedQuestion: the probabilities of given texts show an answer that the transcript
// misses, and that no answer fits.
func TestClosedQuestion(t *testing.T) {
	m := loadModel(t, 1)
	answers := []string{"Yes.", "Yes, please.", "No.", "No, don't.", "Stop.", "Stop it.", "Wait.", "Okay.", "Mm-hmm."}
	for _, tt := range []struct {
		recording, draft, best string
		fits                   bool
	}{{"stop", "Stompin.", "Stop", true}, {"unsure", "I'm not sure.", "", false}} {
		s := encode(t, m, readRecording(t, tt.recording).pcm)
		draft, err := m.Draft(s)
		if err != nil {
			t.Fatal(err)
		}
		if draft.Text != tt.draft {
			t.Errorf("%s: %q", tt.recording, draft.Text)
		}
		scores, err := m.Score(s, answers)
		if err != nil {
			t.Fatal(err)
		}
		best := slices.Index(scores, slices.Max(scores))
		if tt.fits != (draft.LogProb-scores[best] < 5) || tt.fits && !strings.HasPrefix(answers[best], tt.best) {
			t.Errorf("%s: %v, transcript %v", tt.recording, scores, draft.LogProb)
		}
	}
}

// TestScoreIsTheTranscripts: the probability of a transcript as a phrase is that of the
// transcript, alone and among others, in any order.
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
	if errs > words*6/100 || len(got.Words) != words || words < 150 || got.Cut {
		t.Errorf("%d words with %d errors of %d: %s", len(got.Words), errs, words, got.Text)
	}
}

// TestAnyAudio: silence, noise, clicks and audio of any length have a short transcript.
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

// TestCloseFrees: the runtime is unloaded, calls fail, and many runs do not grow the process.
func TestCloseFrees(t *testing.T) {
	m := loadModel(t, 1)
	names := m.Names(Terms())
	r := readRecording(t, "undo")
	use := func(n int) int {
		for range n {
			s := encode(t, m, r.pcm)
			mustTranscribe(t, m, s, names)
			if _, err := m.Score(s, []string{"Yes.", "No."}); err != nil {
				t.Fatal(err)
			}
		}
		runtime.GC()
		return resident(t)
	}
	before := use(15)
	if after := use(60); after > before+10<<20 {
		t.Errorf("60 utterances take %d MB", (after-before)>>20)
	}
	s := encode(t, m, r.pcm)
	for range 2 {
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if ort.IsInitialized() {
		t.Error("ONNX Runtime is still loaded")
	}
	_, encodeErr := m.Encode(r.pcm)
	_, transcribeErr := m.Transcribe(s, names)
	_, scoreErr := m.Score(s, []string{"Yes."})
	_, recognizeErr := m.Recognize(r.pcm, names)
	for _, err := range []error{encodeErr, transcribeErr, scoreErr, recognizeErr} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("a closed model: %v", err)
		}
	}
}

// resident returns the memory of the process, in bytes, or 0 where it is not known.
func resident(tb testing.TB) int {
	tb.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	fields := strings.Fields(string(text))
	if err != nil || len(fields) < 2 {
		return 0
	}
	pages := 0
	for _, c := range fields[1] {
		pages = 10*pages + int(c-'0')
	}
	return pages * os.Getpagesize()
}

// TestDamagedModels: errors name the file and no folder, and nothing stays loaded.
func TestDamagedModels(t *testing.T) {
	lib, err := assets.ONNXRuntime()
	if err != nil {
		t.Fatal(err)
	}
	good := modelFiles(t)
	files := []string{vocabularyFile, encoderFile, decoderFile}
	for i, bad := range files {
		for _, content := range []string{"missing", "truncated", "another model"} {
			dir := t.TempDir()
			for j, name := range files {
				source := filepath.Join(good, name)
				if j == i && content == "another model" {
					source = filepath.Join(good, files[(i+1)%3])
				}
				data, err := os.ReadFile(source)
				if err != nil {
					t.Fatal(err)
				}
				switch {
				case j == i && content == "missing":
					continue
				case j == i && content == "truncated":
					data = data[:len(data)/2]
				}
				if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			m, err := Load(dir, lib, 1)
			if err == nil {
				err = m.Close()
				t.Errorf("%s: %s loads: %v", bad, content, err)
				continue
			}
			if strings.Contains(err.Error(), dir) || !strings.HasPrefix(err.Error(), "cannot load Moonshine: ") {
				t.Errorf("%s: %s: %v", bad, content, err)
			}
			if ort.IsInitialized() {
				t.Errorf("%s: %s: ONNX Runtime stays loaded", bad, content)
			}
		}
	}
}
