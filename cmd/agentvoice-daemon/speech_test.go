package main

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/engine"
	"github.com/agentvoice/agentvoice-daemon/audio/hearing"
	"github.com/agentvoice/agentvoice-daemon/audio/wavio"
	"github.com/agentvoice/agentvoice-daemon/copilot/spoken"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon/live"
)

// A recogniser that does not know the user's language says so when it is made. PocketSphinx
// knows English.
func TestRecogniserOfAnotherLanguage(t *testing.T) {
	for language, want := range map[string]string{"": "", "en": "", "de": "de parakeet-tdt-0.6b-v3-int8", "tlh": "tlh "} {
		got := ""
		r, err := localSpeech{}.recognizers(language, speechReports{language: func(l, model string) { got = l + " " + model }})()
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if got != want {
			t.Errorf("for %q it reports %q, want %q", language, got, want)
		}
	}
}

// Moonshine compares short sounds beside a service, in a process of its own, if it knows the
// language. It does not do so beside itself.
func TestComparer(t *testing.T) {
	if comparer(live.SpeechChoice{Language: "de"}, false) != nil {
		t.Error("it compares German with English answers")
	}
	if comparer(live.SpeechChoice{Language: "en"}, true) != nil {
		t.Error("it compares twice")
	}
	factory := comparer(live.SpeechChoice{Language: "en"}, false)
	if factory == nil {
		t.Fatal("nothing compares")
	}
	r, err := factory()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close() //nolint:errcheck // the test is over
	pcm, err := wavio.ReadAll(filepath.Join("..", "..", "audio", "hearing", "moonshine", "testdata", "stop.wav"))
	if err != nil {
		t.Fatal(err)
	}
	resampler, err := audio.NewResampler(audio.SampleRate, hearing.SampleRate)
	if err != nil {
		t.Fatal(err)
	}
	r.(hearing.AnswerTaker).SetExpected(spoken.Answers)
	if err := errors.Join(r.Start(), r.Write(resampler.Flush(resampler.Process(nil, pcm)))); err != nil {
		t.Fatal(err)
	}
	result, err := r.Finish()
	if err != nil || result.Answer == nil {
		t.Fatalf("the answer is %+v: %v", result.Answer, err)
	}
	if daemon.ClassOf(result.Answer.Phrase) != csm.Stop {
		t.Errorf("the sound is %+v", result.Answer)
	}
}

// Where nothing recognises the user's language, models list and models install say what does and what
// that needs.
func TestModelOfALanguage(t *testing.T) {
	german := listedModel{Use: engine.Finals, Languages: []string{"de"}}
	for _, c := range []struct {
		language string
		change   func(*listedModel)
		want     string
	}{
		{"de", func(*listedModel) {}, "models install parakeet-tdt-0.6b-v3-int8` (meant for 4 cores and 8 GB), or choose a service"},
		{"de", func(m *listedModel) { m.Recommended = true }, ""},
		{"de", func(m *listedModel) { m.Installed = true }, ""},
		{"de", func(m *listedModel) { m.Installed, m.Use = true, engine.Speech }, "models install parakeet"},
		{"tlh", func(*listedModel) {}, "(tlh); choose a service with agentvoice.provider."},
	} {
		m := german
		c.change(&m)
		if got := (catalogue{Language: c.language, Models: []listedModel{m}}).unheard(); !strings.Contains(got, c.want) || got != "" && c.want == "" {
			t.Errorf("%s: %q, want %q", c.language, got, c.want)
		}
	}
}

func TestModelNames(t *testing.T) {
	for setting, want := range map[string]int{"": 0, " ,": 0, "a": 1, "a, b": 2, "a b,c": 3} {
		if got := modelNames(setting); len(got) != want {
			t.Errorf("%q: %q", setting, got)
		}
	}
}

// TestAnswerFigures counts sounds as the daemon understands them while an answer is expected.
func TestAnswerFigures(t *testing.T) {
	sure := func(phrase string) *daemon.Answer { return &daemon.Answer{Phrase: phrase, Lead: 9} }
	unsure := func(phrase string) *daemon.Answer { return &daemon.Answer{Phrase: phrase, Lead: 1} }
	var got answerFigures
	for _, c := range []struct {
		words, heard string
		answer       *daemon.Answer
	}{
		{"Yes.", "Yes, sir.", sure("Yes.")},
		{"Stop.", "Stompin.", sure("Stop.")},
		{"Yes.", "Yes.", unsure("Yes.")}, // asked again
		{"No.", "Know.", nil},
		{"Yes.", "No.", sure("No.")},      // the opposite
		{"Stop.", "Sure.", sure("Sure.")}, // the opposite
		{"Rename the file.", "Rename the file.", nil},
		{"", "Yeah.", unsure("Yeah.")},
		{"", "Yeah.", sure("Yeah.")}, // taken for a yes
	} {
		got.count(spokenClip{name: "x", words: c.words}, daemon.Transcript{Text: c.heard, Probs: daemon.Certain(c.heard).Probs, Answer: c.answer})
	}
	if got.Answers != 6 || got.Right != 2 || got.Opposite != 2 || got.Others != 3 || got.Yes != 1 || len(got.Taken) != 3 {
		t.Errorf("%+v", got)
	}
}
