package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/agentvoice/agentvoice-daemon/csm/journal"
	"github.com/agentvoice/agentvoice-daemon/internal/timeline"
)

func newTimeline() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "timeline JOURNAL -o FILE.html",
		Short: "Draw a journal as a self-contained HTML page",
		Args:  oneFile("journal"),
		RunE: func(_ *cobra.Command, args []string) error {
			if output == "" {
				return misuse{errors.New("timeline needs -o FILE.html, the page to write")}
			}
			j, err := readJournal(args[0])
			if err != nil {
				return err
			}
			file, err := os.Create(output)
			if err != nil {
				return fmt.Errorf("make the page: %w", err)
			}
			return errors.Join(timeline.Render(j, file, timeline.Options{Verdict: verdict(j)}), file.Close())
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "page to write")
	return cmd
}

// verdict is what a replay says of a journal, in a few words.
func verdict(j *journal.Journal) string {
	res, err := journal.Replay(j)
	switch {
	case err != nil:
		return "cannot be replayed"
	case res.Difference != nil:
		return fmt.Sprintf("differs at line %d", res.Difference.Line)
	default:
		return "identical"
	}
}
