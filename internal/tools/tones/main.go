// Tones generates a recording of a person who speaks the tone language, and the
// models that understand it and answer in tones. `make run-tones` plays the
// recording.
//
//	tones -o out/tones/recording.wav -ref out/tones/recording.txt -models out/tones/models
//
// The recording is that of tonemodel.Talk. Arguments are sentences to speak instead
// of the default ones.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/audio/wavio"
	"github.com/agentvoice/agentvoice-daemon/internal/testutil/speechdata"
	"github.com/agentvoice/agentvoice-daemon/internal/testutil/tonemodel"
)

// sentences are the spoken sentences, one turn each. The turn that stops at "and"
// continues after a pause that would end a complete sentence.
var sentences = []string{"why does the test fail", "open the file and|run it", "which test is slow"}

func main() {
	out := flag.String("o", "out/tones/recording.wav", "`file` for the recording, 16-bit mono at 16 kHz")
	reference := flag.String("ref", "out/tones/recording.txt", "`file` for the words, one turn per line")
	models := flag.String("models", "out/tones/models", "`folder` for the models")
	pause := flag.Float64("pause", 16, "silence for an answer, in `seconds`")
	flag.Parse()
	if flag.NArg() > 0 {
		sentences = flag.Args()
	}
	if err := run(*out, *reference, *models, *pause); err != nil {
		fmt.Fprintln(os.Stderr, "tones:", err)
		os.Exit(1)
	}
}

func run(out, reference, models string, pause float64) error {
	if err := os.RemoveAll(models); err != nil {
		return err
	}
	err := errors.Join(os.MkdirAll(filepath.Dir(out), 0o755), tonemodel.StreamingCTC(filepath.Join(models, "streaming")),
		tonemodel.TDT(filepath.Join(models, "tdt")), tonemodel.Voice(filepath.Join(models, "voice")))
	if err != nil {
		return err
	}
	human, err := speechdata.Person()
	if err != nil {
		return err
	}
	pcm := tonemodel.Talk(human, pause, sentences...)
	text := strings.ReplaceAll(strings.Join(sentences, "\n"), "|", " ") + "\n"
	return errors.Join(wavio.WriteMono(out, tonemodel.SampleRate, pcm), os.WriteFile(reference, []byte(text), 0o644))
}
