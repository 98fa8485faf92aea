package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/agentvoice/agentvoice-daemon/csm"
)

func newGraph() *cobra.Command {
	var format string
	var guards, list bool
	cmd := &cobra.Command{
		Use:   "graph [REGION]",
		Short: "Print the statechart of the conversation, of a region or of all, from the machine that runs",
		Long: "Print the statechart of a region of the machine, as it runs in this build: of the\n" +
			"conversation where none is named, of all regions together with the name all.\n" +
			"What stays in its state is left out; --guards draws it too.",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 || list && len(args) > 0 {
				return misuse{fmt.Errorf("graph takes one region, or none: got %q", args)}
			}
			return nil
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return graphNames(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if list {
				return listGraphs(cmd)
			}
			name := "conversation"
			if len(args) > 0 {
				name = args[0]
			}
			d, ok := csm.DiagramOf(name)
			if !ok {
				return misuse{fmt.Errorf("there is no region %q: name one of %s", name, strings.Join(graphNames(), ", "))}
			}
			draw := map[string]func(bool) string{"mermaid": d.Mermaid, "dot": d.DOT}[format]
			if draw == nil {
				return misuse{fmt.Errorf("--format %s: use mermaid or dot", format)}
			}
			_, err := fmt.Fprint(cmd.OutOrStdout(), draw(guards))
			return err
		},
	}
	cmd.Flags().StringVar(&format, "format", "mermaid", "mermaid or dot")
	cmd.Flags().BoolVar(&guards, "guards", false, "also say under which conditions")
	cmd.Flags().BoolVar(&list, "list", false, "print the names of the regions, and what they are")
	return cmd
}

func graphNames() []string {
	var names []string
	for _, d := range csm.Diagrams() {
		names = append(names, d.Name)
	}
	return names
}

func listGraphs(cmd *cobra.Command) error {
	table := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	for _, d := range csm.Diagrams() {
		about, _, _ := strings.Cut(d.About, ". ")
		fmt.Fprintf(table, "%s\t%s\n", d.Name, strings.TrimSuffix(about, "."))
	}
	return table.Flush()
}
