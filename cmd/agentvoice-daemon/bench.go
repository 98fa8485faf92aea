package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentvoice/agentvoice-daemon/audio/engine"
	"github.com/agentvoice/agentvoice-daemon/audio/hearing"
	"github.com/agentvoice/agentvoice-daemon/audio/voice"
	"github.com/agentvoice/agentvoice-daemon/internal/testutil/speechdata"
	"github.com/agentvoice/agentvoice-daemon/internal/wer"
)

func newBench() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure recognition, voices and the end of turns on this machine",
	}
	cmd.AddCommand(newBenchHearing(), newBenchTurn(), newBenchVoice())
	return cmd
}

// engineFigures holds the measurements of one engine.
type engineFigures struct {
	Engine string `json:"engine"`
	// Items counts recordings or sentences.
	Items int `json:"items"`
	// Words counts the words of the recordings and Errors the word errors. For a voice, Errors
	// counts the words that a recogniser misheard.
	Words         int     `json:"words"`
	Errors        int     `json:"errors"`
	WordErrorRate float64 `json:"wordErrorRate"`
	// RealTimeFactor is computing time divided by audio duration.
	RealTimeFactor float64 `json:"realTimeFactor"`
	LoadMS         float64 `json:"loadMs"`
	// DelayMS is the median delay: from the end of speech to the final text, or from a text to
	// its first audio.
	DelayMS float64 `json:"delayMs"`

	// Answers counts how short answers and other sounds were understood; only for recognition.
	Answers *answerFigures `json:"answers,omitempty"`

	audio, computing time.Duration
	delays           []time.Duration
}

func (f *engineFigures) finish() {
	if f.Words > 0 {
		f.WordErrorRate = float64(f.Errors) / float64(f.Words)
	}
	if f.audio > 0 {
		f.RealTimeFactor = f.computing.Seconds() / f.audio.Seconds()
	}
	if n := len(f.delays); n > 0 {
		slices.Sort(f.delays)
		f.DelayMS = milliseconds(f.delays[n/2])
	}
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// printFigures writes a table or a JSON array.
func printFigures(out io.Writer, all []engineFigures, items, delay string, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(out).Encode(all)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "ENGINE\t%s\tWORD ERRORS\tREAL-TIME FACTOR\t%s\tLOADED IN\n", items, delay)
	for _, f := range all {
		fmt.Fprintf(w, "%s\t%d\t%.1f %% of %d\t%.3f\t%.0f ms\t%.0f ms\n", f.Engine, f.Items, 100*f.WordErrorRate, f.Words, f.RealTimeFactor, f.DelayMS, f.LoadMS)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, f := range all {
		if f.Answers != nil {
			f.Answers.print(out, f.Engine)
		}
	}
	return nil
}

// benchSentences are typical sentences of a coding assistant.
var benchSentences = []string{
	"All tests pass.",
	"I changed two files, and the build is green again.",
	"The function returns an error when the list is empty.",
	"Shall I run the command in the terminal?",
	"There are three places that call this method, and one of them ignores the result.",
	"The branch is two commits behind, so I would rebase it first.",
}

func newBenchVoice() *cobra.Command {
	var asJSON bool
	var texts []string
	cmd := &cobra.Command{
		Use:   "voice",
		Short: "Measure the latency, speed and clarity of the voices",
		Long: `Measure the latency and speed of the installed voice and Flite, and how many words the
local recogniser mishears. Nothing is played. The sentences are English; for a voice in
another language, use --text.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(texts) == 0 {
				texts = benchSentences
			}
			ear, err := hearingEngines("")[0].make()
			if err != nil {
				return err
			}
			defer func() { _ = ear.Close() }()
			voices := []voiceEngine{{"Flite", voice.Flite()}}
			if l := findSpeech(nil, ""); l.voice != nil {
				voices = slices.Insert(voices, 0, voiceEngine{l.voice.Name(), onlyVoice(l.voice)})
			}
			var all []engineFigures
			for _, v := range voices {
				f, err := benchVoice(cmd.Context(), v, ear, texts)
				if err != nil {
					return err
				}
				all = append(all, f)
			}
			return printFigures(cmd.OutOrStdout(), all, "SENTENCES", "FIRST AUDIO", asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	cmd.Flags().StringArrayVar(&texts, "text", nil, "sentence to speak (repeatable)")
	return cmd
}

// voiceEngine is a voice to measure.
type voiceEngine struct {
	name string
	make voice.Factory
}

// onlyVoice returns a factory for e without a fallback, so that failures are reported.
func onlyVoice(e *engine.Engine) voice.Factory {
	return voice.Engine(e, "", nil, func(error) {})
}

func benchVoice(ctx context.Context, v voiceEngine, ear hearing.Recognizer, texts []string) (engineFigures, error) {
	f := engineFigures{Engine: v.name, Items: len(texts)}
	begun := time.Now()
	s, err := v.make()
	if err != nil {
		return f, err
	}
	defer func() { _ = s.Close() }()
	voice := s.Voices()[0]
	if err := s.Speak(ctx, voice, "Hello.", func([]int16, int) error { return nil }); err != nil {
		return f, err
	}
	f.LoadMS = milliseconds(time.Since(begun))
	for _, text := range texts {
		var said []int16
		rate := 0
		begun, first := time.Now(), time.Duration(0)
		err := s.Speak(ctx, voice, text, func(pcm []int16, hz int) error {
			if len(said) == 0 {
				first = time.Since(begun)
			}
			said, rate = append(said, pcm...), hz
			return nil
		})
		if err != nil {
			return f, err
		}
		if len(said) == 0 {
			return f, fmt.Errorf("%s produced no audio for %q; use another --text", v.name, text)
		}
		f.computing += time.Since(begun)
		f.delays = append(f.delays, first)
		f.audio += time.Duration(len(said)) * time.Second / time.Duration(rate)
		if said, err = speechdata.Resample(said, rate, hearing.SampleRate); err != nil {
			return f, err
		}
		heard, _, err := hear(ctx, ear, said, false)
		if err != nil {
			return f, err
		}
		wrong, words := wer.Compute(text, heard.Text)
		f.Errors, f.Words = f.Errors+wrong, f.Words+words
	}
	f.finish()
	return f, nil
}
