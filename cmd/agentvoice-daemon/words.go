package main

import (
	"encoding/json"
	"fmt"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/agentvoice/agentvoice-daemon/internal/vocab"
)

func newWords() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "words [FOLDER]",
		Short: "List the names used to correct transcripts",
		Long: `List the names used to correct transcripts: the user's own from voice-words.md in the home
folder, and those found in a folder (default: the current one) and its voice-words.md. They
are read on each run and not stored.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			folders := workingFolder()
			if len(args) > 0 {
				folders = args
			}
			terms := []vocab.Term{}
			for _, dir := range folders {
				if info, err := os.Stat(dir); err != nil || !info.IsDir() {
					return fmt.Errorf("cannot read the folder %s; pass the folder of your workspace", dir)
				}
			}
			own, replacements := vocab.ReadOwn(wordLists())
			terms = append(terms, own...)
			for _, r := range replacements {
				terms = append(terms, vocab.Term{Text: r.Heard + " = " + r.Written, Kind: vocab.Own})
			}
			listed, ignored := vocab.ReadWorkspace(wordLists(), folders)
			terms = append(terms, listed...)
			if ignored > 0 {
				cmd.PrintErrf("replacements in the folder's %s are ignored (%d); put them into %[1]s in your home folder\n", vocab.ListFile, ignored)
			}
			for _, dir := range folders {
				terms = append(terms, vocab.Collect(cmd.Context(), dir)...)
			}
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(terms)
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			for _, t := range terms {
				_, _ = fmt.Fprintf(w, "%s\t%s\n", t.Kind, t.Text)
			}
			return w.Flush()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}
