package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/agentvoice/agentvoice-daemon/csm"
)

func newGraph() *cobra.Command {
	var format string
	var guards bool
	cmd := &cobra.Command{
		Use:   "graph",
		Short: "Print the statechart of the conversation, from the machine's own table",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			draw := map[string][2]func() string{
				"mermaid": {csm.Mermaid, csm.MermaidWithGuards}, "dot": {csm.DOT, csm.DOTWithGuards},
			}[format]
			switch {
			case draw[0] == nil:
				return misuse{fmt.Errorf("--format %s: use mermaid or dot", format)}
			case guards:
				draw[0] = draw[1]
			}
			_, err := fmt.Fprint(cmd.OutOrStdout(), draw[0]())
			return err
		},
	}
	cmd.Flags().StringVar(&format, "format", "mermaid", "mermaid or dot")
	cmd.Flags().BoolVar(&guards, "guards", false, "also say under which conditions")
	return cmd
}
