package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentvoice/agentvoice-daemon/csm/journal"
)

func newReplay() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "replay JOURNAL",
		Short: "Replay a journal and compare every state and effect with the record",
		Args:  oneFile("journal"),
		RunE: func(cmd *cobra.Command, args []string) error {
			j, err := readJournal(args[0])
			if err != nil {
				return err
			}
			begin := time.Now()
			res, err := journal.Replay(j)
			if err != nil {
				return err
			}
			return printReplay(cmd.OutOrStdout(), res, time.Since(begin), asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// errDiffers is how replay ends when it found a difference, which it printed.
var errDiffers = errors.New("replay: the journal and this build differ; it was changed after it was written, or another build wrote it")

func printReplay(out io.Writer, res journal.Result, took time.Duration, asJSON bool) error {
	if asJSON {
		if err := json.NewEncoder(out).Encode(struct {
			Identical bool `json:"identical"`
			journal.Result
			ConversationMs int64 `json:"conversationMs"`
			TookMicros     int64 `json:"tookMicros"`
		}{res.Difference == nil, res, res.Elapsed.Milliseconds(), took.Microseconds()}); err != nil {
			return err
		}
	} else if res.Difference != nil {
		fmt.Fprintf(out, "replay: different after %d identical events\n%v\n", res.Events, res.Difference)
	} else {
		fmt.Fprintf(out, "replay: identical (%d events, %d transitions, %.1f s of conversation in %v)\n",
			res.Events, res.Phases, res.Elapsed.Seconds(), took.Round(time.Microsecond))
	}
	if res.Difference != nil {
		return errDiffers
	}
	return nil
}

// oneFile wants one argument, a file of some kind.
func oneFile(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return misuse{fmt.Errorf("%s needs one %s file; it got %d", cmd.Name(), what, len(args))}
		}
		return nil
	}
}

func readJournal(path string) (*journal.Journal, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open the journal: %w", err)
	}
	defer file.Close() //nolint:errcheck // it was only read
	return journal.Read(file)
}
