package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentvoice/agentvoice-daemon/csm/journal"
	"github.com/agentvoice/agentvoice-daemon/internal/models"
)

func newJournals() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "journals",
		Short: "List recorded journals",
	}
	var asJSON bool
	list := &cobra.Command{
		Use:   "list [FOLDER]",
		Short: "List the journals in a folder, newest first",
		Long: `List the journals in a folder, newest first: start time, whether it contains
transcripts, and size. Without a folder, list the journals that an editor saved.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			all, err := findJournals(args)
			if err != nil {
				return err
			}
			return printJournals(cmd.OutOrStdout(), all, asJSON)
		},
	}
	list.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	cmd.AddCommand(list)
	return cmd
}

// findJournals lists the journals in the folder that args name, or in the default folder, which
// need not exist.
func findJournals(args []string) ([]journal.Info, error) {
	folder := journalDir()
	if len(args) > 0 {
		folder = args[0]
		switch info, err := os.Stat(folder); {
		case err != nil:
			return nil, fmt.Errorf("cannot read the folder %s: %w; pass another folder", folder, withoutPath(err))
		case !info.IsDir():
			return nil, misuse{fmt.Errorf("%s is a file; pass its folder, or use replay", folder)}
		}
	}
	all, err := journal.List(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	slices.SortStableFunc(all, func(a, b journal.Info) int { return b.Changed.Compare(a.Changed) })
	return all, err
}

func printJournals(out io.Writer, all []journal.Info, asJSON bool) error {
	if asJSON {
		type row struct {
			File    string     `json:"file"`
			Started *time.Time `json:"started,omitempty"`
			Changed time.Time  `json:"changed"`
			Words   bool       `json:"words"`
			Files   int        `json:"files"`
			Bytes   int64      `json:"bytes"`
			Problem string     `json:"problem,omitempty"`
		}
		rows := []row{}
		for _, j := range all {
			r := row{File: j.Path, Changed: j.Changed, Words: j.Header.Content == journal.Full, Files: j.Files, Bytes: j.Bytes}
			if j.Problem != nil {
				r.Problem = j.Problem.Error()
			} else {
				r.Started = &j.Header.Started
			}
			rows = append(rows, r)
		}
		return json.NewEncoder(out).Encode(rows)
	}
	if len(all) == 0 {
		_, err := fmt.Fprintln(out, "no journals; record one with talk --journal FOLDER, or save one from the editor")
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "STARTED\tLAST WRITTEN\tWORDS\tSIZE\tFILE")
	for _, j := range all {
		changed := j.Changed.Local().Format(time.DateTime)
		if j.Problem != nil {
			fmt.Fprintf(w, "-\t%s\t-\t%s\t%v\n", changed, models.FormatSize(j.Bytes), j.Problem)
			continue
		}
		file := j.Path
		if j.Files > 1 {
			file += fmt.Sprintf(" and %d more", j.Files-1)
		}
		words := "no"
		if j.Header.Content == journal.Full {
			words = "yes"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", j.Header.Started.Local().Format(time.DateTime), changed, words, models.FormatSize(j.Bytes), file)
	}
	return w.Flush()
}
