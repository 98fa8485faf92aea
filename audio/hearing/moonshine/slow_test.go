//go:build cgo && !race

package moonshine

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/audio/engine"
	"github.com/agentvoice/agentvoice-daemon/copilot/spoken"
	"github.com/agentvoice/agentvoice-daemon/internal/wer"
)

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
	if errs > words*7/100 || max(len(got.Words)-words, words-len(got.Words)) > 2 || words < 150 || got.Cut {
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

// TestClosedQuestion: the probabilities of given texts tell an answer from a sentence that is
// not one of them.
func TestClosedQuestion(t *testing.T) {
	m := loadModel(t, 1)
	for name, want := range map[string]spoken.Command{"stop": spoken.CommandStop, "unsure": "", "archive": ""} {
		a, err := m.Compare(encode(t, m, slices.Concat(readRecording(t, name).pcm, silence)), spoken.Answers)
		if err != nil {
			t.Fatal(err)
		}
		if want != "" && (spoken.Classify(a.Phrase).Command != want || a.Lead < 3 || a.Behind > 4) || want == "" && a.Behind < 6 {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

// TestWorkerHearsLongSpeech: of minutes of speech nothing is lost, and little is left to
// recognise when they end.
func TestWorkerHearsLongSpeech(t *testing.T) {
	w, replies := serve(t)
	var pcm []int16
	words := 0
	for len(pcm) < 60*SampleRate {
		for _, r := range readRecordings(t, "testdata") {
			pcm = append(pcm, r.pcm...)
			words += len(strings.Fields(r.words))
		}
	}
	w.Work(engine.Frame{Kind: engine.Start, Stream: 1})
	for piece := range slices.Chunk(pcm, 512) {
		w.Work(engine.Frame{Kind: engine.Audio, Stream: 1, Payload: engine.Bytes(piece)})
		if kept := len(w.utterances[1].pcm); kept > longestPiece+cutWindow {
			t.Fatalf("%d s are left to recognise", kept/SampleRate)
		}
	}
	w.Work(engine.Frame{Kind: engine.Finish, Stream: 1})
	all := replies()
	got := len(strings.Fields(all[len(all)-1].Final.Text))
	if got < words*9/10 || got > words*11/10 {
		t.Errorf("%d words of %d", got, words)
	}
}

// TestWorkerCatchesUp: what a new process is given of a long utterance, after the one before it
// died, is recognised up to the last piece at once, and drafts are made of that piece only.
func TestWorkerCatchesUp(t *testing.T) {
	w, _ := serve(t)
	pcm := slices.Repeat(readRecording(t, "async").pcm, 25)
	w.Work(engine.Frame{Kind: engine.Start, Stream: 1})
	w.Work(engine.Frame{Kind: engine.Audio, Stream: 1, Payload: engine.Bytes(pcm)})
	u := w.utterances[1]
	if len(pcm) < 2*longestPiece+cutWindow || len(u.pcm) > longestPiece+cutWindow {
		t.Errorf("of %d s, %d s are left to recognise", len(pcm)/SampleRate, len(u.pcm)/SampleRate)
	}
}
