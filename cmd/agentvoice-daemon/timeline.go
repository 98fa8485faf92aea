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
		Long: `Draw a journal as a self-contained HTML page: states, both voices, what was understood,
and how long each step took. -o - writes it to standard output; --open shows it in the
browser.`,
		Args: oneFile("journal"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if output == "" {
				return misuse{errors.New("timeline needs -o FILE.html, the page to write")}
			}
			if output == "-" && open {
				return misuse{errors.New("--open shows a file in the browser; give -o FILE.html")}
			}
			j, err := readJournal(args[0])
			if err != nil {
				return err
			}
			options := timeline.Options{Verdict: verdict(j)}
			if output == "-" {
				return timeline.Render(j, cmd.OutOrStdout(), options)
			}
			file, err := os.Create(output)
			if err != nil {
				return fmt.Errorf("make the page: %w", err)
			}
			if err := errors.Join(timeline.Render(j, file, options), file.Close()); err != nil || !open {
				return err
			}
			if err := browser.OpenFile(output); err != nil {
				return fmt.Errorf("no browser could be started; open %s yourself: %w", output, err)
			}
			return nil
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "page to write; - for standard output")
	cmd.Flags().BoolVar(&open, "open", false, "show the page in the browser")
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
