package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentvoice/agentvoice-daemon/csm/journal"
)

func newReplay() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "replay JOURNAL...",
		Short: "Replay a journal and verify every state and effect",
		Long: `Replay journals and verify every state and effect. A folder stands for all journals in
it. Consecutive files of one journal (NAME.jsonl, NAME.1.jsonl and so on) are replayed
as one.

A truncated journal, as after a crash, is replayed up to its last complete line, and
the command reports what is missing.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			all, err := journal.ReadFiles(args...)
			if err != nil {
				return err
			}
			for _, j := range all {
				if len(all) > 1 && !asJSON {
					fmt.Fprintf(cmd.OutOrStdout(), "%s:\n", j.Path)
				}
				err = errors.Join(err, replayOne(cmd.OutOrStdout(), j, asJSON))
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object for each journal")
	return cmd
}

// errDiffers is returned after a difference was printed.
var errDiffers = errors.New("replay: this build behaves differently")

func replayOne(out io.Writer, j *journal.Journal, asJSON bool) error {
	begin := time.Now()
	res, err := journal.Replay(j)
	if err != nil {
		return err
	}
	if err := printReplay(out, j, res, time.Since(begin), asJSON); err != nil {
		return err
	}
	switch {
	case res.Difference == nil:
		return nil
	case res.OtherCore: // a core that was changed on purpose
		return fmt.Errorf("%w from build %s, which wrote the journal; replay it with that build", errDiffers, j.Header.Build)
	default:
		return fmt.Errorf("%w from the journal, although the same core wrote it; if nobody changed the file, report this as a bug", errDiffers)
	}
}

func printReplay(out io.Writer, j *journal.Journal, res journal.Result, took time.Duration, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(out).Encode(struct {
			File      string `json:"file"`
			Identical bool   `json:"identical"`
			journal.Result
			More           string `json:"more,omitempty"`
			ConversationMs int64  `json:"conversationMs"`
			TookMicros     int64  `json:"tookMicros"`
		}{j.Path, res.Difference == nil, res, j.More, res.Elapsed.Milliseconds(), took.Microseconds()})
	}
	if res.Difference != nil {
		fmt.Fprintf(out, "replay: different after %d identical events\n%v\n", res.Events, res.Difference)
	} else {
		fmt.Fprintf(out, "replay: identical (%d events, %d transitions, %.1f s of conversation in %v)\n",
			res.Events, res.Phases, res.Elapsed.Seconds(), took.Round(time.Microsecond))
	}
	if res.OtherCore {
		fmt.Fprintf(out, "replay: written by another core (build %s); compared phases and effects only, not states\n", j.Header.Build)
	}
	if res.After > 0 {
		fmt.Fprintf(out, "replay: starts from a snapshot after event %d; earlier events are missing\n", res.After)
	}
	if res.Lost > 0 {
		fmt.Fprintf(out, "replay: %d events are missing or have no outcome; resumed from the next snapshot\n", res.Lost)
	}
	if res.Unfinished != nil {
		fmt.Fprintf(out, "replay: %v\n", res.Unfinished)
	}
	if res.Stops != nil {
		fmt.Fprintf(out, "replay: %v\n", res.Stops)
	}
	if j.More != "" {
		fmt.Fprintf(out, "replay: continued in %s; pass that file too, or the folder\n", j.More)
	}
	return nil
}

// readJournal reads the only journal at path.
func readJournal(path string) (*journal.Journal, error) {
	all, err := journal.ReadFiles(path)
	if err != nil {
		return nil, err
	}
	if len(all) != 1 {
		return nil, misuse{fmt.Errorf("%s holds %d journals; pass the file of one", path, len(all))}
	}
	return all[0], nil
}
