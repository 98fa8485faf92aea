package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/cli/browser"
	"github.com/spf13/cobra"

	"github.com/agentvoice/agentvoice-daemon/csm/journal"
	"github.com/agentvoice/agentvoice-daemon/internal/timeline"
)

func newTimeline() *cobra.Command {
	var output string
	var open bool
	cmd := &cobra.Command{
		Use:   "timeline JOURNAL -o FILE.html",
		Short: "Draw a journal as a self-contained HTML page",
		Long: `Draw a journal as a self-contained HTML page with states, both voices, transcripts and
the duration of each step. -o - writes to standard output; --open opens the page in the
browser.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if output == "" {
				return misuse{fmt.Errorf("-o is missing; use `%s %s`", cmd.Parent().CommandPath(), cmd.Use)}
			}
			if output == "-" && open {
				return misuse{errors.New("--open requires a file; use -o FILE.html")}
			}
			j, err := readJournal(args[0])
			if err != nil {
				return err
			}
			options := timeline.Options{Verdict: verdict(j)}
			if output == "-" {
				return timeline.Render(j, cmd.OutOrStdout(), options)
			}
			err = ownersOnly(output) // the page has the words of the journal
			if err != nil {
				return fmt.Errorf("cannot make the page private: %w; use a file of your own, or a new one", err)
			}
			file, err := os.OpenFile(output, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
			if err != nil {
				return fmt.Errorf("-o %s: %w; use a writable file in an existing folder", output, withoutPath(err))
			}
			if err := errors.Join(timeline.Render(j, file, options), file.Close()); err != nil || !open {
				return err
			}
			if err := browser.OpenFile(output); err != nil {
				return fmt.Errorf("cannot start a browser; open %s yourself: %w", output, err)
			}
			return nil
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "output file; - for standard output")
	cmd.Flags().BoolVar(&open, "open", false, "open the page in the browser")
	return cmd
}

// verdict summarises the replay of a journal.
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
