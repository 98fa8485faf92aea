// Verdict checks a recorded conversation: enough turns, enough interruptions, and a
// low enough word error rate. `make run` ends with it.
//
//	verdict -journal out/journal.jsonl -reference out/recording.txt -turns 3 -interrupted 1 -wer 40
//
// It reads the journal, which must be a full one to have the words, and does not need
// the process that wrote it.
package main

import (
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
	interrupted int     // minimum
	wer         float64 // maximum in percent, exclusive
}

func main() {
	var d demands
	path := flag.String("journal", "out/journal.jsonl", "`file` with the full journal of the conversation")
	reference := flag.String("reference", "out/recording.txt", "`file` with what the user said")
	flag.IntVar(&d.turns, "turns", 3, "minimum number of turns")
	flag.IntVar(&d.interrupted, "interrupted", 1, "minimum number of interrupted turns")
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
	return judge(timeline.Latencies(j), string(said), d, out)
}

// summarise prints the figures of the interruptions by voice.
func summarise(turns []timeline.Turn, out io.Writer) {
	for _, s := range timeline.InterruptionStages {
		if stat := timeline.Summarise(turns, s.Of); stat.N > 0 {
			fmt.Fprintf(out, "%-10s %4d ms  %s (median of %d)\n", strings.ToLower(s.Name), stat.P50.Milliseconds(), s.Meaning, stat.N)
		}
	}
}

func judge(turns []timeline.Turn, reference string, d demands, out io.Writer) error {
	var heard []string
	answered, interrupted := 0, 0
	for _, t := range turns {
		heard = append(heard, t.Said)
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
	fmt.Fprintf(out, "conversation: %d turns answered, %d interrupted, word error rate %.1f %%\n", answered, interrupted, rate)
	summarise(turns, out)
	switch {
	case answered+interrupted < d.turns:
		return fmt.Errorf("%d turns, want at least %d", answered+interrupted, d.turns)
	case interrupted < d.interrupted:
		return fmt.Errorf("%d interrupted turns, want at least %d", interrupted, d.interrupted)
	case rate >= d.wer:
		return fmt.Errorf("word error rate %.1f %%, want less than %.0f %%", rate, d.wer)
	}
	return nil
}
