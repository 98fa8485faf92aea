package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/agentvoice/agentvoice-daemon/csm"
)

func newGraph() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "graph",
		Short: "Print the statechart of the conversation, from the machine's own table",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var chart string
			switch format {
			case "mermaid":
				chart = csm.Mermaid()
			case "dot":
				chart = csm.DOT()
			default:
				return misuse{fmt.Errorf("--format %s: use mermaid or dot", format)}
			}
			_, err := fmt.Fprint(cmd.OutOrStdout(), chart)
			return err
		},
	}
	cmd.Flags().StringVar(&format, "format", "mermaid", "mermaid or dot")
	return cmd
}
