package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentvoice/agentvoice-daemon/internal/assets"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon/record"
	"github.com/agentvoice/agentvoice-daemon/protocol"
	"github.com/agentvoice/agentvoice-daemon/session/registry"
)

func newUsage() *cobra.Command {
	var asJSON bool
	var since string
	cmd := &cobra.Command{
		Use:   "usage",
		Short: "Summarise usage and cost of conversations",
		Long: `Summarise the usage of conversations in all windows, by service and model: requests,
audio, tokens as reported by the services, and cost in US dollars at list prices or
those of agentvoice.budget.prices. Usage without a known price is counted but has no
cost. A Live session is counted for as long as it is open.

agentvoice.budget.day and agentvoice.budget.month limit the cost.`,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			from := record.Month()
			if since != "" {
				if from, err = time.ParseInLocation(time.DateOnly, since, time.Local); err != nil {
					return misuse{fmt.Errorf("--since %s: use a date such as 2026-05-31", since)}
				}
			}
			file, err := assets.Record()
			if err != nil {
				return err
			}
			var total registry.Total
			r, err := openRecord(cmd.Context(), file)
			if err != nil {
				return err
			}
			if r != nil {
				defer func() { err = errors.Join(err, r.Close()) }()
				if total, err = r.Used(cmd.Context(), from); err != nil {
					return err
				}
			}
			return printUsage(cmd.OutOrStdout(), record.Summary(total, from), asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	cmd.Flags().StringVar(&since, "since", "", "first day, such as 2026-05-31 (default: first of this month)")
	return cmd
}

func printUsage(out io.Writer, u protocol.UsageResult, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(out).Encode(u)
	}
	fmt.Fprintf(out, "since %s: %s, %s\n", u.Since.Local().Format(time.DateOnly), plural(u.Sessions, "session"), plural(u.Turns, "turn"))
	if len(u.Models) == 0 {
		return nil
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "SERVICE\tMODEL\tREQUESTS\tHEARD\tSPOKEN\tTOKENS IN\tTOKENS OUT\tUSD")
	for _, m := range u.Models {
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\t%d\t%d\t%s\n", m.Provider, cmp.Or(m.Model, "-"), m.Requests,
			seconds(m.AudioInMs), seconds(m.AudioOutMs), m.InputTokens, m.OutputTokens, dollars(m.Cost, m.Unpriced))
	}
	fmt.Fprintf(w, "all\t\t\t%s\t%s\t%d\t%d\t%s\n", seconds(u.AudioInMs), seconds(u.AudioOutMs), u.InputTokens, u.OutputTokens, dollars(u.Cost, u.Unpriced))
	return w.Flush()
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// seconds formats an amount of audio. "-" is none that was measured: a session reports
// tokens or nothing.
func seconds(ms int64) string {
	if ms == 0 {
		return "-"
	}
	return (time.Duration(ms) * time.Millisecond).Round(time.Second).String()
}

// dollars formats a cost and the number of unpriced requests.
func dollars(c *protocol.Cost, unpriced int64) string {
	switch {
	case c == nil:
		return "unknown"
	case unpriced > 0:
		return fmt.Sprintf("%.4f, plus %d unpriced requests", c.Amount, unpriced)
	default:
		return fmt.Sprintf("%.4f", c.Amount)
	}
}
