package main

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/text/language"
)

// misuse is a command-line error.
type misuse struct{ error }

// Unwrap returns the cause.
func (m misuse) Unwrap() error { return m.error }

// unreadable says why the file that a flag or an argument names cannot be read.
func unreadable(flag, path string, err error) error {
	if errors.Is(err, errStopped) {
		return err
	}
	return fmt.Errorf("%s: %w; check the path", strings.TrimSpace(flag+" "+path), withoutPath(err))
}

// withoutPath returns the cause of a file system error, without the operation and the path.
func withoutPath(err error) error {
	if at := (*fs.PathError)(nil); errors.As(err, &at) {
		return at.Err
	}
	return err
}

// checkLanguage refuses what is not a language. "" is that of the environment.
func checkLanguage(tags ...string) error {
	for _, tag := range tags {
		if _, err := language.Parse(tag); tag != "" && err != nil {
			return misuse{fmt.Errorf("--language %s: use a language tag such as de or ja-JP", tag)}
		}
	}
	return nil
}

// explainMisuse makes every command below root report what is wrong with its arguments and
// flags in the terms of the command line, as a misuse.
func explainMisuse(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	root.SetFlagErrorFunc(flagError)
	for _, c := range commandsBelow(root) {
		switch {
		case c.DisableFlagParsing: // passes everything on
		case c.HasSubCommands():
			c.Args = subcommandOnly
			c.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		case c.Name() == "help":
			c.Args = knownTopic
		default:
			own := c.Args
			if own == nil {
				own = cobra.ArbitraryArgs
			}
			c.Args = cobra.MatchAll(argumentsOf(c.Use), own)
		}
	}
}

// commandsBelow returns root and all commands under it.
func commandsBelow(root *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{root}
	for _, c := range root.Commands() {
		all = append(all, commandsBelow(c)...)
	}
	return all
}

// argumentsOf checks the number of arguments against the usage line of a command: NAME is required,
// [NAME] is optional, and NAME... may be repeated. Flags follow the arguments there.
func argumentsOf(use string) cobra.PositionalArgs {
	least, most := 0, 0
	names := strings.Fields(use)[1:]
	if i := slices.IndexFunc(names, func(w string) bool { return strings.HasPrefix(w, "-") }); i >= 0 {
		names = names[:i]
	}
	for _, name := range names {
		most++
		if !strings.HasPrefix(name, "[") {
			least++
		}
		if strings.Contains(name, "...") {
			most = 1 << 30
		}
	}
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return misuse{fmt.Errorf("%s is missing; use `%s %s`", strings.TrimSuffix(names[len(args)], "..."), cmd.Parent().CommandPath(), cmd.Use)}
		case len(args) > most:
			return misuse{fmt.Errorf("unexpected argument %q; see `%s --help`", args[most], cmd.CommandPath())}
		default:
			return nil
		}
	}
}

// subcommandOnly refuses the arguments of a command that only has subcommands: none of them has
// that name.
func subcommandOnly(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names, alike []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	for _, name := range alikeNames(args[0], names) {
		alike = append(alike, fmt.Sprintf("`%s %s`", cmd.CommandPath(), name))
	}
	switch {
	case alike != nil:
		return misuse{fmt.Errorf("unknown command %q; did you mean %s?", args[0], strings.Join(alike, " or "))}
	case cmd.HasParent():
		return misuse{fmt.Errorf("unknown command %q; `%s` has %s", args[0], cmd.CommandPath(), strings.Join(names, ", "))}
	default:
		return misuse{fmt.Errorf("unknown command %q; see `%s --help`", args[0], cmd.CommandPath())}
	}
}

// knownTopic checks that the arguments of help name a command.
func knownTopic(cmd *cobra.Command, args []string) error {
	topic, rest, err := cmd.Root().Find(args)
	if err != nil || len(rest) == 0 {
		return err
	}
	if topic.HasSubCommands() {
		return subcommandOnly(topic, rest)
	}
	return argumentsOf(topic.Name())(topic, rest)
}

// alikeNames returns the names that a misspelt or shortened one is close to.
func alikeNames(misspelt string, names []string) []string {
	var alike []string
	for _, name := range names {
		if len(misspelt) > 1 && (strings.HasPrefix(name, misspelt) || swapped(misspelt, name)) {
			alike = append(alike, name)
		}
	}
	if alike != nil {
		return alike
	}
	return nearest(misspelt, names, len(misspelt)/3)
}

// swapped reports whether two neighbouring letters are all that two words differ in.
func swapped(a, b string) bool {
	for i := range min(len(a), len(b)) - 1 {
		if a[i] != b[i] {
			return a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
		}
	}
	return false
}

// flagError says what is wrong with a flag and what to do.
func flagError(cmd *cobra.Command, err error) error {
	if args := cmd.Flags().Args(); cmd.HasSubCommands() && len(args) > 0 {
		return subcommandOnly(cmd, args) // the flag belongs to the misspelt command
	}
	var unknown *pflag.NotExistError
	var missing *pflag.ValueRequiredError
	var wrong *pflag.InvalidValueError
	var syntax *pflag.InvalidSyntaxError
	help := fmt.Sprintf("see `%s --help`", cmd.CommandPath())
	switch {
	case errors.As(err, &unknown):
		return misuse{unknownFlag(cmd, unknown, help)}
	case errors.As(err, &missing):
		return misuse{fmt.Errorf("--%s has no value; use %s", missing.GetFlag().Name, valueOf(missing.GetFlag()))}
	case errors.As(err, &wrong) && errors.Is(err, strconv.ErrRange):
		return misuse{fmt.Errorf("--%s %s: the number is too large; use a smaller one", wrong.GetFlag().Name, wrong.GetValue())}
	case errors.As(err, &wrong):
		return misuse{fmt.Errorf("--%s %s: use %s", wrong.GetFlag().Name, wrong.GetValue(), valueOf(wrong.GetFlag()))}
	case errors.As(err, &syntax):
		return misuse{fmt.Errorf("%s is not a flag; %s", syntax.GetSpecifiedFlag(), help)}
	default:
		return misuse{fmt.Errorf("%w; %s", err, help)}
	}
}

func unknownFlag(cmd *cobra.Command, unknown *pflag.NotExistError, help string) error {
	name := unknown.GetSpecifiedName()
	if unknown.GetSpecifiedShortnames() != "" {
		return fmt.Errorf("unknown flag -%s; %s", name, help)
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if alike := alikeNames(name, names); alike != nil {
		return fmt.Errorf("unknown flag --%s; did you mean --%s?", name, strings.Join(alike, " or --"))
	}
	return fmt.Errorf("unknown flag --%s; %s", name, help)
}

// valueOf describes the value that a flag takes.
func valueOf(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "bool":
		return "true or false"
	case "int", "int64":
		return "a whole number"
	case "float64":
		return "a number"
	case "duration":
		return "a duration such as 90s or 5m"
	default:
		return fmt.Sprintf("--%s=VALUE (%s)", f.Name, f.Usage)
	}
}
