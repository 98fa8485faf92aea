// Command commandbench prints the recognition of voice commands: how many phrases are
// recognized from perfect words, how many from PocketSphinx's transcripts of Flite's
// voices, and how often dictation triggers a command, over all text corpora of the
// tree. Run it in the module root.
//
//	commandbench
//
// PocketSphinx's transcripts are recorded in
// bench/commandbench/testdata/heard.tsv (bench/wordsbench).
package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/agentvoice/agentvoice-daemon/copilot/acp"
	"github.com/agentvoice/agentvoice-daemon/copilot/spoken"
)

func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "commandbench:", err)
		os.Exit(1)
	}
}

func run(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "PERFECT WORDS\tPHRASES\tSAID\tRECOGNISED\tRECALL")
	for _, lang := range spoken.Languages {
		phrases, said, right, missed := perfect(lang)
		_, _ = fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%s\n", lang, phrases, said, right, share(right, said))
		for _, m := range missed {
			_, _ = fmt.Fprintf(w, "  missed\t%s\n", m)
		}
	}
	if err := printHeard(w); err != nil {
		return err
	}
	if err := printTriggers(w); err != nil {
		return err
	}
	return w.Flush()
}

func share(n, of int) string { return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(max(of, 1))) }

// ways lists variants of how people say a phrase, by language.
var ways = map[string][]string{
	"en": {"%s", "%s.", "Um, %s", "please %s", "%s, please.", "could you %s?", "okay %s", "%s %[1]s"},
	"de": {"%s", "%s.", "Äh, %s", "bitte %s", "%s, bitte.", "%s %[1]s"},
	"ja": {"%s", "%s。", "%s！", "えっと、%s。", "すみません、%s"},
}

// assistants has the names that "switch to" takes: those of the agents that are known, and Copilot.
var assistants = func() map[string]bool {
	names := map[string]bool{"copilot": true}
	for _, a := range acp.Agents {
		names[spoken.NameKey(a.Title)], names[spoken.NameKey(a.Command[0])] = true, true
	}
	return names
}()

// recognised returns the command in a text, with a file main.go in the workspace.
func recognised(text string) spoken.Command {
	if c, _ := spoken.Default.Named(text, func(_ spoken.Command, name string) bool { return name == "main go" || name == "main dot go" }); c != "" {
		return c
	}
	return spoken.Classify(text).Command
}

// perfect returns each phrase of a language in each variant.
func perfect(lang string) (phrases, said, right int, missed []string) {
	for _, e := range spoken.Entries(lang) {
		for _, phrase := range e.Phrases {
			phrases++
			text := strings.NewReplacer("{number}", "2", "{name}", "main.go").Replace(phrase)
			for _, way := range ways[lang] {
				if text != phrase && strings.Contains(way, "[1]") { // people do not repeat a number
					continue
				}
				said++
				if words := fmt.Sprintf(way, text); recognised(words) == e.Command {
					right++
				} else {
					missed = append(missed, fmt.Sprintf("%s: %s", e.Command, words))
				}
			}
		}
	}
	return phrases, said, right, missed
}

// printHeard prints the recall with PocketSphinx's transcripts, by command.
func printHeard(w io.Writer) error {
	data, err := os.ReadFile("bench/commandbench/testdata/heard.tsv")
	if err != nil {
		return err
	}
	type row struct{ said, right, wrong int }
	rows := map[spoken.Command]*row{}
	all := row{}
	for line := range strings.Lines(string(data)) {
		f := strings.Split(strings.TrimRight(line, "\n"), "\t")
		command := spoken.Command(f[0])
		if rows[command] == nil {
			rows[command] = &row{}
		}
		rows[command].said++
		all.said++
		switch recognised(f[5]) {
		case command:
			rows[command].right++
			all.right++
		case "":
		default:
			rows[command].wrong++
			all.wrong++
		}
	}
	_, _ = fmt.Fprintln(w, "\nPOCKETSPHINX, THREE VOICES\tSAID\tRECOGNISED\tANOTHER COMMAND\tRECALL")
	for _, c := range spoken.Commands {
		if r := rows[c]; r != nil {
			_, _ = fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%s\n", c, r.said, r.right, r.wrong, share(r.right, r.said))
		}
	}
	_, _ = fmt.Fprintf(w, "all\t%d\t%d\t%d\t%s\n", all.said, all.right, all.wrong, share(all.right, all.said))
	return nil
}

// printTriggers prints how many texts of the corpora trigger commands.
func printTriggers(w io.Writer) error {
	all, err := corpora()
	if err != nil {
		return err
	}
	known, err := names()
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintln(w, "\nDICTATION\tTEXTS\tSAY JUST A COMMAND\tFALSE TRIGGERS")
	sum := [3]int{}
	for _, c := range all {
		said, wrong := 0, []string{}
		for _, text := range c.texts {
			named, _ := spoken.Default.Named(text, func(c spoken.Command, name string) bool {
				if c == spoken.CommandSwitchAssistant {
					return assistants[spoken.NameKey(name)]
				}
				return spoken.NamesChoice(c, name) || known[name]
			})
			command := spoken.Classify(text).Command
			switch {
			case command == "" && named == "":
			case meant[spoken.NameWords(text)]:
				said++
			default:
				wrong = append(wrong, fmt.Sprintf("%s%s: %s", command, named, text))
			}
		}
		sum = [3]int{sum[0] + len(c.texts), sum[1] + said, sum[2] + len(wrong)}
		_, _ = fmt.Fprintf(w, "%s\t%d\t%d\t%d\n", c.name, len(c.texts), said, len(wrong))
		for _, t := range wrong {
			_, _ = fmt.Fprintf(w, "  false\t%s\n", t)
		}
	}
	_, _ = fmt.Fprintf(w, "all\t%d\t%d\t%d\n", sum[0], sum[1], sum[2])
	return nil
}
