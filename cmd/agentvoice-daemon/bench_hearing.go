package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/hearing"
	"github.com/agentvoice/agentvoice-daemon/audio/wavio"
	"github.com/agentvoice/agentvoice-daemon/copilot/spoken"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/internal/assets"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
	"github.com/agentvoice/agentvoice-daemon/internal/testutil/speechdata"
	"github.com/agentvoice/agentvoice-daemon/internal/wer"
)

// answerFigures counts how short answers were understood while one is expected, and what else
// was taken for a yes.
type answerFigures struct {
	// Answers counts recordings of a yes, no, "okay", stop, pause or hum. Right were understood as
	// such; Opposite were taken for one that allows something and are none, or the other way round.
	Answers  int `json:"answers"`
	Right    int `json:"right"`
	Opposite int `json:"opposite"`
	// Others counts sounds that are no answer, and Yes those taken for one that allows
	// something. Taken has what was heard of these.
	Others int      `json:"others"`
	Yes    int      `json:"yes"`
	Taken  []string `json:"taken,omitempty"`
}

// count adds a sound. Its class is that of its words, if they are known.
func (a *answerFigures) count(c spokenClip, heard daemon.Transcript) {
	class, doubted := heard.Means()
	yes := (class == csm.Yes || class == csm.Agree) && !doubted
	switch want := daemon.ClassOf(c.words); want {
	case csm.Yes, csm.No, csm.Agree, csm.Stop, csm.Pause, csm.Backchannel:
		a.Answers++
		switch refused := class == csm.No || class == csm.Stop; {
		case class == want && !doubted:
			a.Right++
		case yes, (want == csm.Yes || want == csm.Agree) && refused:
			a.Opposite++
			a.Taken = append(a.Taken, fmt.Sprintf("%s (%s) as %q", c.name, c.words, heard.Text))
		}
	default:
		a.Others++
		if yes {
			a.Yes++
			a.Taken = append(a.Taken, fmt.Sprintf("%s (%s) as %q", c.name, c.words, heard.Text))
		}
	}
}

func (a *answerFigures) print(out io.Writer, engine string) {
	if a.Answers > 0 {
		fmt.Fprintf(out, "%s: of %d short answers %d right, %d as the opposite\n", engine, a.Answers, a.Right, a.Opposite)
	}
	if a.Others > 0 {
		fmt.Fprintf(out, "%s: of %d other sounds %d taken for a yes\n", engine, a.Others, a.Yes)
	}
	for _, t := range a.Taken {
		fmt.Fprintf(out, "  %s\n", t)
	}
}

// spokenClip is a sound at the recogniser's sample rate, and its words if they are known.
type spokenClip struct {
	name, words string
	pcm         []int16
}

func (c spokenClip) length() time.Duration {
	return time.Duration(len(c.pcm)) * time.Second / hearing.SampleRate
}

