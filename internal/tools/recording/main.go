// Recording generates a recording of a person who talks with the assistant: human
// sentences and recorded questions with pauses between them, as a microphone would
// capture one side of the conversation. `make run` and the benchmarks play it.
//
//	go run -tags nolibopusfile ./internal/tools/recording -o out/recording.wav -ref out/recording.txt
//
// # Model
//
// A recording consists of rounds of four turns: a human sentence; a second human
// voice that interrupts its answer; and two questions about the workspace in two
// voices of Kokoro-82M, recorded. Each pause is long enough for the offline assistant's answer,
// except for the one that is interrupted. With -questions it contains that many
// questions instead, to measure how soon an answer is heard; with -demo, the conversation
// of `make run` about the project in testdata/demo.
//
// # Invariants
//
//   - Runs with the same arguments generate the same bytes.
//   - Between the voices there is faint noise, as in a quiet room, never digital
//     silence.
//   - The reference has the words of all turns in order, one turn per line.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio/wavio"
)

// rate of the recording, in Hz.
const rate = 16000

// options are the command line.
type options struct {
	out, reference, labels string
	speech                 string // folder of the human speech
	atLeast                time.Duration
	questions              int // 0 for rounds
	demo                   bool
	pauses                 pauses
}

func main() {
	o, err := parse(os.Args[1:], os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		os.Exit(2) // the flag package has printed the reason
	}
	if err := run(o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "recording:", err)
		os.Exit(1)
	}
}

func parse(args []string, errOut io.Writer) (options, error) {
	var o options
	fs := flag.NewFlagSet("recording", flag.ContinueOnError)
	fs.SetOutput(errOut)
	fs.StringVar(&o.out, "o", "out/recording.wav", "`file` for the recording, 16-bit mono at 16 kHz")
	fs.StringVar(&o.reference, "ref", "out/recording.txt", "`file` for the words, one turn per line")
	fs.StringVar(&o.labels, "labels", "", "`file` for the labels (position, speaker, words) as JSON; empty for none")
	fs.StringVar(&o.speech, "speech", systemSpeechDir, "`folder` with the test data of PocketSphinx, human speech with transcripts")
	minutes := fs.Float64("minutes", 0, "minimum length in minutes; 0 for one round")
	fs.IntVar(&o.questions, "questions", 0, "number of questions, instead of rounds; 0 for rounds")
	fs.BoolVar(&o.demo, "demo", false, "the conversation of make run, instead of rounds")
	fs.DurationVar(&o.pauses.lead, "lead", 1500*time.Millisecond, "silence before the first turn")
	fs.DurationVar(&o.pauses.interrupt, "interrupt-after", 5*time.Second, "pause before the turn that interrupts an answer")
	fs.DurationVar(&o.pauses.long, "long", 21*time.Second, "pause for an answer of several sentences")
	fs.DurationVar(&o.pauses.short, "short", 7*time.Second, "pause for an answer of one sentence")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	if fs.NArg() > 0 || *minutes < 0 || *minutes > 60 || o.questions < 0 || o.questions > 100 {
		err := fmt.Errorf("use flags only, at most 60 minutes, and at most 100 questions; see -help")
		fmt.Fprintln(errOut, "recording:", err)
		return o, err
	}
	o.atLeast = time.Duration(*minutes * float64(time.Minute))
	return o, nil
}

// run generates the recording and prints a summary.
func run(o options, out io.Writer) error {
	voices, err := newVoices(o.speech)
	if err != nil {
		return err
	}
	var rec recording
	if o.demo {
		rec, err = assembleDemo(voices, o.pauses.lead)
	} else {
		rec, err = assemble(voices, o)
	}
	if err != nil {
		return err
	}
	if err := write(o, rec); err != nil {
		return err
	}
	fmt.Fprintf(out, "recording: %d turns, %.1f s\n", len(rec.labels), float64(len(rec.pcm))/rate)
	return nil
}

func write(o options, rec recording) error {
	for _, path := range []string{o.out, o.reference, o.labels} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
	}
	if err := wavio.WriteMono(o.out, rate, rec.pcm); err != nil {
		return err
	}
	var text strings.Builder
	for _, l := range rec.labels {
		text.WriteString(l.Text + "\n")
	}
	if err := os.WriteFile(o.reference, []byte(text.String()), 0o644); err != nil {
		return err
	}
	if o.labels == "" {
		return nil
	}
	b, err := json.MarshalIndent(rec.labels, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(o.labels, append(b, '\n'), 0o644)
}
