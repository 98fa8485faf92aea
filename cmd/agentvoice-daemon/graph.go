package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/agentvoice/agentvoice-daemon/audio/localrealtime/machine"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/statechart"
)

func newGraph() *cobra.Command {
	var format string
	var guards, list, meaning bool
	cmd := &cobra.Command{
		Use:   "graph [REGION]",
		Short: "Print the statechart of a region",
		Long: "Print the statechart of one region as it runs in this build: the conversation if no\n" +
			"region is named, all regions together with the name \"all\", or all parts of a call to\n" +
			"the embedded server with the name \"server\".\n" +
			"Internal transitions are drawn only with --guards. With --meaning, the table of what words\n" +
			"mean is printed instead.",
		Args: func(_ *cobra.Command, args []string) error {
			if (list || meaning) && len(args) > 0 {
				return misuse{fmt.Errorf("--list and --meaning take no region; remove %q", args[0])}
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
			if meaning {
				_, err := fmt.Fprint(cmd.OutOrStdout(), csm.MeaningTable())
				return err
			}
			name := "conversation"
			if len(args) > 0 {
				name = args[0]
			}
			draw := graphs(name)[format]
			switch {
			case !slices.Contains(graphNames(), name):
				if alike := alikeNames(name, graphNames()); alike != nil {
					return misuse{fmt.Errorf("unknown region %q; did you mean %s?", name, strings.Join(alike, " or "))}
				}
				return misuse{fmt.Errorf("unknown region %q; use one of %s", name, strings.Join(graphNames(), ", "))}
			case draw == nil:
				return misuse{fmt.Errorf("--format %s: use mermaid or dot", format)}
			}
			_, err := fmt.Fprint(cmd.OutOrStdout(), draw(guards))
			return err
		},
	}
	cmd.Flags().StringVar(&format, "format", "mermaid", "mermaid or dot")
	cmd.Flags().BoolVar(&guards, "guards", false, "include guards and internal transitions")
	cmd.Flags().BoolVar(&meaning, "meaning", false, "print what words mean, by what was open when they began")
	cmd.Flags().BoolVar(&list, "list", false, "list the regions")
	return cmd
}

// together returns the groups of charts that are drawn in one diagram, by name.
func together() map[string][]statechart.Chart {
	return map[string][]statechart.Chart{"all": csm.Charts(), "server": machine.Charts()}
}

// graphs returns the drawing function of the named chart for each format.
func graphs(name string) map[string]func(guards bool) string {
	for _, c := range slices.Concat(csm.Charts(), machine.Charts()) {
		if c.Name == name {
			return map[string]func(bool) string{"mermaid": c.Mermaid, "dot": c.DOT}
		}
	}
	charts := together()[name]
	if charts == nil {
		return nil
	}
	return map[string]func(bool) string{
		"mermaid": func(guards bool) string { return statechart.Mermaid(charts, guards) },
		"dot":     func(guards bool) string { return statechart.DOT(charts, guards) },
	}
}

func graphNames() []string {
	var names []string
	for _, c := range slices.Concat(csm.Charts(), machine.Charts()) {
		names = append(names, c.Name)
	}
	return append(names, slices.Sorted(maps.Keys(together()))...)
}

func listGraphs(cmd *cobra.Command) error {
	table := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	line := func(name, about string) {
		about, _, _ = strings.Cut(about, ". ")
		fmt.Fprintf(table, "%s\t%s\n", name, strings.TrimSuffix(about, "."))
	}
	for _, c := range slices.Concat(csm.Charts(), machine.Charts()) {
		line(c.Name, c.About)
	}
	for _, name := range slices.Sorted(maps.Keys(together())) {
		line(name, statechart.AboutAll)
	}
	return table.Flush()
}
