package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/engine"
	"github.com/agentvoice/agentvoice-daemon/audio/hearing"
	"github.com/agentvoice/agentvoice-daemon/audio/voice"
	"github.com/agentvoice/agentvoice-daemon/audio/wavio"
	"github.com/agentvoice/agentvoice-daemon/internal/testutil/speechdata"
	"github.com/agentvoice/agentvoice-daemon/internal/wer"
)

func newBench() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure recognition and voices on this machine",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return misuse{fmt.Errorf("unknown command bench %s; use hearing or voice", args[0])}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newBenchHearing(), newBenchVoice())
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
	return w.Flush()
}

// spokenClip is speech with a known transcript, at the recogniser's sample rate.
type spokenClip struct {
	words string
	pcm   []int16
}

func (c spokenClip) length() time.Duration {
	return time.Duration(len(c.pcm)) * time.Second / hearing.SampleRate
}

func newBenchHearing() *cobra.Command {
	var asJSON bool
	var folder, language string
	var count int
	cmd := &cobra.Command{
		Use:   "hearing",
		Short: "Measure the accuracy and speed of recognition",
		Long: `Measure the accuracy and speed of the installed recognition models and PocketSphinx on
recordings of human speech: those of Debian packages on this machine
(scripts/speech.sh downloads more), or a folder of your own with a text file for each
WAV file. The first recordings are also fed in real time, to measure the delay of the
final text.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			language := spokenLanguage(language)
			clips, err := benchClips(folder, language, count)
			if err != nil {
				return err
			}
			var all []engineFigures
			for _, e := range hearingEngines(language) {
				f, err := benchHearing(cmd.Context(), e, clips)
				if err != nil {
					return err
				}
				all = append(all, f)
			}
			return printFigures(cmd.OutOrStdout(), all, "RECORDINGS", "FINAL AFTER", asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	cmd.Flags().StringVar(&folder, "recordings", "", "folder of WAV files, each with its transcript in a text file of the same name")
	cmd.Flags().StringVar(&language, "language", "", "use recordings in this language (default: the environment's language)")
	cmd.Flags().IntVar(&count, "count", 40, "maximum number of recordings to use")
	return cmd
}

// benchClips loads the recordings in folder, or those of the source tree if folder is empty.
func benchClips(folder, language string, count int) ([]spokenClip, error) {
	if count < 1 {
		return nil, misuse{fmt.Errorf("--count %d: use a number above 0", count)}
	}
	find := func() ([]spokenClip, error) { return knownClips(language) }
	if folder != "" {
		find = func() ([]spokenClip, error) { return ownClips(folder) }
	}
	list, err := find()
	return list[:min(count, len(list))], err
}

func ownClips(folder string) ([]spokenClip, error) {
	files, err := fs.Glob(os.DirFS(folder), "*.wav")
	if err != nil || len(files) == 0 {
		return nil, misuse{errors.New("--recordings: no WAV files in the folder; use a folder of *.wav files, each with a *.txt of the same name")}
	}
	var list []spokenClip
	for _, name := range files {
		words, err := os.ReadFile(filepath.Join(folder, strings.TrimSuffix(name, ".wav")+".txt"))
		if err != nil {
			return nil, misuse{fmt.Errorf("--recordings: %s has no transcript; add %s.txt", name, strings.TrimSuffix(name, ".wav"))}
		}
		pcm, err := wavio.ReadAll(filepath.Join(folder, name))
		if err != nil {
			return nil, err
		}
		if pcm, err = speechdata.Resample(pcm, audio.SampleRate, hearing.SampleRate); err != nil {
			return nil, err
		}
		list = append(list, spokenClip{strings.TrimSpace(string(words)), pcm})
	}
	return list, nil
}

// knownClips returns the recordings of the source tree that have a verified transcript.
func knownClips(language string) ([]spokenClip, error) {
	language, _, _ = strings.Cut(strings.ToLower(language), "-")
	var list []spokenClip
	for _, r := range speechdata.All(speechdata.Utterance, speechdata.Passage) {
		if r.Language != language || r.Words == "" || r.Known == "name" || !r.Present() {
			continue
		}
		clip, err := r.Load()
		if err != nil {
			return nil, err
		}
		pcm, err := speechdata.Resample(clip.PCM, audio.SampleRate, hearing.SampleRate)
		if err != nil {
			return nil, err
		}
		list = append(list, spokenClip{r.Words, pcm})
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("no recordings for language %s; download some with scripts/speech.sh, or use --recordings", language)
	}
	return list, nil
}

// hearingEngine is a recognition engine to measure.
type hearingEngine struct {
	name string
	make hearing.Factory
}

// hearingEngines returns the installed models, and PocketSphinx for English.
func hearingEngines(language string) []hearingEngine {
	var list []hearingEngine
	if l := findSpeech(nil, language); l.hearing != nil {
		list = append(list, hearingEngine{l.hearing.Name(), hearing.Engine(l.hearing)})
	}
	if strings.HasPrefix(strings.ToLower(language), "en") || len(list) == 0 {
		list = append(list, hearingEngine{"PocketSphinx", hearing.PocketSphinx(hearing.PocketSphinxConfig{})})
	}
	return list
}

// pacedClips is how many recordings are fed in real time.
const pacedClips = 5

func benchHearing(ctx context.Context, e hearingEngine, clips []spokenClip) (engineFigures, error) {
	f := engineFigures{Engine: e.name, Items: len(clips)}
	begun := time.Now()
	r, err := e.make()
	if err != nil {
		return f, err
	}
	defer func() { _ = r.Close() }()
	// Warm up: the first utterance waits for the models to load.
	if _, _, err := hear(ctx, r, make([]int16, hearing.SampleRate/2), false); err != nil {
		return f, err
	}
	f.LoadMS = milliseconds(time.Since(begun))
	for _, c := range clips {
		begun := time.Now()
		text, _, err := hear(ctx, r, c.pcm, false)
		if err != nil {
			return f, err
		}
		f.computing += time.Since(begun)
		f.audio += c.length()
		wrong, words := wer.Compute(c.words, text)
		f.Errors, f.Words = f.Errors+wrong, f.Words+words
	}
	for _, c := range clips[:min(pacedClips, len(clips))] {
		_, delay, err := hear(ctx, r, c.pcm, true)
		if err != nil {
			return f, err
		}
		f.delays = append(f.delays, delay)
	}
	f.finish()
	return f, nil
}

// hear recognises one utterance, fed in real time if paced, and measures the time from its end
// to its text.
func hear(ctx context.Context, r hearing.Recognizer, pcm []int16, paced bool) (string, time.Duration, error) {
	if err := r.Start(); err != nil {
		return "", 0, err
	}
	const chunk = hearing.SampleRate * 32 / 1000
	begun, fed := time.Now(), 0
	for piece := range slices.Chunk(pcm, chunk) {
		if err := ctx.Err(); err != nil {
			return "", 0, err
		}
		if fed += len(piece); paced {
			time.Sleep(time.Until(begun.Add(time.Duration(fed) * time.Second / hearing.SampleRate)))
		}
		if err := r.Write(piece); err != nil {
			return "", 0, err
		}
	}
	ended := time.Now()
	result, err := r.Finish()
	return result.Text, time.Since(ended), err
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
		Args: noArguments,
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
		wrong, words := wer.Compute(text, heard)
		f.Errors, f.Words = f.Errors+wrong, f.Words+words
	}
	f.finish()
	return f, nil
}
