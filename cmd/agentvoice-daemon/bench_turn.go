package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentvoice/agentvoice-daemon/audio/hearing"
	"github.com/agentvoice/agentvoice-daemon/audio/turns"
	"github.com/agentvoice/agentvoice-daemon/audio/turns/sound"
	"github.com/agentvoice/agentvoice-daemon/audio/vad"
	"github.com/agentvoice/agentvoice-daemon/internal/testutil/speechdata"
)

// leastPause is the shortest pause that is judged: the recogniser's text is known then.
const leastPause = 160 * time.Millisecond

// heardPause is a pause of a recorded voice and the evidence at leastPause.
type heardPause struct {
	end    bool          // of the recording
	length time.Duration // unless it is the end
	turns.Evidence
}

// turnSignal is evidence to measure.
type turnSignal struct {
	name string
	of   func(turns.Evidence) turns.Evidence // keeps the signal
	has  func(turns.Evidence) bool
}

var turnSignals = []turnSignal{
	{"words", func(e turns.Evidence) turns.Evidence { return turns.Evidence{Words: e.Words} }, func(turns.Evidence) bool { return true }},
	{"full stop", func(e turns.Evidence) turns.Evidence { return turns.Evidence{Stop: e.Stop} }, func(e turns.Evidence) bool { return e.Stop != nil }},
	{"sound", func(e turns.Evidence) turns.Evidence { return turns.Evidence{Sound: e.Sound} }, func(e turns.Evidence) bool { return e.Sound != nil }},
	{"all together", func(e turns.Evidence) turns.Evidence { return e }, func(turns.Evidence) bool { return true }},
}

// turnDelays are those of medium eagerness, which the curve scales.
var turnDelays = turns.Delays{Complete: 250 * time.Millisecond, Unclear: 700 * time.Millisecond, Open: 1500 * time.Millisecond}

// turnFigures are the figures of one signal: at each average delay the share of pauses that would
// have ended the turn.
type turnFigures struct {
	Signal string      `json:"signal"`
	Points []turnPoint `json:"points"`
}

type turnPoint struct {
	DelayMS   float64 `json:"delayMs"`
	FalseEnds float64 `json:"falseEnds"`
}

// publishedTurns are the figures of others for an average delay of 300 ms, on recordings of their own.
const publishedTurns = "published, at 300 ms on other recordings: LiveKit v1 9.9 %, turn-1-mini 22.6 %, Smart Turn 35.2 %\n"

// scaledTo returns the delay of each pause so that those of the ends have this mean.
func scaledTo(mean time.Duration, pauses []heardPause, judge func(turns.Evidence) time.Duration) func(heardPause) time.Duration {
	low, high := 0.0, 100.0
	for range 50 {
		by := (low + high) / 2
		sum, n := time.Duration(0), time.Duration(0)
		for _, p := range pauses {
			if p.end {
				sum, n = sum+max(leastPause, time.Duration(by*float64(judge(p.Evidence)))), n+1
			}
		}
		if sum/max(n, 1) > mean {
			high = by
		} else {
			low = by
		}
	}
	return func(p heardPause) time.Duration {
		return max(leastPause, time.Duration(low*float64(judge(p.Evidence))))
	}
}

// falseEnds returns the share of pauses inside the recordings that end the turn.
func falseEnds(pauses []heardPause, delay func(heardPause) time.Duration) float64 {
	wrong, all := 0, 0
	for _, p := range pauses {
		if p.end {
			continue
		}
		if all++; p.length >= delay(p) {
			wrong++
		}
	}
	return float64(wrong) / float64(max(all, 1))
}

// turnCurve returns the figures of silence and of each signal that any pause has.
func turnCurve(pauses []heardPause) (all []turnFigures) {
	add := func(name string, judge func(turns.Evidence) time.Duration) {
		f := turnFigures{Signal: name}
		for _, mean := range []time.Duration{300 * time.Millisecond, 500 * time.Millisecond} {
			f.Points = append(f.Points, turnPoint{milliseconds(mean), falseEnds(pauses, scaledTo(mean, pauses, judge))})
		}
		all = append(all, f)
	}
	add("silence", func(turns.Evidence) time.Duration { return time.Second })
	for _, s := range turnSignals {
		if slices.ContainsFunc(pauses, func(p heardPause) bool { return s.has(p.Evidence) }) {
			add(s.name, func(e turns.Evidence) time.Duration { return turnDelays.Judge(s.of(e)).Delay })
		}
	}
	return all
}