func newBenchHearing() *cobra.Command {
	var asJSON, sounds bool
	var folder, language string
	var count int
	cmd := &cobra.Command{
		Use:   "hearing",
		Short: "Measure the accuracy and speed of recognition",
		Long: `Measure the accuracy and speed of the installed recognition models and PocketSphinx on
recordings of human speech: those of Debian packages on this machine
(scripts/speech.sh downloads more), or a folder of your own with a text file for each
WAV file. The first recordings are also fed in real time, to measure the delay of the
final text.

Short answers (yes, no, okay, stop, a hum) are counted too, as while a question is open, and
what else was taken for a yes: among the recordings, and with --sounds among sounds that
are no English words, such as coughs, keys, music, babble and speech in other languages.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkLanguage(language); err != nil {
				return err
			}
			language := spokenLanguage(language)
			clips, err := benchClips(folder, language, count)
			if err != nil {
				return err
			}
			var others []spokenClip
			if sounds {
				if others, err = soundClips(); err != nil {
					return err
				}
			}
			var all []engineFigures
			for _, e := range hearingEngines(language) {
				f, err := benchHearing(cmd.Context(), e, clips, others)
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
	cmd.Flags().BoolVar(&sounds, "sounds", false, "also try sounds that are no English words")
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
		if pcm, err = voiced(pcm); err != nil {
			return nil, err
		}
		list = append(list, spokenClip{name, strings.TrimSpace(string(words)), pcm})
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
		pcm, err := loadVoiced(r)
		if err != nil {
			return nil, err
		}
		list = append(list, spokenClip{r.ID, r.Words, pcm})
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("no recordings for language %s; download some with scripts/speech.sh, or use --recordings", language)
	}
	return list, nil
}

// voiced returns a recording at audio.SampleRate as the embedded server has it when the voice has
// paused, from 300 ms before to 160 ms after it, at the recogniser's sample rate.
func voiced(pcm []int16) ([]int16, error) {
	if label, ok := speechdata.LabelOf(pcm); ok {
		from := max(label.Onset-audio.Samples(300*time.Millisecond), 0)
		pcm = pcm[from:min(label.End+audio.Samples(160*time.Millisecond), int64(len(pcm)))]
	}
	return speechdata.Resample(pcm, audio.SampleRate, hearing.SampleRate)
}

// loadVoiced loads a recording of the source tree.
func loadVoiced(r speechdata.Recording) ([]int16, error) {
	clip, err := r.Load()
	if err != nil {
		return nil, err
	}
	return voiced(clip.PCM)
}

// soundClips loads the recordings that are no English words, cuts music in pieces, and makes
// babble of the passages.
func soundClips() ([]spokenClip, error) {
	var list, music []spokenClip
	var voices [][]int16
	for _, r := range speechdata.All() {
		if r.Language == "en" && r.Kind != speechdata.Passage || !r.Present() {
			continue
		}
		pcm, err := loadVoiced(r)
		if err != nil {
			return nil, err
		}
		switch r.Kind {
		case speechdata.Passage:
			voices = append(voices, pcm)
			continue
		case speechdata.Music:
			music = append(music, cutMusic(r.ID, pcm)...)
			continue
		}
		// Words in another language are no English ones: an Italian "no" has no class here.
		list = append(list, spokenClip{name: r.ID, pcm: pcm})
	}
	if len(list) == 0 {
		return nil, errors.New("--sounds: no recordings; download them with scripts/speech.sh")
	}
	return slices.Concat(list, music, babble(voices)), nil
}

// cutMusic returns five pieces of music, of a second each.
func cutMusic(name string, pcm []int16) (list []spokenClip) {
	const length, pieces = hearing.SampleRate, 5
	for n := range pieces {
		from := max(len(pcm)-length, 0) * n / pieces
		list = append(list, spokenClip{name: fmt.Sprintf("%s %d", name, n+1), pcm: pcm[from:min(from+length, len(pcm))]})
	}
	return list
}

// babble mixes six voices at a time, for a second each time, as loud as one.
func babble(voices [][]int16) (list []spokenClip) {
	const together, length, pieces = 6, hearing.SampleRate, 10
	if len(voices) < together {
		return nil
	}
	for n := range pieces {
		mix := make([]int16, length)
		for k := range together {
			v := voices[(n*together+k)%len(voices)]
			from := (len(v) - length) * (n + 1) / (pieces + 1)
			for i := range mix {
				mix[i] += int16(float64(v[max(from, 0)+i]) / math.Sqrt(together))
			}
		}
		list = append(list, spokenClip{name: fmt.Sprintf("babble %d", n+1), pcm: mix})
	}
	return list
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
		list = append(list, hearingEngine{"PocketSphinx", hearing.PocketSphinx(assets.PocketSphinx)})
	}
	return list
}

// pacedClips is how many recordings are fed in real time.
const pacedClips = 5

// benchHearing measures an engine with clips, and what it takes other sounds for.
func benchHearing(ctx context.Context, e hearingEngine, clips, others []spokenClip) (engineFigures, error) {
	f := engineFigures{Engine: e.name, Items: len(clips), Answers: &answerFigures{}}
	begun := time.Now()
	r, err := e.make()
	if err != nil {
		return f, err
	}
	defer func() { _ = r.Close() }()
	if taker, ok := r.(hearing.AnswerTaker); ok {
		taker.SetExpected(spoken.Answers) // as while a question is open
	}
	// Warm up: the first utterance waits for the models to load.
	if _, _, err := hear(ctx, r, make([]int16, hearing.SampleRate/2), false); err != nil {
		return f, err
	}
	f.LoadMS = milliseconds(time.Since(begun))
	for _, c := range clips {
		begun := time.Now()
		result, _, err := hear(ctx, r, c.pcm, false)
		if err != nil {
			return f, err
		}
		f.computing += time.Since(begun)
		f.audio += c.length()
		wrong, words := wer.Compute(c.words, result.Text)
		f.Errors, f.Words = f.Errors+wrong, f.Words+words
		f.Answers.count(c, transcriptOf(result))
	}
	for _, c := range others {
		result, _, err := hear(ctx, r, c.pcm, false)
		if err != nil {
			return f, err
		}
		f.Answers.count(c, transcriptOf(result))
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

// transcriptOf returns a result as the daemon gets it.
func transcriptOf(r hearing.Result) daemon.Transcript {
	return daemon.Transcript{Text: r.Text, Probs: r.Probs, Answer: (*daemon.Answer)(r.Answer)}
}

// hear recognises one utterance, fed in real time if paced, and measures the time from its end
// to its text.
func hear(ctx context.Context, r hearing.Recognizer, pcm []int16, paced bool) (hearing.Result, time.Duration, error) {
	if err := r.Start(); err != nil {
		return hearing.Result{}, 0, err
	}
	const chunk = hearing.SampleRate * 32 / 1000
	begun, fed := time.Now(), 0
	for piece := range slices.Chunk(pcm, chunk) {
		if err := ctx.Err(); err != nil {
			return hearing.Result{}, 0, err
		}
		if fed += len(piece); paced {
			time.Sleep(time.Until(begun.Add(time.Duration(fed) * time.Second / hearing.SampleRate)))
		}
		if err := r.Write(piece); err != nil {
			return hearing.Result{}, 0, err
		}
	}
	ended := time.Now()
	result, err := r.Finish()
	return result, time.Since(ended), err
}
