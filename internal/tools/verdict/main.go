// Verdict checks a recorded conversation: the number of turns, enough interruptions and
// tool calls, and a low enough word error rate. It prints the figures beside their goals.
// `make run` ends with it.
//
//	verdict -journal out/journal.jsonl -reference out/recording.txt -turns 3 -interrupted 1 -tools 1 -wer 40
//
// It reads the journal, which must be a full one to have the words, and does not need
// the process that wrote it.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/journal"
	"github.com/agentvoice/agentvoice-daemon/internal/timeline"
	"github.com/agentvoice/agentvoice-daemon/internal/wer"
)

// demands are the requirements for a conversation.
type demands struct {
	turns       int     // minimum, answered or interrupted
	most        int     // maximum of turns; 0 for any number
	interrupted int     // minimum
	tools       int     // minimum of calls that were allowed and ran
	wer         float64 // maximum in percent, exclusive
}

func main() {
	var d demands
	path := flag.String("journal", "out/journal.jsonl", "`file` with the full journal of the conversation")
	reference := flag.String("reference", "out/recording.txt", "`file` with what the user said")
	flag.IntVar(&d.turns, "turns", 3, "minimum number of turns")
	flag.IntVar(&d.most, "most", 0, "maximum number of turns, for a sentence with a pause that must be one; 0 for any number")
	flag.IntVar(&d.interrupted, "interrupted", 1, "minimum number of interrupted turns")
	flag.IntVar(&d.tools, "tools", 0, "minimum number of tool calls that ran")
	flag.Float64Var(&d.wer, "wer", 40, "maximum word error rate in percent, exclusive")
	flag.Parse()
	if err := run(*path, *reference, d, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "verdict:", err)
		os.Exit(1)
	}
}

func run(path, reference string, d demands, out io.Writer) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // read-only
	j, err := journal.Read(file)
	if err != nil {
		return err
	}
	said, err := os.ReadFile(reference)
	if err != nil {
		return err
	}
	heard, tools, err := words(j)
	if err != nil {
		return err
	}
	return judge(timeline.Latencies(j), heard, tools, string(said), d, out)
}

// words returns everything that was heard, commands and answers to questions included, as it was
// sent, and the number of tool calls that ran.
func words(j *journal.Journal) (heard []string, tools int, err error) {
	for _, line := range j.Lines {
		switch {
		case line.Event == csm.KindToolDone.String():
			tools++
		case line.Note == journal.NoteWords:
			var w journal.Words
			if err := json.Unmarshal(line.Data, &w); err != nil {
				return nil, 0, err
			}
			switch {
			case w.Kind == "utterance":
				heard = append(heard, w.Text)
			case w.Kind == "joined" && w.Of <= len(heard):
				heard = append(heard[:len(heard)-w.Of], w.Text)
			}
		}
	}
	return heard, tools, nil
}

// goals are the limits of figures in milliseconds, by the name of their stage: PER-002 for
// Listening, and those of docs/design/interruptions.md.
var goals = map[string]int{"Decided": 150, "Listening": 400}

// summarise prints the delay of the answers, and the figures of the interruptions by voice.
func summarise(turns []timeline.Turn, out io.Writer) {
	reply := timeline.Stage{Name: "Reply", Meaning: "end of speech to the first audio of the answer", Of: func(t timeline.Turn) timeline.Latency { return t.FirstAudio }}
	for _, s := range append([]timeline.Stage{reply}, timeline.InterruptionStages...) {
		stat := timeline.Summarise(turns, s.Of)
		if stat.N == 0 {
			continue
		}
		goal := ""
		if ms := goals[s.Name]; ms > 0 {
			goal = fmt.Sprintf("; goal %d ms", ms)
		}
		fmt.Fprintf(out, "%-10s %4d ms  %s (median of %d)%s\n", strings.ToLower(s.Name), stat.P50.Milliseconds(), s.Meaning, stat.N, goal)
	}
}

func judge(turns []timeline.Turn, heard []string, tools int, reference string, d demands, out io.Writer) error {
	answered, interrupted := 0, 0
	for _, t := range turns {
		switch t.End {
		case csm.Answered:
			answered++
		case csm.TurnCutOff:
			interrupted++
		}
	}
	wrong, words := wer.Compute(reference, strings.Join(heard, " "))
	if words == 0 {
		return errors.New("the reference has no words")
	}
	rate := 100 * float64(wrong) / float64(words)
	fmt.Fprintf(out, "%-10s %4d     answered, %d interrupted, %d tool calls\n", "turns", answered, interrupted, tools)
	fmt.Fprintf(out, "%-10s %4.1f %%  of the words were misheard; goal %.0f %%\n", "errors", rate, d.wer)
	summarise(turns, out)
	switch {
	case answered+interrupted < d.turns:
		return fmt.Errorf("%d turns, want at least %d", answered+interrupted, d.turns)
	case d.most > 0 && answered+interrupted > d.most:
		return fmt.Errorf("%d turns, want at most %d", answered+interrupted, d.most)
	case interrupted < d.interrupted:
		return fmt.Errorf("%d interrupted turns, want at least %d", interrupted, d.interrupted)
	case tools < d.tools:
		return fmt.Errorf("%d tool calls, want at least %d", tools, d.tools)
	case rate >= d.wer:
		return fmt.Errorf("word error rate %.1f %%, want less than %.0f %%", rate, d.wer)
	}
	return nil
}