func newBenchTurn() *cobra.Command {
	var asJSON bool
	var folder string
	var count int
	cmd := &cobra.Command{
		Use:   "turn",
		Short: "Measure how well the end of a turn is told from a pause",
		Long: `Measure, on recordings of sentences, what share of the pauses inside them would have ended
the turn, if the ends of the sentences are noticed after 300 and 500 ms on average: by silence alone,
by the words, by the full stop that the recogniser hears, by the sound of the voice (with Smart Turn
installed), and by all together. The delays are scaled to that average; nothing else is fitted to the
recordings. They are those of Debian packages on this machine (scripts/speech.sh downloads more), or a
folder of your own with a text file for each WAV file.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			clips, err := turnClips(folder, count)
			if err != nil {
				return err
			}
			pauses, err := benchPauses(cmd.Context(), clips)
			if err != nil {
				return err
			}
			return printTurns(cmd.OutOrStdout(), pauses, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	cmd.Flags().StringVar(&folder, "recordings", "", "folder of WAV files, each with its transcript in a text file of the same name")
	cmd.Flags().IntVar(&count, "count", 200, "maximum number of recordings to use")
	return cmd
}

// turnClips returns the recordings in folder, or the English passages and sentences of people that are
// on this machine.
func turnClips(folder string, count int) (list []spokenClip, err error) {
	if folder != "" {
		return benchClips(folder, "en", count)
	}
	if count < 1 {
		return nil, misuse{fmt.Errorf("--count %d: use a number above 0", count)}
	}
	for _, r := range speechdata.All(speechdata.Passage, speechdata.Utterance) {
		if r.Language != "en" || !r.Present() || len(list) == count {
			continue
		}
		pcm, err := loadVoiced(r)
		if err != nil {
			return nil, err
		}
		list = append(list, spokenClip{r.ID, r.Words, pcm})
	}
	return list, nil
}

func printTurns(out io.Writer, pauses []heardPause, asJSON bool) error {
	ends := 0
	for _, p := range pauses {
		if p.end {
			ends++
		}
	}
	if ends == len(pauses) {
		return misuse{errors.New("the recordings have no pauses; use --recordings with a folder of others")}
	}
	all := turnCurve(pauses)
	if asJSON {
		return json.NewEncoder(out).Encode(all)
	}
	fmt.Fprintf(out, "%d pauses of %v and longer in %d recordings\n", len(pauses)-ends, leastPause, ends)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "FALSE ENDS\tAT 300 MS\tAT 500 MS")
	for _, f := range all {
		fmt.Fprintf(w, "%s\t%.1f %%\t%.1f %%\n", f.Signal, 100*f.Points[0].FalseEnds, 100*f.Points[1].FalseEnds)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := io.WriteString(out, publishedTurns)
	return err
}

// benchPauses finds the pauses of recordings and asks the engines for the evidence.
func benchPauses(ctx context.Context, clips []spokenClip) ([]heardPause, error) {
	ear, err := hearingEngines("en")[0].make()
	if err != nil {
		return nil, err
	}
	defer func() { _ = ear.Close() }()
	detector, err := silero()
	if err != nil {
		return nil, err
	}
	defer func() { _ = detector.Close() }()
	var listener sound.Listener
	if l := findSpeech(nil, "en"); l.turnEnd != nil {
		listener = l.listener(func(error) {})()
		defer func() { _ = listener.Close() }()
	}
	var all []heardPause
	for _, c := range clips {
		pauses, err := pausesOf(detector, c.pcm)
		if err != nil {
			return nil, err
		}
		for _, p := range pauses {
			if p.Evidence, err = evidenceAt(ctx, ear, listener, c.pcm[:p.at]); err != nil {
				return nil, err
			}
			all = append(all, p.heardPause)
		}
	}
	return all, nil
}

// pauseAt is a pause, and the sample at which it is judged.
type pauseAt struct {
	heardPause
	at int
}

// pausesOf returns the pauses of a recording by the thresholds of the endpointer.
func pausesOf(d vad.Detector, pcm []int16) (list []pauseAt, err error) {
	d.Reset()
	at := func(start int) int { return start + int(leastPause.Seconds()*hearing.SampleRate) }
	spoken, quiet := false, -1
	for from := 0; from+vad.WindowSamples <= len(pcm); from += vad.WindowSamples {
		p, err := d.Process(pcm[from : from+vad.WindowSamples])
		switch {
		case err != nil:
			return nil, err
		case p >= 0.5:
			length := time.Duration(from-quiet) * time.Second / hearing.SampleRate
			if spoken && quiet >= 0 && length >= leastPause {
				list = append(list, pauseAt{heardPause{length: length}, at(quiet)})
			}
			spoken, quiet = true, -1
		case p < 0.35 && spoken && quiet < 0:
			quiet = from
		}
	}
	if !spoken {
		return nil, nil
	}
	if quiet < 0 {
		quiet = len(pcm)
	}
	return append(list, pauseAt{heardPause{end: true}, min(at(quiet), len(pcm))}), nil
}

// evidenceAt returns what the engines say of a voice that has paused.
func evidenceAt(ctx context.Context, ear hearing.Recognizer, listener sound.Listener, pcm []int16) (e turns.Evidence, err error) {
	if err := ear.Start(); err != nil {
		return e, err
	}
	if err := ear.Write(pcm); err != nil {
		return e, err
	}
	r, err := ear.Finish()
	if err != nil {
		return e, err
	}
	e.Words, e.Stop = strings.TrimSuffix(r.Text, "."), r.Stop
	if listener != nil {
		complete, err := listener.Complete(ctx.Done(), pcm)
		if err != nil {
			return e, err
		}
		e.Sound = &complete
	}
	return e, ctx.Err()
}
