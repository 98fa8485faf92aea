package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/agentvoice/agentvoice-daemon/copilot/spoken"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

func newCommands() *cobra.Command {
	var locale string
	cmd := &cobra.Command{
		Use:   "commands",
		Short: "List the voice commands, and check your own phrases",
		Long: `List the voice commands: what each does, and its first phrase. docs/voice-commands.md
lists all phrases. The command also checks ` + commandFile + ` in your home folder and
fails if a phrase in it has no effect.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			of := string(protocol.MatchLocale(locale))
			if !strings.HasPrefix(strings.ToLower(locale), of) {
				return misuse{fmt.Errorf("--locale %s: use en, de or ja", locale)}
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			for _, e := range spoken.Entries(of) {
				where := ""
				if e.Command.Editor() {
					where = "editor"
				}
				_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", e.Phrases[0], where, e.Command, e.Does)
			}
			if err := w.Flush(); err != nil {
				return err
			}
			problems := daemon.ReadGrammar(commandFiles()).Problems()
			for _, p := range problems {
				_, _ = fmt.Fprintln(cmd.ErrOrStderr(), p)
			}
			if len(problems) > 0 {
				return fmt.Errorf("%s without effect in %s; change or remove what is listed above", plural(len(problems), "phrase"), commandFile)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&locale, "locale", "en", "language of the list: en, de or ja")
	return cmd
}
