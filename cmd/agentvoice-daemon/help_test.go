package main

import (
	"strings"
	"testing"
)

// Every command is in a group of the help and has examples, which it accepts.
func TestHelpHasGroupsAndExamples(t *testing.T) {
	root := newRoot()
	for _, c := range commandsBelow(root)[1:] {
		if c.Hidden {
			continue
		}
		words := commandWords(c)
		switch {
		case c.Parent() == root && c.GroupID == "":
			t.Errorf("%s is in no group", c.Name())
		case words[0] == "help" || words[0] == "completion" || c.HasSubCommands():
			continue // cobra's text, or those of the subcommands
		case c.Example == "":
			t.Errorf("%s has no example", c.CommandPath())
		}
		for line := range strings.Lines(c.Example) {
			example := commandsOf("help", "`"+strings.TrimSpace(line)+"`")
			if len(example) != 1 {
				t.Errorf("%q is no command line", line)
			} else if err := misusedCommand(example[0].words); err != nil {
				t.Errorf("%q: %v", line, err)
			}
		}
	}
	for name := range helpExamples {
		if c, _, err := root.Find(strings.Fields(name)); err != nil || strings.Join(commandWords(c), " ") != name {
			t.Errorf("examples of %q, which is no command", name)
		}
	}
	text, err := attempt(t, "--help")
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	for _, want := range []string{"Talk:\n", "  talk ", "  watch ", "Set up:\n", "  doctor ", "Look at recorded", "  replay ", "Serve other", "Other:\n"} {
		i := strings.Index(text[at:], want)
		if i < 0 {
			t.Fatalf("no %q, or not in this order, in\n%s", want, text)
		}
		at += i
	}
	if strings.Contains(text, "Additional") {
		t.Errorf("commands without a group:\n%s", text)
	}
}
