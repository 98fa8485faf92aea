package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/tailscale/hujson"

	"github.com/agentvoice/agentvoice-daemon/internal/wer"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

func newSettings() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "settings",
		Short: "List, explain and check settings",
	}
	var asJSON bool
	list := &cobra.Command{
		Use:   "list",
		Short: "List all settings with their defaults and allowed values",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return printSettings(cmd.OutOrStdout(), asJSON)
		},
	}
	list.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	explain := &cobra.Command{
		Use:   "explain NAME",
		Short: "Explain one setting",
		RunE: func(cmd *cobra.Command, args []string) error {
			return explainSetting(cmd.OutOrStdout(), args[0])
		},
	}
	check := &cobra.Command{
		Use:   "check FILE",
		Short: "Check the settings in an editor's settings.json",
		Long: `Check the settings in a JSON file such as VS Code's settings.json; comments and trailing
commas are allowed, and - reads standard input. Names without the prefix agentvoice are
ignored. Each invalid setting is printed with its allowed values, and each model that its service
is going to end with the date.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return checkSettings(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), args[0])
		},
	}
	cmd.AddCommand(list, explain, check)
	return cmd
}

// settingRow is a setting as JSON.
type settingRow struct {
	Name    string         `json:"name"`
	Default any            `json:"default"`
	Allowed string         `json:"allowed"`
	Scope   protocol.Scope `json:"scope"`
	From    string         `json:"from"` // when a change applies
	Meaning string         `json:"meaning"`
}

func rowOf(s protocol.Setting) settingRow {
	from := "next turn"
	if s.Restart {
		from = "next conversation"
	}
	return settingRow{s.Name, s.Default, s.Allowed(), s.Scope, from, s.Meaning}
}

func printSettings(out io.Writer, asJSON bool) error {
	if asJSON {
		var rows []settingRow
		for _, s := range protocol.SettingsTable {
			rows = append(rows, rowOf(s))
		}
		return json.NewEncoder(out).Encode(rows)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "SETTING\tDEFAULT\tALLOWED")
	for _, s := range protocol.SettingsTable {
		value, err := json.Marshal(s.Default)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", s.Name, value, s.Allowed())
	}
	return w.Flush()
}

// settingNamed returns a setting by its name, with or without its prefix. The error of an unknown
// one names those that are meant.
func settingNamed(name string) (protocol.Setting, error) {
	short := strings.ToLower(strings.TrimPrefix(name, protocol.Prefix))
	group, _, _ := strings.Cut(short, ".")
	var all, like, same []string
	for _, s := range protocol.SettingsTable {
		all = append(all, strings.TrimPrefix(s.Name, protocol.Prefix))
		switch known := strings.ToLower(all[len(all)-1]); {
		case known == short:
			return s, nil
		case short != "" && strings.Contains(known, short):
			like = append(like, all[len(all)-1])
		case strings.HasPrefix(known, group+"."):
			same = append(same, all[len(all)-1])
		}
	}
	for _, meant := range [][]string{like, nearest(short, all, len(short)/4), same} {
		if meant != nil {
			return protocol.Setting{}, misuse{fmt.Errorf("unknown setting %s; did you mean %s%s?", name, protocol.Prefix, strings.Join(meant, ", "+protocol.Prefix))}
		}
	}
	return protocol.Setting{}, misuse{fmt.Errorf("unknown setting %s; see `agentvoice-daemon settings list`", name)}
}

// nearest returns the names that a misspelt one, or one without what is before the last dot, is
// closest to. At most that many of its letters may be wrong.
func nearest(misspelt string, names []string, most int) (closest []string) {
	from, least := []rune(strings.ToLower(misspelt)), most
	for _, name := range names {
		to := strings.ToLower(name)
		by := min(wer.Distance(from, []rune(to)), wer.Distance(from, []rune(to[strings.LastIndexByte(to, '.')+1:])))
		if by < least {
			closest = nil
		}
		if by <= least {
			closest, least = append(closest, name), by
		}
	}
	return closest
}

func explainSetting(out io.Writer, name string) error {
	s, err := settingNamed(name)
	if err != nil {
		return err
	}
	r := rowOf(s)
	value, err := json.Marshal(r.Default)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s\n\n%s\n\nallowed  %s\ndefault  %s\nscope    %s\nfrom     %s\n",
		r.Name, strings.ReplaceAll(r.Meaning, "`", ""), r.Allowed, value, r.Scope, r.From)
	return err
}

// checkSettings reports invalid settings in a file. It never quotes the file, which may
// hold private data.
func checkSettings(ctx context.Context, in io.Reader, out io.Writer, file string) error {
	text, err := readInput(ctx, in, file)
	if err != nil {
		return err
	}
	name := file
	if file == "-" {
		name = "standard input"
	}
	plain, err := hujson.Standardize(text)
	if err != nil {
		return fmt.Errorf("%s, %s; correct the JSON", name, strings.TrimPrefix(err.Error(), "hujson: "))
	}
	var c protocol.Configuration
	if err := json.Unmarshal(plain, &c); err != nil {
		return fmt.Errorf("%s is not a JSON object; give the whole file, with its braces", name)
	}
	set, bad := protocol.ParseConfiguration(c)
	for _, b := range bad {
		fmt.Fprintln(out, b.Error()+meant(b))
	}
	if len(bad) > 0 {
		return fmt.Errorf("%s in %s; correct what is listed above", plural(len(bad), "invalid setting"), name)
	}
	for _, note := range modelNotes(set, time.Now()) {
		fmt.Fprintln(out, note)
	}
	n := 0
	for name := range c {
		if name+"." == protocol.Prefix || strings.HasPrefix(name, protocol.Prefix) {
			n++
		}
	}
	_, err = fmt.Fprintf(out, "%s, no problems\n", plural(n, "setting"))
	return err
}

// meant names the settings that an unknown one is close to, as the end of its message.
func meant(bad protocol.FieldError) string {
	var choice string
	if _, err := settingNamed(bad.Field); err != nil {
		_, choice, _ = strings.Cut(err.Error(), "; ")
	}
	return suffix("; ", choice)
}

// readInput reads a file, or standard input for -.
func readInput(ctx context.Context, in io.Reader, file string) ([]byte, error) {
	if file == "-" {
		return stoppable(ctx, func() ([]byte, error) { return readLimited(in) })
	}
	text, err := awaitNamed(ctx, file)
	if err != nil {
		return nil, unreadable("", file, err)
	}
	return text, nil
}
