package spoken_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/agentvoice/agentvoice-daemon/copilot/spoken"
)

// Each phrase of each language is the command of its section, and languages do not
// conflict.
func TestEveryPhraseIsItsCommand(t *testing.T) {
	if p := spoken.Default.Problems(); len(p) > 0 {
		t.Fatalf("the built-in grammars have conflicts: %v", p)
	}
	for _, lang := range spoken.Languages {
		entries := spoken.Entries(lang)
		var have []spoken.Command
		for _, e := range entries {
			have = append(have, e.Command)
			if e.Does == "" || len(e.Phrases) == 0 {
				t.Errorf("%s: %s has no sentence or no phrase", lang, e.Command)
			}
			for _, phrase := range e.Phrases {
				said := strings.ReplaceAll(phrase, "{number}", "2")
				if strings.Contains(phrase, "{name}") {
					said = strings.ReplaceAll(phrase, "{name}", "main.go")
					if c, name := spoken.Default.Named(said, func(_ spoken.Command, n string) bool { return n == "main go" }); c != e.Command || name != "main go" {
						t.Errorf("%s: %q is %q %q, want %s", lang, said, c, name, e.Command)
					}
					continue
				}
				if got := spoken.Classify(said); got.Command != e.Command {
					t.Errorf("%s: %q is %+v, want %s", lang, said, got, e.Command)
				}
			}
		}
		for i := range max(len(have), len(spoken.Commands)) {
			if i >= len(have) || i >= len(spoken.Commands) || have[i] != spoken.Commands[i] {
				t.Errorf("commands/%s.md: the sections differ from Commands, in number or order, from command %d:\nhave %s\nwant %s", lang, i+1, have[i:], spoken.Commands[i:])
				break
			}
		}
	}
}

func TestNumbersInCommands(t *testing.T) {
	for text, want := range map[string]spoken.Utterance{
		"Go to line 42.":                    {Command: spoken.CommandGoToLine, Number: 42},
		"go to line forty two, please":      {Command: spoken.CommandGoToLine, Number: 42},
		"line two hundred and forty":        {Command: spoken.CommandGoToLine, Number: 240},
		"line one thousand two hundred six": {Command: spoken.CommandGoToLine, Number: 1206},
		"speed 1.5":                         {Command: spoken.CommandSpeed, Number: 1.5},
		"speed one point two five":          {Command: spoken.CommandSpeed, Number: 1.25},
		"double speed":                      {Command: spoken.CommandSpeed, Number: 2},
		"Geh zu Zeile zweiundvierzig.":      {Command: spoken.CommandGoToLine, Number: 42},
		"Zeile zweihundertfünf":             {Command: spoken.CommandGoToLine, Number: 205},
		"Tempo 1,5":                         {Command: spoken.CommandSpeed, Number: 1.5},
		"42行目に移動して":                         {Command: spoken.CommandGoToLine, Number: 42},
		"四十二行目":                             {Command: spoken.CommandGoToLine, Number: 42},
		"百二十行目へ":                            {Command: spoken.CommandGoToLine, Number: 120},
		"2倍速で":                              {Command: spoken.CommandSpeed, Number: 2},
	} {
		want.Class = spoken.UtteranceCommand
		if got := spoken.Classify(text); got != want {
			t.Errorf("%q: got %+v, want %+v", text, got, want)
		}
	}
	for _, text := range []string{
		"go to line four two", "go to line", "line by line", "go to line number", "speed limit", "go to line 42 and delete it", "the line 42",
		"line forty two is wrong", "geh zu Zeile", "Zeile für Zeile", "速度を上げて", "go to line 99999999",
	} {
		if got := spoken.Classify(text); got.Class != spoken.UtteranceContent {
			t.Errorf("%q: got %+v, want content", text, got)
		}
	}
}

