package main

import (
	"testing"

	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
)

// A recogniser that does not know the user's language says so when it is made. PocketSphinx
// knows English.
func TestRecogniserOfAnotherLanguage(t *testing.T) {
	for language, want := range map[string]string{"": "", "en": "", "de": "de"} {
		got := ""
		r, err := localSpeech{}.recognizers(language, speechReports{language: func(l string) { got = l }})()
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
