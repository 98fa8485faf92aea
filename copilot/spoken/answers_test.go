package spoken

import "testing"

// TestAnswersMeanTheSame: the phrases of a group are one command; the last two groups are what
// asks for nothing, and what also answers.
func TestAnswersMeanTheSame(t *testing.T) {
	commands := []Command{CommandYes, CommandNo, CommandStop, CommandPause}
	for i, group := range Answers {
		for _, phrase := range group {
			u := Classify(phrase)
			switch {
			case i < len(commands) && u.Command != commands[i]:
				t.Errorf("%q is %q %q, want %q", phrase, u.Class, u.Command, commands[i])
			case i == len(commands) && (u.Class != UtteranceBackchannel && u.Class != UtteranceEmpty || u.Agrees):
				t.Errorf("%q is %q %q, want a hum", phrase, u.Class, u.Command)
			case i == len(commands)+1 && !u.Agrees:
				t.Errorf("%q is %q %q, want an agreement", phrase, u.Class, u.Command)
			}
		}
	}
}