// Command phrases within a sentence are dictation.
func TestNoCommandWithinASentence(t *testing.T) {
	for _, text := range []string{
		"say stop", "write stop in the log", "rename this and run the tests", "the tests run slower", "make the parser faster", "why is it slower now",
		"undo the last commit with git", "skip the code review", "summarise the changes in this file", "mute the logger", "go to sleep for ten milliseconds",
		"help me with this function", "open settings dot json and change the port", "scroll down to the footer", "fix it in the parser",
		"use another voice model in the code", "change the voice of the narrator", "add a setting for another voice", "use the previous voice in the test",
		"nimm eine andere Stimme für den Test", "別の声のモデルを使って",
		"what did you do with the tests", "end the conversation loop", "next problem is the parser", "read the code in main", "louder logs please, in debug mode",
		"Der Test läuft langsamer als vorher", "mach das mit dem Parser rückgängig", "テストを実行して結果を教えて", "もっと速く動くようにして",
	} {
		if got := spoken.Classify(text); got.Class != spoken.UtteranceContent {
			t.Errorf("%q: got %+v, want content", text, got)
		}
		if c, name := spoken.Default.Named(text, func(spoken.Command, string) bool { return false }); name != "" {
			t.Errorf("%q: names %q for %s", text, name, c)
		}
	}
}

// User phrases are added; phrases that already have a meaning keep it and are reported,
// as are sections that are not commands.
func TestGrammarOfAUser(t *testing.T) {
	g := spoken.NewGrammar(`# My commands

- outside of a section

## stop
- basta | Zip it!
- yes
- okay

## goToLine
- row {number}
- row

## stop
- halt mal {number}

## makeCoffee
- coffee

## skip
- basta
-
`)
	for text, want := range map[string]spoken.Command{"Basta.": spoken.CommandStop, "zip it, please": spoken.CommandStop, "row twelve": spoken.CommandGoToLine, "yes": spoken.CommandYes} {
		if got := g.Classify(text); got.Command != want {
			t.Errorf("%q: got %+v, want %s", text, got, want)
		}
	}
	if got := spoken.Classify("basta"); got.Class != spoken.UtteranceContent {
		t.Errorf("the phrases of one user are everybody's: %+v", got)
	}
	want := []string{
		"stop: “yes” means yes already", "stop: “okay” is only a sign of listening", "goToLine: “row” has no {number}",
		"stop: “halt mal {number}” has {number}, which this command does not take", "makeCoffee: “coffee” is for a command that does not exist",
		"skip: “basta” means stop already",
	}
	var have []string
	for _, p := range g.Problems() {
		have = append(have, p.String())
	}
	if !slices.Equal(have, want) {
		t.Errorf("problems\n%s\nwant\n%s", strings.Join(have, "\n"), strings.Join(want, "\n"))
	}
}

// The beginning of a command is recognised, so that it does not interrupt.
func TestBeginningOfACommand(t *testing.T) {
	for text, want := range map[string]bool{"go to": true, "please go": true, "run the": true, "explain": false, "slower": false, "go to the moon": false} {
		if got := spoken.Default.Begins(text); got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}

func TestNamesAreComparedAsPeopleSayThem(t *testing.T) {
	for said, name := range map[string]string{
		"GPT five point four": "gpt-5.4", "gpt 5.4 mini": "GPT-5.4-Mini", "auto edit": "autoEdit", "read only": "read-only", "Gemini drei Punkt acht Flash": "gemini-3.8-flash",
	} {
		if a, b := spoken.NameKey(said), spoken.NameKey(name); a != b {
			t.Errorf("%q is %q, %q is %q", said, a, name, b)
		}
	}
}

// The name of a mode, a model or a session number forms a command; more words are
// dictation.
func TestCommandsThatNameAChoice(t *testing.T) {
	for said, want := range map[string]spoken.Command{
		"switch to auto edit mode": spoken.CommandSwitchMode, "wechsle in den Lesemodus": spoken.CommandSwitchMode, "プランモードにして": spoken.CommandSwitchMode,
		"switch to the model gpt five point four mini": spoken.CommandSwitchModel, "continue session two": spoken.CommandOpenSession, "load the session 3": spoken.CommandOpenSession,
		"load the session from the cookie": "", "resume the session when the token expires": "", "switch to a mode that has no state mode": "",
		"change the model to hold a list of names": "",
	} {
		if got, _ := spoken.Default.Named(said, spoken.NamesChoice); got != want {
			t.Errorf("%q is %q, want %q", said, got, want)
		}
	}
}
